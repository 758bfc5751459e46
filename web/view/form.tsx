// Settings of a node as a form, made from the component's JSON Schema. A parameter
// without a schema gets a field by the look of its value; what is too rich for a
// field is edited as JSON.

import { useId, useState } from "react";
import type { ComponentSpec, Group, Schema } from "@easel/engine";
import type { Params } from "../canvas/dsl.ts";
import { useSpecText, useText } from "./context.tsx";
import { JsonEdit } from "./value.tsx";
import { brief } from "./text.ts";

/** kept are values that the engine keeps in the parameters. */
const kept = new Set(["outputs", "inputs", "debug_inputs", "exception_comment"]);

/** SettingsForm edits parameters one by one. */
export function SettingsForm({ spec, params, changed, onChange }: {
  spec: ComponentSpec | undefined; params: Params; changed: Params; onChange(key: string, value: unknown): void;
}): React.ReactNode {
  const t = useText();
  const properties = spec?.params?.properties ?? {};
  const { main, groups } = sections(spec, params);
  if (main.length === 0 && groups.length === 0) return <p className="quiet">{t("node.no_settings")}</p>;
  const row = (key: string): React.ReactNode => (
    <Setting key={key} name={key} schema={properties[key] ?? guess(params[key])} value={params[key]} changed={key in changed} onChange={(value) => onChange(key, value)} />
  );
  return (
    <div className="settings">
      {main.map(row)}
      {groups.map(([group, keys]) => <details key={group} className="more"><summary>{t(`group.${group}`)} ({keys.length})</summary>{keys.map(row)}</details>)}
    </div>
  );
}

/** sections are the parts of a form: what is set or most often is, and the groups of the rest. */
export function sections(spec: ComponentSpec | undefined, params: Params): { main: string[]; groups: [Group, string[]][] } {
  const properties = spec?.params?.properties ?? {};
  const hidden = new Set([...kept, ...(spec?.ignores ?? [])]);
  const main: string[] = [];
  const groups = new Map<Group, string[]>();
  for (const key of new Set([...Object.keys(properties), ...Object.keys(params)])) {
    const property = properties[key];
    if (property === undefined && hidden.has(key)) continue;
    if (property?.group === undefined && (key in params || property?.format)) {
      main.push(key);
      continue;
    }
    const group = property?.group ?? "advanced";
    groups.set(group, [...(groups.get(group) ?? []), key]);
  }
  return { main, groups: [...groups] };
}

function guess(value: unknown): Schema {
  if (typeof value === "boolean") return { type: "boolean" };
  if (typeof value === "number") return { type: "number" };
  if (typeof value === "string") return { type: "string", format: value.includes("\n") || value.length > 60 ? "text" : "" };
  if (Array.isArray(value)) return { type: "array" };
  return { type: "object" };
}

function Setting({ name, schema, value, changed, onChange }: { name: string; schema: Schema; value: unknown; changed: boolean; onChange(value: unknown): void }): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  const id = useId();
  const hint = schema.description;
  const label = words(schema.title ?? name);
  const head = (
    <span className="setting-head">
      <label htmlFor={id} title={name}>{label}</label>
      {changed && <span className="chip">{t("node.changed")}</span>}
    </span>
  );
  const fallback = schema.default === undefined || schema.default === "" ? "" : t("form.default", brief(schema.default, 30));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  return (
    <div className="setting" data-row={type === "boolean" || undefined}>
      {head}
      <Control id={id} name={label} type={type} schema={schema} value={value} placeholder={fallback} onChange={onChange} />
      {hint && <small>{words(hint)}</small>}
    </div>
  );
}

interface ControlProps {
  id: string;
  name: string;
  type: string | undefined;
  schema: Schema;
  value: unknown;
  placeholder: string;
  onChange(value: unknown): void;
}

function Control({ id, name, type, schema, value, placeholder, onChange }: ControlProps): React.ReactNode {
  if (schema.enum) {
    const current = value ?? schema.default ?? "";
    const options = schema.enum.includes(current) ? schema.enum : [current, ...schema.enum];
    return <select id={id} value={String(current)} onChange={(event) => onChange(options.find((each) => String(each) === event.target.value))}>{options.map((each) => <option key={String(each)} value={String(each)}>{String(each)}</option>)}</select>;
  }
  if (type === "boolean") return <input id={id} type="checkbox" checked={Boolean(value ?? schema.default)} onChange={(event) => onChange(event.target.checked)} />;
  if ((type === "number" || type === "integer") && typeof value !== "string") {
    return (
      <input
        id={id} type="number" min={schema.minimum} max={schema.maximum} step={type === "integer" ? 1 : "any"} placeholder={placeholder}
        value={typeof value === "number" ? value : ""} onChange={(event) => onChange(event.target.value === "" ? null : Number(event.target.value))}
      />
    );
  }
  if (typeof value === "string" || (value === undefined && type === "string")) {
    const code = schema.format === "code";
    const long = schema.format === "text" || code || (value ?? "").length > 60;
    const text = value ?? "";
    if (!long) return <input id={id} type={schema.format === "secret" ? "password" : "text"} value={text} placeholder={placeholder} onChange={(event) => onChange(event.target.value)} spellCheck={false} />;
    return <textarea id={id} className={code ? "mono" : undefined} rows={Math.min(12, text.split("\n").length + 1)} value={text} placeholder={placeholder} onChange={(event) => onChange(event.target.value)} spellCheck={!code} />;
  }
  if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string")) return <TextList id={id} name={name} value={value as string[]} onChange={onChange} />;
  return <AsJson id={id} name={name} value={value ?? schema.default ?? null} onChange={onChange} />;
}

function TextList({ id, name, value, onChange }: { id: string; name: string; value: string[]; onChange(value: unknown): void }): React.ReactNode {
  const t = useText();
  return (
    <div className="text-list">
      {value.map((text, i) => (
        <div key={i} className="line">
          <textarea id={i === 0 ? id : undefined} aria-label={i === 0 ? undefined : `${name} ${i + 1}`} rows={Math.min(8, text.split("\n").length)} value={text} onChange={(event) => onChange(value.with(i, event.target.value))} />
          {value.length > 1 && <button type="button" className="icon-button" aria-label={`${t("form.remove")} ${i + 1}`} onClick={() => onChange(value.toSpliced(i, 1))}>×</button>}
        </div>
      ))}
      <button type="button" onClick={() => onChange([...value, ""])}>{t("form.add")}</button>
    </div>
  );
}

function AsJson({ id, name, value, onChange }: { id: string; name: string; value: unknown; onChange(value: unknown): void }): React.ReactNode {
  const t = useText();
  const [open, setOpen] = useState(false);
  return (
    <div>
      <button id={id} type="button" className="json-button" aria-expanded={open} onClick={() => setOpen(!open)}>{brief(value, 60)}</button>
      {open && <JsonEdit value={value} label={t("form.json", name)} action={t("model.done")} onDone={(next) => { onChange(next); setOpen(false); }} />}
    </div>
  );
}
