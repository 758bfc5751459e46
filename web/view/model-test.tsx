// Sends a short prompt to a model, so that a wrong choice shows before a run needs it.

import { useState } from "react";
import type { ProviderChoice } from "../run/providers.ts";
import { useApp, useText } from "./context.tsx";
import { useAttempt } from "./loaded.ts";

/** ModelTest calls the named model with the same provider as a run would. */
export function ModelTest({ choice, name }: { choice: ProviderChoice; name: string }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const attempt = useAttempt();
  const [answer, setAnswer] = useState<{ text: string; took: number }>();
  const test = async (): Promise<void> => {
    setAnswer(undefined);
    const began = performance.now();
    const text = await session.player.providers.test(choice, name);
    setAnswer({ text, took: Math.round(performance.now() - began) });
  };
  return (
    <div className="model-test">
      <button type="button" disabled={attempt.busy} onClick={() => void attempt.run(test)}>
        {t(attempt.busy ? "model.testing" : "model.test")}
      </button>
      {answer && (
        <span className="verdict good" role="status">
          {t("model.answered", answer.took, answer.text)}
        </span>
      )}
      {attempt.fault !== undefined && (
        <span className="fault" role="alert">
          {attempt.fault}
        </span>
      )}
    </div>
  );
}
