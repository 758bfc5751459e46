// Plugins of the host that the open canvas needs to run in this page: they are loaded on request,
// and the permissions they request are shown for confirmation.

import { useMemo, useState } from "react";
import { reachOf } from "../canvas/reach.ts";
import { absent } from "../run/plugins.ts";
import { useApp, useStore, useText } from "./context.tsx";
import { Asks } from "./plugins.tsx";
import { usePlace } from "./where.tsx";

/** HostPlugins offers the plugins of the host that the page does not have. */
export function HostPlugins(): React.ReactNode {
  const t = useText();
  const { session, host } = useApp();
  const place = usePlace();
  const open = useStore(host.state, ({ status }) => status === "open");
  const list = useStore(session.plugins.list, (all) => all);
  const dsl = useStore(session.document, (document) => document?.dsl);
  const used = useMemo(() => (dsl ? reachOf(dsl).plugins : []), [dsl]);
  const [loading, setLoading] = useState(false);
  const asking = useStore(session.plugins.asking, (names) => names);
  const lacking = absent(list, used);
  const asked = list.filter(({ name, asks }) => asking.includes(name) && asks.length > 0);
  if (place !== "page" || !open || lacking.length + asked.length === 0) return null;
  const load = async (): Promise<void> => {
    setLoading(true);
    await session.plugins.fetch(lacking, host.ask.bind(host));
    setLoading(false);
  };
  return (
    <section className="plugins host-plugins" aria-label={t("plugins.title")}>
      {lacking.length > 0 && (
        <>
          <p className="small">{t("plugins.lacking", lacking.join(", "))}</p>
          <button type="button" disabled={loading} onClick={() => void load()}>{t("plugins.from_host")}</button>
        </>
      )}
      {asked.length > 0 && (
        <>
          <ul>
            {asked.map((entry) => (
              <li key={entry.name}>
                <p><b>{entry.name}</b> <span className="quiet small">{entry.version}</span></p>
                <Asks entry={entry} />
              </li>
            ))}
          </ul>
          <button type="button" onClick={() => session.plugins.asking.set([])}>{t("plugins.asked")}</button>
        </>
      )}
    </section>
  );
}
