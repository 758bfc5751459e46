// The button that makes a test of a run.

import { useApp, useText } from "./context.tsx";

/** SaveTest shows the tests, which then save a turn, the last one by default. */
export function SaveTest({ turn }: { turn?: number }): React.ReactNode {
  const t = useText();
  const { look, session } = useApp();
  const save = (): void =>
    look.update({ tab: "tests", panel: true, saving: turn ?? session.player.play.get().turns.length - 1 });
  return (
    <button type="button" className="plain save-test" onClick={save}>
      {t("timeline.save_test")}
    </button>
  );
}
