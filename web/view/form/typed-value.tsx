// A value of a chosen type, or a reference. What is typed as a text stays a text; numbers, lists
// and objects are chosen by the menu of types.

import { useState } from "react";
import { isObject, word, type Params } from "../../canvas/dsl.ts";
import { isReference } from "../../canvas/edit/references.ts";
import { useText } from "../context.tsx";
import { show } from "../text.ts";
import { AsJson } from "./as-json.tsx";
import { useTypeOf } from "./choice.tsx";
import { Rows, unused } from "./lists.tsx";
import { kindOf } from "./operators.ts";
import { Prompt } from "./prompt.tsx";
import type { ControlProps } from "./props.ts";
import { rightOf, tagOf, valueOf } from "./shown.ts";
import { useFormText } from "./text.ts";

type Kind = "text" | "number" | "boolean" | "list" | "object" | "reference" | "empty";

const deepest = 3; // levels that have an editor

/** TypedValue edits a value. */
export function TypedValue(props: ControlProps): React.ReactNode {
  return <Typed {...props} depth={0} />;
}

function Typed({ depth, ...props }: ControlProps & { depth: number }): React.ReactNode {
  const f = useFormText();
  const { id, node, label, schema, value, around, onChange, onPart, name } = props;
  const { of, by, right: operator } = tagOf(schema);
  const right = operator === undefined ? "value" : rightOf(operator, around);
  const preset = presetOf(right, useTypeOf(node, around, of), by !== undefined);
  const mode = by === undefined ? undefined : word(valueOf(by, around) ?? "");
  const [chosen, setChosen] = useState<Kind>();
  const found = storedKind(value, mode, right === "reference");
  const kind = chosen !== undefined && agrees(chosen, value) ? chosen : (found ?? preset);
  const kinds = kindsOf(right, by !== undefined && emptyIsAllowed(props, by), depth);
  const pick = (next: Kind): void => {
    setChosen(next);
    const made = converted(value, next);
    if (by === undefined) return onChange(made);
    onPart({ [by]: next === "reference" ? "variable" : next === "empty" ? "" : "constant", [name]: made });
  };
  const write = (made: unknown): void => {
    if (by === undefined || mode === "variable" || mode === "constant") return onChange(made);
    onPart({ [by]: kind === "reference" ? "variable" : "constant", [name]: made });
  };
  return (
    <span className="typed-value">
      {kinds.length > 1 && (
        <select
          className="small-select"
          aria-label={f("kind", label)}
          value={kind}
          onChange={(event) => pick(event.target.value as Kind)}
        >
          {[...new Set([...kinds, kind])].map((each) => (
            <option key={each} value={each}>
              {f(`kind_${each}`)}
            </option>
          ))}
        </select>
      )}
      <Editor
        {...props}
        id={id}
        kind={kind}
        bare={by !== undefined || right === "reference"}
        depth={depth}
        onChange={write}
      />
    </span>
  );
}

function Editor({
  kind,
  bare,
  depth,
  ...props
}: ControlProps & { kind: Kind; bare: boolean; depth: number }): React.ReactNode {
  const f = useFormText();
  const { id, node, label, value, hint, onChange } = props;
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : show(value);
  switch (kind) {
    case "empty":
      return null;
    case "number":
      return (
        <input
          id={id}
          type="number"
          step="any"
          value={typeof value === "number" || typeof value === "string" ? value : ""}
          onChange={(event) => {
            if (!event.target.validity.badInput)
              onChange(event.target.value === "" ? undefined : Number(event.target.value));
          }}
        />
      );
    case "boolean":
      return (
        <select id={id} value={String(value)} onChange={(event) => onChange(event.target.value === "true")}>
          <option value="true">{f("yes")}</option>
          <option value="false">{f("no")}</option>
        </select>
      );
    case "list":
      return depth >= deepest ? <AsJson {...props} /> : <ValueList {...props} depth={depth} />;
    case "object":
      return depth >= deepest ? <AsJson {...props} /> : <ValueMembers {...props} depth={depth} />;
    case "reference":
      return bare ? (
        <Prompt node={node} label={label} text={text} hint={hint} bare onChange={onChange} />
      ) : (
        <Prompt node={node} label={label} text={text} hint={hint} bare="known" onChange={onChange} />
      );
    case "text":
      return <Prompt node={node} label={label} text={text} hint={hint} onChange={onChange} />;
  }
}

const inner: ControlProps["schema"] = { "x-easel": { widget: "value" } };

function ValueList({ depth, ...props }: ControlProps & { depth: number }): React.ReactNode {
  const { label, value, onChange } = props;
  const list: unknown[] = Array.isArray(value) ? value : [];
  return (
    <Rows label={label} value={list} make={() => ""} onChange={onChange}>
      {(each, i) => (
        <Typed
          {...props}
          id={`${props.id}-${i}`}
          schema={inner}
          label={`${label} ${i + 1}`}
          value={each}
          depth={depth + 1}
          onChange={(next) => onChange(list.with(i, next ?? ""))}
        />
      )}
    </Rows>
  );
}

function ValueMembers({ depth, ...props }: ControlProps & { depth: number }): React.ReactNode {
  const t = useText();
  const { label, value, onChange } = props;
  const record: Params = isObject(value) ? value : {};
  const list = Object.entries(record);
  const write = (next: [string, unknown][]): void => onChange(Object.fromEntries(next));
  return (
    <Rows label={label} value={list} make={(): [string, unknown] => [unused(record), ""]} onChange={write}>
      {([name, each], i) => (
        <>
          <input
            key={name}
            type="text"
            aria-label={`${t("form.key")} ${i + 1}`}
            defaultValue={name}
            spellCheck={false}
            onBlur={(event) => {
              const next = event.target.value;
              if (next !== name && next !== "" && !Object.hasOwn(record, next)) write(list.with(i, [next, each]));
              else event.target.value = name;
            }}
          />
          <Typed
            {...props}
            id={`${props.id}-${i}`}
            schema={inner}
            label={`${label} ${name}`}
            value={each}
            depth={depth + 1}
            onChange={(next) => write(list.with(i, [name, next ?? ""]))}
          />
        </>
      )}
    </Rows>
  );
}

function kindsOf(right: ReturnType<typeof rightOf>, empty: boolean, depth: number): Kind[] {
  if (right === "reference") return ["reference"];
  if (right === "number") return ["number", "reference"];
  if (right === "list") return ["text", "list", "reference"];
  const all: Kind[] = ["text", "number", "boolean", "list", "object", "reference"];
  if (depth > 0) return all.filter((each) => each !== "reference");
  return empty ? [...all, "empty"] : all;
}

function emptyIsAllowed({ around }: ControlProps, by: string): boolean {
  return tagOf(around.schemas[by]).options?.some(({ value }) => value === "") ?? false;
}

function presetOf(right: ReturnType<typeof rightOf>, type: string | undefined, typed: boolean): Kind {
  if (right === "reference" || right === "number") return right;
  const kind = kindOf(type);
  return typed && kind !== undefined && kind !== "string" ? (kind as Kind) : "text";
}

// storedKind returns the kind of a stored value; undefined if the value does not determine it.
function storedKind(value: unknown, mode: string | undefined, reference: boolean): Kind | undefined {
  if (mode === "variable") return "reference";
  if (mode === "" && (value === undefined || value === null)) return "empty";
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") {
    if (value === "") return undefined;
    const bare = /^\{+([^{}]+)\}+$/.exec(value)?.[1];
    return reference || (mode === undefined && bare !== undefined && isReference(bare.trim())) ? "reference" : "text";
  }
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  return Array.isArray(value) ? "list" : "object";
}

// agrees reports whether a value can be shown by the editor of a kind.
function agrees(kind: Kind, value: unknown): boolean {
  if (kind === "text" || kind === "reference") return value === undefined || typeof value === "string";
  if (kind === "number") return value === undefined || typeof value === "number";
  if (kind === "boolean") return typeof value === "boolean";
  if (kind === "list") return Array.isArray(value);
  return kind === "object" ? isObject(value) : value === undefined || value === null;
}

function converted(value: unknown, kind: Kind): unknown {
  switch (kind) {
    case "text":
      return value === undefined || value === null ? "" : show(value, 0);
    case "number":
      return Number.isFinite(Number(value)) && value !== "" && value !== null ? Number(value) : 0;
    case "boolean":
      return value === true || value === "true";
    case "list":
      return Array.isArray(value) ? value : value === undefined || value === "" || value === null ? [] : [value];
    case "object":
      return isObject(value) ? value : {};
    case "reference":
      return typeof value === "string" && isReference(value.replaceAll(/[{}]/g, "").trim()) ? value : "";
    case "empty":
      return null;
  }
}
