// Editor of the fields of a form that a run shows to its user.

import { isObject, word, type Params } from "../../canvas/dsl.ts";
import { useText } from "../context.tsx";
import { Rows, unused } from "./lists.tsx";
import type { ControlProps } from "./props.ts";

const types = ["line", "paragraph", "options", "integer", "boolean", "file"] as const;

/** FieldList edits form fields by their key. */
export function FieldList({ label, value, onChange }: ControlProps): React.ReactNode {
  const t = useText();
  const record = isObject(value) ? value : {};
  const list = Object.entries(record).map(([key, field]): [string, Params] => [key, isObject(field) ? field : {}]);
  const write = (next: [string, Params][]): void => onChange(Object.fromEntries(next));
  return (
    <Rows
      label={label}
      value={list}
      make={(): [string, Params] => [unused(record, "field"), { name: "", type: "line", optional: false }]}
      onChange={write}
    >
      {([key, field], i) => {
        const set = (part: Params): void => write(list.with(i, [key, { ...field, ...part }]));
        const type = typeof field["type"] === "string" ? field["type"] : "line";
        return (
          <div className="field-grid">
            <input
              key={key}
              type="text"
              className="mono"
              aria-label={`${t("form.key")} ${i + 1}`}
              defaultValue={key}
              spellCheck={false}
              onBlur={(event) => {
                const next = event.target.value.trim();
                if (next === key) return;
                if (!/^[\w-]+$/.test(next) || Object.hasOwn(record, next)) event.target.value = key;
                else write(list.with(i, [next, field]));
              }}
            />
            <select
              aria-label={`${t("form.type")} ${i + 1}`}
              value={type}
              onChange={(event) => set({ type: event.target.value })}
            >
              {[...new Set([...types, type])].map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
            <input
              type="text"
              aria-label={`${t("form.label")} ${i + 1}`}
              placeholder={t("form.label")}
              value={word(field["name"] ?? "")}
              onChange={(event) => set({ name: event.target.value })}
            />
            <label className="row">
              <input
                type="checkbox"
                checked={field["optional"] === true}
                onChange={(event) => set({ optional: event.target.checked })}
              />
              {t("form.optional")}
            </label>
            {type === "options" && (
              <textarea
                rows={3}
                aria-label={t("form.options")}
                placeholder={t("form.options")}
                value={Array.isArray(field["options"]) ? field["options"].map(word).join("\n") : ""}
                onChange={(event) => set({ options: event.target.value.split("\n") })}
              />
            )}
          </div>
        );
      }}
    </Rows>
  );
}
