// An input field of a form of a canvas.

import { useId } from "react";
import type { Approval, FormField } from "@easel/engine";
import { isObject } from "../canvas/dsl.ts";
import type { Descriptor, Files } from "../run/files.ts";
import { useAttaching } from "./attach.tsx";
import { useText } from "./context.tsx";
import { brief } from "./text.ts";

/**
 * fieldsOf reads the fields of a form as a canvas holds them; members of other types are left out.
 */
export function fieldsOf(inputs: unknown): Record<string, FormField> {
  if (!isObject(inputs)) return {};
  return Object.fromEntries(Object.entries(inputs).map(([key, field]) => {
    const { name, type, optional, value, options, approval }: Record<string, unknown> = isObject(field) ? field : {};
    return [
      key,
      {
        ...(typeof name === "string" ? { name } : {}),
        ...(typeof type === "string" ? { type } : {}),
        ...(Array.isArray(options) ? { options: options.map((each) => brief(each)) } : {}),
        ...(value === undefined ? {} : { value }),
        ...(isObject(approval) ? { approval: approvalOf(approval) } : {}),
        optional: optional === true,
      } satisfies FormField,
    ];
  }));
}

/** approvalOf reads the approval request. */
function approvalOf(value: Record<string, unknown>): Approval {
  const text = (key: string): string => typeof value[key] === "string" ? value[key] : "";
  const { arguments: given, schema } = value;
  return { component_id: text("component_id"), tool_name: text("tool_name"), arguments: given, schema };
}

interface FieldProps {
  name: string;
  field: FormField;
  value: unknown;
  onChange(value: unknown): void;
  files: Files;
}

/** Field edits one value, with an input that fits its type. */
export function Field({ name, field, value, onChange, files }: FieldProps): React.ReactNode {
  const t = useText();
  const id = useId();
  const label = (
    <label htmlFor={id}>
      {field.name || name}
      {field.optional && <small> {t("chat.optional")}</small>}
    </label>
  );
  const kind = (field.type ?? "line").toLowerCase();
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  if (kind.includes("file"))
    return (
      <FileField
        id={id}
        label={label}
        optional={field.optional === true}
        value={value}
        files={files}
        onChange={onChange}
      />
    );
  if (kind === "boolean" || kind === "switch") {
    return (
      <div className="field row">
        <input id={id} type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        {label}
      </div>
    );
  }
  if (kind === "options" || kind === "select") {
    return (
      <div className="field">
        {label}
        <select id={id} value={text} required={!field.optional} onChange={(event) => onChange(event.target.value)}>
          {(field.optional || text === "") && <option value="" />}
          {(field.options ?? []).map((option) => (
            <option key={String(option)} value={String(option)}>
              {String(option)}
            </option>
          ))}
        </select>
      </div>
    );
  }
  if (kind === "paragraph" || kind === "object") {
    return (
      <div className="field">
        {label}
        <textarea
          id={id}
          rows={4}
          value={text}
          required={!field.optional}
          onChange={(event) => onChange(event.target.value)}
        />
      </div>
    );
  }
  if (kind === "integer" || kind === "number") {
    return (
      <div className="field">
        {label}
        <input
          id={id}
          type="number"
          step={kind === "integer" ? 1 : "any"}
          value={text}
          required={!field.optional}
          onChange={(event) => onChange(event.target.value === "" ? "" : Number(event.target.value))}
        />
      </div>
    );
  }
  return (
    <div className="field">
      {label}
      <input
        id={id}
        type="text"
        value={text}
        required={!field.optional}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

function FileField({
  id,
  label,
  optional,
  value,
  files,
  onChange,
}: {
  id: string;
  label: React.ReactNode;
  optional: boolean;
  value: unknown;
  files: Files;
  onChange(value: Descriptor[]): void;
}): React.ReactNode {
  const { attach, notes } = useAttaching(files);
  const chosen = (Array.isArray(value) ? value : value ? [value] : []) as Descriptor[];
  const choose = async (input: HTMLInputElement): Promise<void> => {
    onChange([]); // what was chosen before, until these are read
    const taken = await attach(input.files);
    if (taken.length === 0) input.value = "";
    onChange(taken);
  };
  return (
    <div className="field">
      {label}
      <input
        id={id}
        type="file"
        multiple
        required={!optional && chosen.length === 0}
        onChange={(event) => void choose(event.target)}
      />
      {notes}
    </div>
  );
}

/** answersOf returns the form's values as a run takes them; an empty optional field is left out. */
export function answersOf(fields: Record<string, FormField>, values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, field]) => {
    const value = values[name] ?? field.value ?? (field.type === "boolean" ? false : "");
    if (value === "" && field.optional) return [];
    return [[name, { type: field.type ?? "line", value, ...(field.optional ? { optional: true } : {}) }]];
  }));
}
