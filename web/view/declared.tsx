// The variables that a canvas itself has. Renaming one changes every text that uses it.

import { variablesOf } from "../canvas/edit/variables.ts";
import { useApp, useStore, useText } from "./context.tsx";
import { Icon } from "./icons.tsx";
import { like, show } from "./text.ts";

const types = ["string", "number", "boolean", "object", "array<string>", "array<number>", "array<object>"];

// empty returns the value that a new variable of a type has.
function empty(type: string): unknown {
  if (type.startsWith("array")) return [];
  return { number: 0, boolean: false, object: {} }[type] ?? "";
}

/** Declared edits the variables of the open canvas. */
export function Declared(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const dsl = useStore(session.document, (document) => document?.dsl);
  const list = dsl ? variablesOf(dsl) : [];
  const { editing } = session;
  const taken = new Set(list.map(({ name }) => name));
  const add = (): void => {
    let name = "variable";
    for (let number = 2; taken.has(name); number++) name = `variable_${number}`;
    editing.variable({ name, type: "string", value: "" });
  };
  return (
    <section className="declared">
      <h2 className="head">{t("variables.conversation")}</h2>
      {list.map(({ name, type, value }) => (
        <div key={name} className="declared-row">
          <input
            type="text"
            className="mono"
            aria-label={`${t("variables.name")}: ${name}`}
            defaultValue={name}
            spellCheck={false}
            onBlur={(event) => {
              const next = event.target.value.trim();
              if (next === name) return;
              if (/^[\w-]+$/.test(next) && !taken.has(next)) editing.renameVariable(name, next);
              else event.target.value = name;
            }}
          />
          <select
            aria-label={`${t("variables.type")}: ${name}`}
            value={type}
            onChange={({ target }) => editing.variable({ name, type: target.value, value: empty(target.value) })}
          >
            {[...new Set([...types, type])].map((each) => <option key={each}>{each}</option>)}
          </select>
          <textarea
            rows={1}
            aria-label={`${t("variables.value")}: ${name}`}
            value={show(value)}
            onChange={(event) => editing.variable({ name, type, value: like(value, event.target.value) })}
          />
          <button
            type="button"
            className="icon-button"
            aria-label={t("variables.remove", name)}
            onClick={() => editing.removeVariable(name)}
          >
            <Icon name="trash" />
          </button>
        </div>
      ))}
      <button type="button" className="add" onClick={add}><Icon name="plus" />{t("variables.add")}</button>
    </section>
  );
}
