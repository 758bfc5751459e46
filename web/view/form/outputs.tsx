// The outputs that a node declares: what a script returns, or what a group collects from the steps
// inside it.

import { useMemo } from "react";
import { isObject, word, type Params } from "../../canvas/dsl.ts";
import { outputsOf, type Usable } from "../../canvas/upstream.ts";
import { useApp, useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { AsJson } from "./as-json.tsx";
import { Rows, unused } from "./lists.tsx";
import { kindOf } from "./operators.ts";
import type { ControlProps } from "./props.ts";
import { tagOf } from "./shown.ts";
import { useFormText, type FormKey } from "./text.ts";

type Row = [name: string, output: Params];

/** Outputs edits declared outputs. Renaming one renames the references to it. */
export function Outputs(props: ControlProps): React.ReactNode {
  const f = useFormText();
  const { session } = useApp();
  const { node, label, schema, value, onChange } = props;
  const collected = tagOf(schema).kind === "collected";
  const sources = useSources(node);
  if (value !== undefined && value !== null && !isObject(value)) return <AsJson {...props} />;
  const record: Params = isObject(value) ? value : {};
  const list = Object.entries(record).map(([name, each]): Row => [name, isObject(each) ? each : {}]);
  const write = (next: Row[]): void => onChange(Object.fromEntries(next));
  const propose = (source: Usable): void =>
    write([...list, [unused(record, source.name), { type: listOf(source.type), ref: source.ref }]]);
  const taken = new Set(list.map(([, each]) => each["ref"]));
  const free = collected ? sources.filter(({ ref }) => !taken.has(ref)) : [];
  return (
    <>
      {collected && list.length === 0 && <small>{f("output_none")}</small>}
      <Rows
        label={label}
        value={list}
        make={(): Row => [
          unused(record, "result"),
          collected ? { type: "Array<Any>", ref: "" } : { type: "Any", value: "" },
        ]}
        onChange={write}
      >
        {([name, each], i) => {
          const set = (part: Params): void => write(list.with(i, [name, { ...each, ...part }]));
          return (
            <div className="member-row">
              <NameField
                label={f("output_name", i + 1)}
                name={name}
                free={(next) => !Object.hasOwn(record, next)}
                onRename={(next) => session.editing.renameOutput(node, name, next)}
              />
              {collected ? (
                <SourceMenu
                  label={f("output_source", i + 1)}
                  sources={sources}
                  value={word(each["ref"] ?? "")}
                  onChange={(source) => set({ ref: source.ref, type: listOf(source.type) })}
                />
              ) : (
                <TypeMenu
                  label={f("output_type", i + 1)}
                  value={word(each["type"] ?? "")}
                  onChange={(type) => set({ type })}
                />
              )}
            </div>
          );
        }}
      </Rows>
      {free.slice(0, 3).map((source) => (
        <button key={source.ref} type="button" className="add" onClick={() => propose(source)}>
          <Icon name="plus" />
          {f("output_propose", `${source.from} › ${source.name}`)}
        </button>
      ))}
    </>
  );
}

// useSources lists the outputs of the steps inside a group.
function useSources(node: string): Usable[] {
  const { session } = useApp();
  const model = useStore(session.document, (document) => document?.model);
  const specs = useStore(session.specs, (all) => all);
  return useMemo(() => {
    const inside = (model?.nodes ?? []).filter((each) => each.parent === node && each.role !== "item");
    return inside.flatMap((each) => outputsOf(each, specs));
  }, [model, specs, node]);
}

// listOf returns the type of a list of values of a type, in RAGFlow's words.
function listOf(type: string): string {
  const names: Record<string, string> = { string: "String", number: "Number", boolean: "Boolean", object: "Object" };
  return `Array<${names[kindOf(type) ?? ""] ?? "Any"}>`;
}

function NameField({
  label,
  name,
  free,
  onRename,
}: {
  label: string;
  name: string;
  free(name: string): boolean;
  onRename(name: string): void;
}): React.ReactNode {
  return (
    <input
      key={name}
      type="text"
      className="mono"
      aria-label={label}
      defaultValue={name}
      spellCheck={false}
      onBlur={(event) => {
        const next = event.target.value.trim();
        if (next === name) return;
        if (/^[\w-]+$/.test(next) && free(next)) onRename(next);
        else event.target.value = name;
      }}
    />
  );
}

function SourceMenu({
  label,
  sources,
  value,
  onChange,
}: {
  label: string;
  sources: readonly Usable[];
  value: string;
  onChange(source: Usable): void;
}): React.ReactNode {
  const f = useFormText();
  const known = sources.some(({ ref }) => ref === value);
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => {
        const source = sources.find(({ ref }) => ref === event.target.value);
        if (source) onChange(source);
      }}
    >
      {!known && <option value={value}>{value === "" ? f("none") : f("unknown_option", value)}</option>}
      {sources.map(({ ref, from, name }) => (
        <option key={ref} value={ref}>
          {from} › {name}
        </option>
      ))}
    </select>
  );
}

const types: readonly [stored: string, label: FormKey][] = [
  ["Any", "type_any"], ["String", "type_text"], ["Number", "type_number"], ["Boolean", "type_boolean"],
  ["Object", "type_object"], ["Array<String>", "type_list_text"], ["Array<Number>", "type_list_number"],
  ["Array<Object>", "type_list_object"],
];

function TypeMenu({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange(type: string): void;
}): React.ReactNode {
  const t = useText();
  const f = useFormText();
  const known = types.find(([stored]) => stored.toLowerCase() === value.toLowerCase());
  return (
    <select aria-label={label} value={known?.[0] ?? value} onChange={(event) => onChange(event.target.value)}>
      {!known && <option value={value}>{value === "" ? t("form.unset") : f("unknown_option", value)}</option>}
      {types.map(([stored, key]) => (
        <option key={stored} value={stored}>
          {f(key)}
        </option>
      ))}
    </select>
  );
}
