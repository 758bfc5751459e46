// The switch that lets the other members of the tenant use a canvas of the host.

import { lazy, Suspense, useId, useState } from "react";
import { Fault } from "./area/parts.tsx";
import { useAreaText } from "./area/text.ts";
import { useApp } from "./context.tsx";
import { useAttempt } from "./loaded.ts";

const ShareDialog = lazy(() => import("./sharing/dialog.tsx"));

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
  const [isOpen, setOpen] = useState(false);
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
      <button type="button" className="link" aria-label={a("share.of", title ?? "")} onClick={() => setOpen(true)}>
        {a("share")}
      </button>
      <Fault text={fault} />
      {isOpen && (
        <Suspense>
          <ShareDialog
            kind="canvas" id={id} name={title ?? ""}
            onChanged={() => (onShared ? onShared() : host.find(host.state.get().found ?? ""))}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}
