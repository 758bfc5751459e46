// Settings of a node as a form, made from the component's JSON Schema. Each kind of value has its
// editor; others are edited as JSON.

import { useId } from "react";
import type { ComponentSpec, Diagnostic, Group, Schema } from "@easel/engine";
import type { Params } from "../../canvas/dsl.ts";
import { useSpecText, useText } from "../context.tsx";
import { brief, sentence } from "../text.ts";
import { Control } from "./control.tsx";
import { EditorsContext, typeOf, type Editors, type FormProps } from "./props.ts";
import { Reason } from "../reason.tsx";

/** kept are values that the engine keeps in the parameters. */
const kept = new Set(["outputs", "inputs", "debug_inputs", "exception_comment"]);

const editors: Editors = { Control, Form };

/** SettingsForm edits parameters one by one. */
export function SettingsForm(props: FormProps): React.ReactNode {
  return (
    <EditorsContext value={editors}>
      <Form {...props} />
    </EditorsContext>
  );
}

function Form({ node, spec, params, changed, problems = [], onChange }: FormProps): React.ReactNode {
  const t = useText();
  const properties = spec?.params?.properties ?? {};
  const { main, groups } = sections(spec, params);
  if (main.length === 0 && groups.length === 0) return <p className="quiet">{t("node.no_settings")}</p>;
  const row = (key: string): React.ReactNode => (
    <Setting
      key={key}
      node={node}
      name={key}
      spec={spec}
      schema={properties[key] ?? guess(params[key])}
      value={params[key]}
      changed={key in changed}
      problems={problems.filter(({ param }) => param?.split(/[.[]/)[0] === key)}
      onChange={(value) => onChange(key, value)}
    />
  );
  return (
    <div className="settings">
      {main.map(row)}
      {groups.map(([group, keys]) => (
        <details
          key={group}
          className="more"
          open={keys.some((key) => problems.some(({ param }) => param === key)) || undefined}
        >
          <summary>
            {t(`group.${group}`)} ({keys.length})
          </summary>
          {keys.map(row)}
        </details>
      ))}
    </div>
  );
}

/** sections returns the parts of a form: what a component is for, and the groups of the rest. */
export function sections(
  spec: ComponentSpec | undefined,
  params: Params,
): { main: string[]; groups: [Group, string[]][] } {
  const properties = spec?.params?.properties ?? {};
  const hidden = new Set([...kept, ...(spec?.ignores ?? [])]);
  const main: string[] = [];
  const groups = new Map<Group, string[]>();
  for (const key of new Set([...Object.keys(properties), ...Object.keys(params)])) {
    const property = properties[key];
    if (property === undefined && hidden.has(key)) continue;
    if (property?.group === undefined && (property !== undefined || key in params)) {
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
  if (typeof value === "string")
    return { type: "string", format: value.includes("\n") || value.length > 60 ? "text" : "" };
  if (Array.isArray(value)) return { type: "array" };
  return { type: "object" };
}

function Setting({
  node,
  name,
  spec,
  schema,
  value,
  changed,
  problems,
  onChange,
}: {
  node: string;
  name: string;
  spec: ComponentSpec | undefined;
  schema: Schema;
  value: unknown;
  changed: boolean;
  problems: readonly Diagnostic[];
  onChange(value: unknown): void;
}): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  const id = useId();
  const label = words(schema.title ?? name);
  const fallback =
    schema.default === undefined || schema.default === "" ? "" : t("form.default", brief(schema.default, 30));
  return (
    <div
      className="setting"
      data-row={typeOf(schema) === "boolean" || undefined}
      data-bad={problems.length > 0 || undefined}
    >
      <span className="setting-head">
        <label htmlFor={id} title={name}>
          {label}
        </label>
        {changed && <span className="chip">{t("node.changed")}</span>}
      </span>
      <Control
        id={id}
        node={node}
        name={name}
        label={label}
        spec={spec}
        schema={schema}
        value={value}
        hint={fallback}
        onChange={onChange}
      />
      {problems.map((problem, i) => (
        <p key={i} className="field-problem" data-severity={problem.severity}>
          <Reason code={problem.code} message={problem.message} most={300} />
        </p>
      ))}
      {schema.description && <small>{sentence(words(schema.description))}</small>}
    </div>
  );
}
