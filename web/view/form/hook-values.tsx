// The values that a canvas reads of the web request that starts it.

import { useState } from "react";
import { isObject } from "../../canvas/dsl.ts";
import {
  hookExample, hookFields, hookParts, hookSchema, hookTypes, type HookField, type HookPart,
} from "../../canvas/hook-schema.ts";
import { Fault, useConnectText } from "./connect-parts.tsx";
import { useParts } from "./params.tsx";
import type { ControlProps } from "./props.ts";

/** HookValues edits which values of a request later steps use. */
export function HookValues(props: ControlProps): React.ReactNode {
  const { label, value, onChange } = props;
  const c = useConnectText();
  const { AsJson, Rows } = useParts();
  const rows = hookFields(value);
  const [pasting, setPasting] = useState(false);
  const write = (next: HookField[]): void => onChange(hookSchema(value, next));
  const make = (): HookField => {
    const names = new Set(rows.map(({ name }) => name));
    let number = 1;
    while (names.has(`value_${number}`)) number++;
    return { part: "body", name: `value_${number}`, type: "string", required: false };
  };
  if (value && !isObject(value)) return <AsJson {...props} />;
  return (
    <>
      <Rows label={label} value={rows} make={make} onChange={write}>
        {(row, i) => (
          <HookRow
            row={row} number={i + 1} taken={rows.filter((each) => each !== row && each.part === row.part)}
            onChange={(part) => write(rows.with(i, { ...row, ...part }))}
          />
        )}
      </Rows>
      {pasting ? (
        <Example
          onTake={(text) => {
            const next = hookExample(rows, text);
            if (typeof next === "string") return c(`example_${next}`);
            write(next);
            setPasting(false);
            return "";
          }}
          onCancel={() => setPasting(false)}
        />
      ) : (
        <button type="button" className="add" onClick={() => setPasting(true)}>{c("example")}</button>
      )}
    </>
  );
}

function HookRow({ row, number, taken, onChange }: {
  row: HookField;
  number: number;
  taken: HookField[];
  onChange(part: Partial<HookField>): void;
}): React.ReactNode {
  const c = useConnectText();
  return (
    <div className="hook-row">
      <input
        key={row.name} type="text" className="mono" aria-label={`${c("name")} ${number}`} defaultValue={row.name}
        spellCheck={false}
        onBlur={(event) => {
          const name = event.target.value.trim();
          if (name === row.name) return;
          if (name === "" || taken.some((each) => each.name === name)) event.target.value = row.name;
          else onChange({ name });
        }}
      />
      <select
        aria-label={`${c("hook_part")} ${number}`} value={row.part}
        onChange={(event) => onChange({ part: event.target.value as HookPart })}
      >
        {hookParts.map((part) => (
          <option key={part} value={part} disabled={part !== row.part && taken.some((each) => each.name === row.name)}>
            {c(`part_${part}`)}
          </option>
        ))}
      </select>
      <select
        aria-label={`${c("hook_type")} ${number}`} value={row.type}
        onChange={(event) => onChange({ type: event.target.value })}
      >
        {[...new Set<string>([...hookTypes, row.type])].map((type) => (
          <option key={type} value={type}>
            {(hookTypes as readonly string[]).includes(type) ? c(`type_${type || "any"}` as "type_any") : type}
          </option>
        ))}
      </select>
      <label className="row">
        <input
          type="checkbox" checked={row.required} onChange={(event) => onChange({ required: event.target.checked })}
        />
        {c("hook_required")}
      </label>
    </div>
  );
}

// Example takes a pasted body; onTake returns what is wrong with it.
function Example({ onTake, onCancel }: { onTake(text: string): string; onCancel(): void }): React.ReactNode {
  const c = useConnectText();
  const [text, setText] = useState("");
  const [bad, setBad] = useState("");
  return (
    <div className="inset" role="group" aria-label={c("example")}>
      <label className="member">
        {c("example_hint")}
        <textarea
          className="mono" rows={5} autoFocus spellCheck={false} value={text} placeholder={`{"order": 7}`}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Fault text={bad || undefined} />
      <div className="acts">
        <button type="button" disabled={text.trim() === ""} onClick={() => setBad(onTake(text))}>
          {c("example_take")}
        </button>
        <button type="button" className="plain" onClick={onCancel}>{c("cancel")}</button>
      </div>
    </div>
  );
}
