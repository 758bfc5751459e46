// Editors of lists and of names with values.

import { useEffect, useId, useRef } from "react";
import type { Schema } from "@easel/engine";
import type { Params } from "../../canvas/dsl.ts";
import { isObject, word } from "../../canvas/dsl.ts";
import { useSpecText, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { AsJson } from "./as-json.tsx";
import { Prompt } from "./prompt.tsx";
import { useEditors, type ControlProps } from "./props.ts";
import { isShown, rewritten, type Around } from "./shown.ts";
import { useFormText } from "./text.ts";

/** Rows frames the elements of a list: each can be moved and removed. */
export function Rows<T>({
  label,
  value,
  onChange,
  make,
  children,
}: {
  label: string;
  value: readonly T[];
  onChange(value: T[]): void;
  make?: (() => T) | undefined;
  children(each: T, index: number): React.ReactNode;
}): React.ReactNode {
  const t = useText();
  const rows = useRef<HTMLDivElement>(null);
  const added = useRef(false);
  useEffect(() => {
    if (!added.current) return;
    added.current = false;
    const last = rows.current?.querySelector(".row-item:nth-last-of-type(1) .row-body");
    const editor = [...(last?.querySelectorAll("*") ?? [])].find((each) => each.shadowRoot)?.shadowRoot;
    const field = editor?.querySelector<HTMLElement>(".cm-content");
    (field ?? last?.querySelector<HTMLElement>("input, select, textarea"))?.focus();
  }, [value.length]);
  const swap = (from: number, to: number): void =>
    onChange(value.toSpliced(from, 1).toSpliced(to, 0, value[from] as T));
  return (
    <div ref={rows} className="rows">
      {value.map((each, i) => (
        <div key={i} className="row-item" role="group" aria-label={`${label} ${i + 1}`}>
          <div className="row-body">{children(each, i)}</div>
          <span className="row-tools">
            {i > 0 && (
              <button
                type="button"
                className="icon-button"
                aria-label={`${t("form.move_up")}: ${label} ${i + 1}`}
                title={t("form.move_up")}
                onClick={() => swap(i, i - 1)}
              >
                ↑
              </button>
            )}
            <button
              type="button"
              className="icon-button"
              aria-label={`${t("form.remove")} ${label} ${i + 1}`}
              title={t("form.remove")}
              onClick={() => onChange(value.toSpliced(i, 1))}
            >
              <Icon name="cross" />
            </button>
          </span>
        </div>
      ))}
      {make && (
        <button
          type="button"
          className="add"
          aria-label={`${t("form.add")}: ${label}`}
          onClick={() => {
            added.current = true;
            onChange([...value, make()]);
          }}
        >
          <Icon name="plus" />
          {t("form.add")}
        </button>
      )}
    </div>
  );
}

/** TextList edits a list of texts. */
export function TextList({ node, label, value, onChange }: ControlProps & { value: string[] }): React.ReactNode {
  return (
    <Rows label={label} value={value} make={() => ""} onChange={onChange}>
      {(text, i) => (
        <Prompt
          node={node}
          label={i === 0 ? label : `${label} ${i + 1}`}
          text={text}
          onChange={(next) => onChange(value.with(i, next))}
        />
      )}
    </Rows>
  );
}

const roles = ["user", "assistant", "system"] as const;

/**
 * Messages edits what a model is asked: one text, or a list of roles with texts for examples.
 */
export function Messages(props: ControlProps): React.ReactNode {
  const t = useText();
  const f = useFormText();
  const { node, label, value, hint, onChange } = props;
  const nothing = value === undefined || value === null || value === "";
  const list = Array.isArray(value) ? value.filter(isObject) : [];
  if (!nothing && typeof value !== "string" && (!Array.isArray(value) || list.length !== value.length))
    return <AsJson {...props} />;
  const set = (i: number, part: Params): void => onChange(list.with(i, { ...list[i], ...part }));
  const only = list[0];
  if (typeof value === "string" || list.length === 0 || (list.length === 1 && only?.["role"] === "user")) {
    const text = typeof value === "string" ? value : word(only?.["content"] ?? "");
    const make = (content: string): unknown =>
      typeof value === "string" ? content : [{ role: "user", ...only, content }];
    return (
      <>
        <Prompt node={node} label={label} text={text} hint={hint} onChange={(content) => onChange(make(content))} />
        <button
          type="button"
          className="link"
          onClick={() =>
            onChange([
              { role: "user", content: "" },
              { role: "assistant", content: "" },
              { role: "user", ...only, content: text },
            ])
          }
        >
          {f("turns")}
        </button>
      </>
    );
  }
  return (
    <Rows label={label} value={list} make={() => ({ role: "user", content: "" })} onChange={onChange}>
      {(each, i) => {
        const role = typeof each["role"] === "string" ? each["role"] : "user";
        const known = roles.find((name) => name === role);
        return (
          <>
            <select
              className="small-select"
              aria-label={`${t("form.role")} ${i + 1}`}
              value={role}
              onChange={(event) => set(i, { role: event.target.value })}
            >
              {roles.map((name) => (
                <option key={name} value={name}>
                  {f(`role_${name}`)}
                </option>
              ))}
              {known === undefined && <option value={role}>{f("unknown_option", role)}</option>}
            </select>
            <Prompt
              node={node}
              label={t("form.message", i + 1)}
              text={word(each["content"] ?? "")}
              onChange={(content) => set(i, { content })}
            />
          </>
        );
      }}
    </Rows>
  );
}

/** ObjectList edits a list of objects whose members a schema describes. */
export function ObjectList({
  items,
  inline,
  ...props
}: ControlProps & { items: Schema; inline?: boolean }): React.ReactNode {
  const { label, value, onChange } = props;
  const list = (Array.isArray(value) ? value : []).filter(isObject);
  return (
    <Rows label={label} value={list} make={() => emptyOf(items)} onChange={onChange}>
      {(each, i) => (
        <Members
          {...props}
          inline={inline}
          schema={items}
          value={each}
          onChange={(next) => onChange(list.with(i, next))}
        />
      )}
    </Rows>
  );
}

function emptyOf({ properties = {} }: Schema): Params {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Members edits the members of an object that a schema describes. */
export function Members({
  node,
  spec,
  schema,
  value,
  but = [],
  inline,
  onChange,
}: Pick<ControlProps, "node" | "spec" | "schema"> & {
  value: Params;
  but?: readonly string[];
  /** The members stand in one row, without visible labels. */
  inline?: boolean | undefined;
  onChange(value: Params): void;
}): React.ReactNode {
  const words = useSpecText();
  const { Control } = useEditors();
  const id = useId();
  const around: Around = { params: value, schemas: schema.properties ?? {} };
  const members = Object.entries(around.schemas)
    .filter(([name]) => !but.includes(name) && isShown(name, around))
    .map(([name, each]) => (
      <div key={name} className="member" data-inline={inline || undefined}>
        <label htmlFor={`${id}-${name}`} className={inline ? "sr" : undefined}>
          {words(each.title ?? name)}
        </label>
        <Control
          id={`${id}-${name}`}
          node={node}
          spec={spec}
          name={name}
          label={words(each.title ?? name)}
          schema={each}
          value={value[name]}
          hint=""
          around={around}
          onChange={(next) => onChange(changed(rewritten(around), { [name]: next }))}
          onPart={(part) => onChange(changed(rewritten(around), part))}
        />
      </div>
    ));
  return inline ? <div className="member-row">{members}</div> : members;
}

// changed returns an object with other members; undefined removes one.
function changed(value: Params, part: Params): Params {
  return Object.fromEntries(Object.entries({ ...value, ...part }).filter(([, each]) => each !== undefined));
}

/** Pairs edits names with values. */
export function Pairs(props: ControlProps): React.ReactNode {
  const t = useText();
  const { node, label, onChange } = props;
  const value = recordOf(props.value);
  if (value === undefined) return <AsJson {...props} />;
  const list = Object.entries(value);
  const write = (next: [string, unknown][]): void => onChange(Object.fromEntries(next));
  return (
    <Rows label={label} value={list} make={(): [string, unknown] => [unused(value), ""]} onChange={write}>
      {([name, each], i) => (
        <>
          <input
            type="text"
            aria-label={`${t("form.key")} ${i + 1}`}
            defaultValue={name}
            key={name}
            spellCheck={false}
            onBlur={(event) => {
              if (event.target.value !== name && event.target.value !== "")
                write(list.with(i, [event.target.value, each]));
            }}
          />
          <Prompt
            node={node}
            label={`${t("form.value")} ${i + 1}`}
            text={word(each ?? "")}
            bare="known"
            onChange={(text) => write(list.with(i, [name, text]))}
          />
        </>
      )}
    </Rows>
  );
}

// recordOf returns names with plain values, also of the JSON text that RAGFlow stores; undefined
// for another value.
function recordOf(value: unknown): Params | undefined {
  if (value === undefined || value === null || value === "") return {};
  if (typeof value === "string") {
    try {
      return recordOf(JSON.parse(value) as unknown);
    } catch {
      return undefined; // it is shown as it is
    }
  }
  return isObject(value) && Object.values(value).every((each) => typeof each !== "object") ? value : undefined;
}

/** unused returns a name that a record does not have. */
export function unused(record: Params, name = "name"): string {
  for (let number = 1, made = name; ; made = `${name}_${++number}`) if (!Object.hasOwn(record, made)) return made;
}
