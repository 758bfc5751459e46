// Where the next run begins: in this page or on the host. One always sees which.

import { useId } from "react";
import type { Place } from "../run/player.ts";
import { areaLink } from "./areas.tsx";
import { useApp, useStore, useText } from "./context.tsx";

/** usePlace returns where the next run of the open canvas starts. */
export function usePlace(): Place {
  const { session, host } = useApp();
  const where = useStore(session.player.where, (place) => place);
  const origin = useStore(session.origin, (from) => from);
  const open = useStore(host.state, ({ status }) => status === "open");
  return where === "host" && origin && open ? "host" : "page";
}

/** Where chooses between page and host. */
export function Where(): React.ReactNode {
  const t = useText();
  const { session, host } = useApp();
  const place = usePlace();
  const name = useId();
  const origin = useStore(session.origin, (from) => from);
  const open = useStore(host.state, ({ status }) => status === "open");
  useStore(session.document, (document) => document?.dsl); // unsaved follows it
  if (!origin || !open) return null;
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
      {place === "host" && session.unsaved && <small role="status">{t("where.unsaved")}</small>}
    </fieldset>
  );
}
