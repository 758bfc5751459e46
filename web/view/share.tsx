// The switch that lets the other members of the tenant use a canvas of the host.

import { useId, useState } from "react";
import { Fault } from "./area/parts.tsx";
import { useAreaText } from "./area/text.ts";
import { useApp } from "./context.tsx";
import { useAttempt } from "./loaded.ts";

/** Share shows whether a canvas is its creator's only; `onShared` is called after a change. */
export function Share({
  id,
  title,
  team,
  onShared,
}: {
  id: string;
  /** Name of the canvas, for a list of several. */
  title?: string;
  team: boolean;
  onShared?(): Promise<void>;
}): React.ReactNode {
  const a = useAreaText();
  const { host } = useApp();
  const { busy, fault, run } = useAttempt();
  const name = useId();
  const [wanted, setWanted] = useState(team); // while the request runs
  const share = (next: boolean): void =>
    void run(async () => {
      setWanted(next);
      await host.share(id, next);
      await onShared?.();
    });
  return (
    <>
      <label className="field row share" htmlFor={name}>
        <input
          id={name}
          type="checkbox"
          checked={busy ? wanted : team}
          disabled={busy}
          {...(title === undefined ? {} : { "aria-label": a("canvas.team", title) })}
          onChange={(event) => share(event.target.checked)}
        />
        {a("dataset.team")}
      </label>
      <Fault text={fault} />
    </>
  );
}
