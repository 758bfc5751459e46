// The variables as they are at the shown record, with new values to try.

import { useState } from "react";
import { useApp, useBusy, useStore, useText } from "./context.tsx";
import { Declared } from "./declared.tsx";
import { like, show } from "./text.ts";

/** Variables returns a page of the drawer. */
export default function Variables(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const fromRun = useStore(session.player.play, (play) => play.shown.variables);
  const dsl = useStore(session.document, (document) => document?.dsl);
  const latest = useStore(session.player.play, (play) => play.shown.latest);
  const busy = useBusy();
  const [changed, setChanged] = useState<Record<string, unknown>>({});
  const [from, setFrom] = useState("");
  const all: Record<string, unknown> = { ...dsl?.globals, ...fromRun, ...changed };
  const names = Object.keys(all);
  const groups: [string, string[]][] = [
    [t("variables.env"), names.filter((name) => name.startsWith("env."))],
    [t("variables.sys"), names.filter((name) => name.startsWith("sys."))],
    [t("variables.other"), names.filter((name) => !/^(env|sys)\./.test(name))],
  ];
  const starts = Object.keys(latest);
  return (
    <div className="variables">
      <Declared />
      {names.length === 0 ? (
        <p className="quiet">{t("variables.none")}</p>
      ) : (
        <p className="quiet small">{t("variables.hint")}</p>
      )}
      {groups
        .filter(([, members]) => members.length > 0)
        .map(([label, members]) => (
          <section key={label}>
            <h2 className="head">{label}</h2>
            {members.map((name) => (
              <label key={name} className="variable" data-changed={name in changed || undefined}>
                <code>{name}</code>
                <textarea
                  rows={Math.min(6, show(all[name]).split("\n").length)}
                  value={show(all[name])}
                  aria-label={t("variables.edit", name)}
                  onChange={(event) => setChanged({ ...changed, [name]: like(all[name], event.target.value) })}
                />
              </label>
            ))}
          </section>
        ))}
      {starts.length > 0 && (
        <div className="line">
          <select
            aria-label={t("variables.from")}
            value={from || starts[0]}
            onChange={(event) => setFrom(event.target.value)}
          >
            {starts.map((id) => (
              <option key={id} value={id}>
                {latest[id]?.name || id}
              </option>
            ))}
          </select>
          <button
            type="button"
            className="primary"
            disabled={busy}
            onClick={() => session.player.runFrom(from || (starts[0] as string), changed)}
          >
            {t("variables.run")}
          </button>
        </div>
      )}
    </div>
  );
}
