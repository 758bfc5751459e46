// Plugins of the page: a list with requested permissions, and an input to add one.

import { useEffect, useId, useRef } from "react";
import { codeWords } from "../words/codes.ts";
import { fileOf, type PluginEntry } from "../run/plugins.ts";
import { useApp, useStore, useText } from "./context.tsx";
import { faultOf } from "./reason.tsx";
import { usePlace } from "./where.tsx";

/** PluginDialog is the content of the dialog of plugins. */
export function PluginDialog({ onDone }: { onDone(): void }): React.ReactNode {
  const t = useText();
  return (
    <>
      <h2 id="dialog-title">{t("plugins.title")}</h2>
      <PluginList titled="dialog-title" />
      <button type="button" className="primary wide" onClick={onDone}>{t("model.done")}</button>
    </>
  );
}

/** PluginList lists the plugins; `titled` is the id of a heading above it, if there is one. */
export function PluginList({ titled }: { titled?: string }): React.ReactNode {
  const t = useText();
  const own = useId();
  const id = titled ?? own;
  const { plugins } = useApp().session;
  const list = useStore(plugins.list, (all) => all);
  const fault = useStore(plugins.fault, (told) => told);
  useStore(codeWords, (words) => words);
  const section = useRef<HTMLElement>(null);
  const shown = useRef(list);
  useEffect(() => { // scroll to a dropped plugin and the permissions it requests
    if (list.length > shown.current.length) section.current?.scrollIntoView({ block: "start" });
    shown.current = list;
  }, [list]);
  return (
    <section ref={section} className="plugins" aria-labelledby={id}>
      {titled === undefined && <h3 id={id}>{t("plugins.title")}</h3>}
      {list.length === 0 && <p className="quiet small">{t("plugins.none")}</p>}
      <ul>
        {list.map((entry) => (
          <li key={entry.name}>
            <p>
              <b>{entry.name}</b> <span className="quiet small">{entry.version}</span>
            </p>
            {entry.description && <p className="small">{entry.description}</p>}
            {entry.preview !== "local" && <p className="small">{t(`plugins.preview_${entry.preview}`)}</p>}
            <Asks entry={entry} />
          </li>
        ))}
      </ul>
      <label className="field">
        {t("plugins.add")}
        <input
          type="file"
          accept=".wasm,application/wasm"
          onChange={(event) => {
            const [file] = event.target.files ?? [];
            if (file) void plugins.add(file);
            event.target.value = "";
          }}
        />
      </label>
      {fault !== undefined && (
        <p className="fault" role="alert">
          {faultOf(fault)}
        </p>
      )}
    </section>
  );
}

/** Asks lists the permissions that a plugin requests, with their reasons, to grant. */
export function Asks({ entry: { name, asks, allowed } }: { entry: PluginEntry }): React.ReactNode {
  const t = useText();
  const { plugins } = useApp().session;
  if (asks.length === 0) return null;
  return (
    <fieldset className="asks">
      <legend>{t("plugins.allow")}</legend>
      {asks.map(({ part, bounds, reason }) => (
        <label key={part} className="field row">
          <input
            type="checkbox"
            checked={allowed.includes(part)}
            onChange={(event) => {
              const others = allowed.filter((each) => each !== part);
              void plugins.allow(name, event.target.checked ? [...others, part] : others);
            }}
          />
          <span>
            {t(`plugins.${part}`)} <code>{bounds}</code>
            {reason !== "" && <small>{reason}</small>}
          </span>
        </label>
      ))}
      {asks.length > 1 && (
        <button type="button" onClick={() => void plugins.allow(name, asks.map(({ part }) => part))}>
          {t("plugins.allow_all")}
        </button>
      )}
    </fieldset>
  );
}

/** Withheld lists the permissions that the plugin of a node lacks in this page, with a button. */
export function Withheld({ kind }: { kind: string }): React.ReactNode {
  const t = useText();
  const { session, look } = useApp();
  const place = usePlace();
  const list = useStore(session.plugins.list, (all) => all);
  const entry = list.find(({ name }) => kind.startsWith(reference) && fileOf(kind.slice(reference.length)) === name);
  const missing = entry?.asks.filter(({ part }) => !entry.allowed.includes(part)) ?? [];
  if (place !== "page" || !entry || missing.length === 0) return null;
  return (
    <p className="problem small" data-severity="warning">
      {t("plugins.withheld", entry.name, missing.map(({ part }) => t(`plugins.${part}`)).join(", "))}{" "}
      <button type="button" onClick={() => look.update({ dialog: "plugins" })}>{t("plugins.permissions")}</button>
    </p>
  );
}

const reference = "plugin:";
