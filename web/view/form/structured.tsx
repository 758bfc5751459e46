// Editor of the members of a JSON answer of a model, stored as a JSON Schema.

import { isObject, own, word, type Params } from "../../canvas/dsl.ts";
import { useText } from "../context.tsx";
import { Rows, unused } from "./lists.tsx";
import type { ControlProps } from "./props.ts";

const types = ["string", "number", "integer", "boolean", "array", "object"];

/** Structured edits the members that an answer has as JSON. */
export function Structured({ value, onChange }: ControlProps): React.ReactNode {
  const t = useText();
  const outputs = isObject(value) ? value : {};
  const slot = own(outputs, "structured");
  const schema = isObject(slot) && isObject(slot["properties"]) ? slot : {};
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const list = Object.entries(properties).map(([name, each]): [string, Params] => [name, isObject(each) ? each : {}]);
  const write = (next: [string, Params][], must: unknown[] = required): void => {
    const { structured: _, ...others } = outputs;
    const names = new Set(next.map(([name]) => name));
    const made = {
      ...schema,
      type: "object",
      properties: Object.fromEntries(next),
      required: must.filter((name) => names.has(word(name))),
    };
    onChange(next.length > 0 ? { ...others, structured: made } : others);
  };
  return (
    <div className="composite">
      <small>{t("form.structured_hint")}</small>
      <Rows
        label={t("form.structured")}
        value={list}
        make={(): [string, Params] => [unused(properties), { type: "string" }]}
        onChange={(next) => write(next)}
      >
        {([name, each], i) => (
          <div className="field-grid">
            <input
              key={name}
              type="text"
              className="mono"
              aria-label={`${t("form.key")} ${i + 1}`}
              defaultValue={name}
              spellCheck={false}
              onBlur={(event) => {
                const next = event.target.value.trim();
                if (next !== "" && !Object.hasOwn(properties, next))
                  write(
                    list.with(i, [next, each]),
                    required.map((one) => (one === name ? next : one)),
                  );
                else event.target.value = name;
              }}
            />
            <select
              aria-label={`${t("form.type")} ${i + 1}`}
              value={word(each["type"] ?? "string")}
              onChange={(event) => write(list.with(i, [name, { ...each, type: event.target.value }]))}
            >
              {types.map((type) => (
                <option key={type}>{type}</option>
              ))}
            </select>
            <input
              type="text"
              aria-label={`${t("form.description")} ${i + 1}`}
              placeholder={t("form.description")}
              value={word(each["description"] ?? "")}
              onChange={(event) => write(list.with(i, [name, { ...each, description: event.target.value }]))}
            />
            <label className="row">
              <input
                type="checkbox"
                checked={required.includes(name)}
                onChange={(event) =>
                  write(list, event.target.checked ? [...required, name] : required.filter((one) => one !== name))
                }
              />
              {t("form.required")}
            </label>
          </div>
        )}
      </Rows>
    </div>
  );
}
