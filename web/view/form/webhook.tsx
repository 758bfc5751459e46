// The settings of a canvas that a web request starts: methods, body, values to read, reply.

import { useEffect, useId, useRef, useState } from "react";
import { isObject, type Params, word } from "../../canvas/dsl.ts";
import {
  hookExample, hookFields, hookParts, hookSchema, hookTypes, type HookField, type HookPart,
} from "../../canvas/hook-schema.ts";
import { Fault, useConnectText } from "./connect-parts.tsx";
import { useParts } from "./params.tsx";
import type { ControlProps } from "./props.ts";
import { HookSecurity } from "./hook-security.tsx";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const bodies = [
  "application/json", "multipart/form-data", "application/x-www-form-urlencoded", "text/plain",
  "application/octet-stream",
] as const;

/** Webhook edits one setting of a webhook. */
export default function Webhook(props: ControlProps): React.ReactNode {
  const box = useRef<HTMLDivElement>(null);
  // A section that is open for a problem would close when the problem is solved, under the person's
  // hands.
  useEffect(() => {
    const section = box.current?.closest("details");
    if (!section) return undefined;
    let closed = false; // by the person
    const onClick = ({ target }: MouseEvent): void => {
      closed = section.open && target instanceof Element && target.closest("summary")?.parentElement === section;
    };
    const watch = new MutationObserver(() => {
      if (!section.open && !closed) section.open = true;
    });
    section.addEventListener("click", onClick);
    watch.observe(section, { attributeFilter: ["open"] });
    return () => {
      section.removeEventListener("click", onClick);
      watch.disconnect();
    };
  }, []);
  return <div ref={box} className="rows"><Setting {...props} /></div>;
}

function Setting(props: ControlProps): React.ReactNode {
  switch (props.name) {
    case "security": return <HookSecurity {...props} />;
    case "methods": return <Methods {...props} />;
    case "content_types": return <ContentTypes {...props} />;
    case "schema": return <Fields {...props} />;
    case "execution_mode": return <Mode {...props} />;
    default: return <Reply {...props} />;
  }
}

function Methods({ label, value, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const chosen = Array.isArray(value) ? value.map(word) : [];
  const all = [...new Set([...methods, ...chosen])];
  const set = (method: string, on: boolean): void =>
    onChange(all.filter((each) => (each === method ? on : chosen.includes(each))));
  return (
    <>
      <fieldset className="ticks">
        <legend className="sr">{label}</legend>
        {all.map((method) => (
          <label key={method} className="row">
            <input
              type="checkbox" checked={chosen.includes(method)} onChange={(event) => set(method, event.target.checked)}
            />
            {method}
          </label>
        ))}
      </fieldset>
      {chosen.length === 0 && <small>{c("methods_all")}</small>}
    </>
  );
}

function ContentTypes({ id, value, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const titleOf = (type: string): string => {
    if (type === "") return c("body_any");
    return (bodies as readonly string[]).includes(type) ? c(`body_${type}` as "body_any") : type;
  };
  const list = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string" && each !== "");
  const several = list.length > 1 ? list.map(word).join(", ") : "";
  const known = ["", ...bodies, ...(several ? [several] : [])];
  const now = several || word(list[0] ?? "");
  return (
    <select
      id={id} value={now}
      onChange={(event) => { if (event.target.value !== several) onChange(event.target.value); }}
    >
      {[...new Set([...known, now])].map((type) => (
        <option key={type} value={type}>{titleOf(type)}</option>
      ))}
    </select>
  );
}

function Fields({ label, value, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const { Rows } = useParts();
  const rows = hookFields(value);
  const [pasting, setPasting] = useState(false);
  const write = (next: HookField[]): void => onChange(hookSchema(value, next));
  const make = (): HookField => {
    const names = new Set(rows.map(({ name }) => name));
    let number = 1;
    while (names.has(`value_${number}`)) number++;
    return { part: "body", name: `value_${number}`, type: "string", required: false };
  };
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

function Mode({ label, value, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const id = useId();
  const now = typeof value === "string" && value !== "Immediately" && value !== "" ? value : "Immediately";
  return (
    <fieldset className="ticks">
      <legend className="sr">{label}</legend>
      {(["Immediately", "Streaming"] as const).map((mode) => (
        <label key={mode} className="row">
          <input
            type="radio" name={id} checked={mode === "Immediately" ? now === mode : now !== "Immediately"}
            onChange={() => onChange(mode)}
          />
          {c(`mode_${mode}`)}
        </label>
      ))}
    </fieldset>
  );
}

function Reply({ node, label, value, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const { Prompt } = useParts();
  const reply: Params = isObject(value) ? value : {};
  const status = reply["status"];
  const number = Number(status);
  const bad = status !== undefined && status !== "" && !(Number.isInteger(number) && number >= 200 && number <= 399);
  const template = reply["body_template"];
  return (
    <div className="rows" role="group" aria-label={label}>
      <label className="member">
        {c("reply_status")}
        <input
          type="number" min={200} max={399} placeholder="200" value={word(status ?? "")} aria-invalid={bad}
          onChange={(event) => {
            const { status: _status, ...rest } = reply;
            onChange(event.target.value === "" ? rest : { ...rest, status: Number(event.target.value) });
          }}
        />
      </label>
      {bad && <small className="missing">{c("reply_bad")}</small>}
      <div className="member">
        <span>{c("reply_body")}</span>
        <Prompt
          node={node} label={c("reply_body")} hint={`{"received": true}`}
          text={typeof template === "string" ? template : JSON.stringify(template, null, 2) ?? ""}
          onChange={(text) => onChange({ ...reply, body_template: text })}
        />
      </div>
    </div>
  );
}
