// The values that a canvas reads of the web request that starts it.

import { useEffect, useState } from "react";
import { isObject } from "../../canvas/dsl.ts";
import {
  hookExample, hookFields, hookParts, hookSchema, hookTypes, type HookField, type HookPart,
} from "../../canvas/hook-schema.ts";
import { nextCall, type HookCallRecord } from "../../run/webhook.ts";
import { useApp, useStore } from "../context.tsx";
import { reasonOf } from "../reason.tsx";
import { show } from "../text.ts";
import { Copied, Fault, useConnectText, useMayAsk } from "./connect-parts.tsx";
import { useParts } from "./params.tsx";
import type { ControlProps } from "./props.ts";

/** HookValues edits which values of a request later steps use. */
export function HookValues(props: ControlProps): React.ReactNode {
  const { label, value, onChange } = props;
  const c = useConnectText();
  const { AsJson, Rows } = useParts();
  const rows = hookFields(value);
  const [pasting, setPasting] = useState(false);
  const [listening, setListening] = useState(false);
  const { session } = useApp();
  const origin = useStore(session.origin, (from) => from?.id);
  const canvas = useMayAsk() ? origin : undefined;
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
        <div className="connect-acts">
          <button type="button" className="add" onClick={() => setPasting(true)}>{c("example")}</button>
          {canvas !== undefined && !listening && (
            <button type="button" className="add" onClick={() => setListening(true)}>{c("hook_listen")}</button>
          )}
        </div>
      )}
      {canvas !== undefined && listening && (
        <Listen
          canvas={canvas} rows={rows} onTake={write}
          onDone={() => setListening(false)}
        />
      )}
      {canvas !== undefined && <Elsewhere />}
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

// Listen waits for one call from outside, and offers the values of its body.
function Listen({ canvas, rows, onTake, onDone }: {
  canvas: string;
  rows: readonly HookField[];
  onTake(rows: HookField[]): void;
  onDone(): void;
}): React.ReactNode {
  const c = useConnectText();
  const { host } = useApp();
  const [call, setCall] = useState<HookCallRecord>();
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    const stop = new AbortController();
    nextCall(host, canvas, stop.signal).then(
      (got) => { if (!stop.signal.aborted) setCall(got); },
      (err: unknown) => { if (!stop.signal.aborted) setFault(reasonOf(err)); },
    );
    return () => stop.abort();
  }, [host, canvas]);
  const address = `${location.origin}/api/v1/agents/${canvas}/webhook`;
  return (
    <div className="inset" role="group" aria-label={c("hook_listen")}>
      {!call && fault === undefined && (
        <p className="small" role="status"><span className="spinner" /> {c("hook_listening")}</p>
      )}
      {!call && <Copied label={c("hook_address")} text={address} />}
      <Fault text={fault} />
      {call && <Call call={call} rows={rows} onTake={onTake} />}
      <div className="acts">
        <button type="button" className="plain" onClick={onDone}>{c(call ? "hook_done" : "cancel")}</button>
      </div>
    </div>
  );
}

// Call shows a call with its result; the ticked members of its body become rows.
function Call({ call, rows, onTake }: {
  call: HookCallRecord;
  rows: readonly HookField[];
  onTake(rows: HookField[]): void;
}): React.ReactNode {
  const c = useConnectText();
  const body = bodyOf(call.request);
  const known = new Set(rows.filter(({ part }) => part === "body").map(({ name }) => name));
  const names = isObject(body) ? Object.keys(body).filter((name) => !known.has(name)) : [];
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const chosen = names.filter((name) => !left.has(name));
  const take = (): void => {
    const part = Object.fromEntries(chosen.map((name) => [name, (body as Record<string, unknown>)[name]]));
    const next = hookExample(rows, JSON.stringify(part));
    if (typeof next !== "string") onTake(next);
  };
  return (
    <>
      <p className="small good-text" role="status">{c("hook_caught")}</p>
      <pre tabIndex={0} aria-label={c("hook_body")} className="answer">{show(body) || "–"}</pre>
      {call.run.error
        ? <Fault text={call.run.error} />
        : <pre tabIndex={0} aria-label={c("answer")} className="answer">{call.answer || "–"}</pre>}
      {names.length > 0 && (
        <fieldset className="ticks">
          <legend className="small">{c("hook_pick")}</legend>
          {names.map((name) => (
            <label key={name} className="row">
              <input
                type="checkbox" checked={!left.has(name)}
                onChange={(event) => setLeft(toggled(left, name, !event.target.checked))}
              />
              <code>{name}</code>
            </label>
          ))}
          <button type="button" disabled={chosen.length === 0} onClick={take}>{c("example_take")}</button>
        </fieldset>
      )}
    </>
  );
}

// bodyOf returns the whole body of a request, as JSON if it is: `body` has the listed values only.
function bodyOf(request: unknown): unknown {
  if (!isObject(request)) return "";
  const { raw_body: raw, body } = request;
  if (typeof raw !== "string" || raw === "") return body ?? "";
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
}

function toggled(set: ReadonlySet<string>, name: string, has: boolean): Set<string> {
  const next = new Set(set);
  if (has) next.add(name);
  else next.delete(name);
  return next;
}

// Elsewhere leads to the address, the test call, curl, the last call, and to schedules.
function Elsewhere(): React.ReactNode {
  const c = useConnectText();
  const { look } = useApp();
  return (
    <p className="small">
      <button type="button" className="plain" onClick={() => look.update({ publish: "webhook" })}>
        {c("hook_test")}
      </button>{" "}
      <button type="button" className="plain" onClick={() => look.update({ publish: "schedules" })}>
        {c("hook_schedule")}
      </button>
    </p>
  );
}
