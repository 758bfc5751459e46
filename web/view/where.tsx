// Where the next run begins: in this page or on the host. One always sees which.

import { useId } from "react";
import type { Place } from "../run/player.ts";
import { areaLink } from "./areas.tsx";
import { Before } from "./marks.tsx";
import { saver } from "./saver.ts";
import { useApp, useStore, useText } from "./context.tsx";

/** usePlace returns where the next run of the open canvas starts. */
export function usePlace(): Place {
  const { session, host } = useApp();
  const where = useStore(session.player.where, (place) => place);
  const origin = useStore(session.origin, (from) => from);
  const open = useStore(host.state, ({ status }) => status === "open");
  return where === "host" && origin && open ? "host" : "page";
}

/** Unsaved warns that the host runs the saved canvas; its button saves, then calls `onRun`. */
export function Unsaved({ onRun }: { onRun(): void }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const place = usePlace();
  useStore(session.document, (document) => document); // edited follows it
  if (place !== "host" || !session.edited) return null;
  const run = async (): Promise<void> => {
    if (await saver.get()?.()) onRun();
  };
  return (
    <span className="unsaved">
      <small role="status">{t("where.unsaved")}</small>
      <button type="button" onClick={() => void run()}>{t("where.save_run")}</button>
    </span>
  );
}

/** Where chooses between page and host; `onRun` sends what is written. */
export function Where({ onRun }: { onRun(): void }): React.ReactNode {
  const t = useText();
  const { session, host } = useApp();
  const place = usePlace();
  const name = useId();
  const origin = useStore(session.origin, (from) => from);
  const open = useStore(host.state, ({ status }) => status === "open");
  if (!origin || !open) return <Before />;
  return (
    <fieldset className="where">
      <legend className="sr">{t("where.title")}</legend>
      {(["page", "host"] as const).map((each) => (
        <label key={each} data-chosen={place === each || undefined}>
          <input type="radio" name={name} checked={place === each} onChange={() => session.player.where.set(each)} />
          {t(`where.run_${each}`)}
        </label>
      ))}
      <a href={areaLink("runs", origin.id)}>{t("where.runs")}</a>
      <Before />
      <Unsaved onRun={onRun} />
    </fieldset>
  );
}
