// Editors of lists and objects: rows, rules, references, variants of a text, values of a request,
// filters by metadata, and kinds of files.

import { useId } from "react";
import type { Schema } from "@easel/engine";
import { isObject, word, type Params } from "../../canvas/dsl.ts";
import { AsJson, Composite } from "./as-json.tsx";
import { OperatorMenu } from "./choice.tsx";
import { Members, ObjectList, Rows, TextList, unused } from "./lists.tsx";
import { operatorOf } from "./operators.ts";
import { PromptField, Words } from "./plain-fields.tsx";
import { Prompt } from "./prompt.tsx";
import type { ControlProps } from "./props.ts";
import { useFormText } from "./text.ts";

function isNothing(value: unknown): value is undefined | null | "" {
  return value === undefined || value === null || value === "";
}

function itemsOf(schema: Schema): Schema {
  return isObject(schema.items) ? schema.items : {};
}

/** RowList edits a list of objects with the same members. */
export function RowList(props: ControlProps): React.ReactNode {
  const { schema, value } = props;
  if (!isNothing(value) && !(Array.isArray(value) && value.every(isObject))) return <AsJson {...props} />;
  return (
    <Composite {...props}>
      <ObjectList {...props} items={itemsOf(schema)} />
    </Composite>
  );
}

/** ConditionList edits rules: a list of them, or a single one. */
export function ConditionList(props: ControlProps): React.ReactNode {
  const { schema, value, onChange } = props;
  if (schema.properties) {
    if (!isNothing(value) && !isObject(value)) return <AsJson {...props} />;
    return <Members {...props} inline value={isObject(value) ? value : {}} onChange={onChange} />;
  }
  if (!isNothing(value) && !(Array.isArray(value) && value.every(isObject))) return <AsJson {...props} />;
  return (
    <Composite {...props}>
      <ObjectList {...props} items={itemsOf(schema)} inline />
    </Composite>
  );
}

/** MemberFields edits an object with known members. */
export function MemberFields(props: ControlProps): React.ReactNode {
  const { value, onChange } = props;
  if (!isNothing(value) && !isObject(value)) return <AsJson {...props} />;
  return <Members {...props} value={isObject(value) ? value : {}} onChange={onChange} />;
}

/** References edits a list of references: texts, or objects with a value. */
export function References(props: ControlProps): React.ReactNode {
  const { node, label, value, onChange } = props;
  const list = typeof value === "string" ? [value] : isNothing(value) ? [] : value;
  if (!Array.isArray(list)) return <AsJson {...props} />;
  const texts: unknown[] = list.map((each: unknown) => (isObject(each) ? each["value"] : each));
  if (!texts.every((each): each is string => typeof each === "string")) return <AsJson {...props} />;
  const objects = list.length > 0 ? list.some(isObject) : itemsOf(props.schema).type === undefined;
  return (
    <Rows
      label={label}
      value={texts}
      make={() => ""}
      onChange={(next) => onChange(objects ? next.map((each) => ({ value: each })) : next)}
    >
      {(text, i) => (
        <Prompt
          node={node}
          label={i === 0 ? label : `${label} ${i + 1}`}
          text={text}
          bare
          onChange={(next) => {
            const old: unknown = list[i];
            onChange(list.with(i, isObject(old) ? { ...old, value: next } : next));
          }}
        />
      )}
    </Rows>
  );
}

/** Files edits files, as references, ids or addresses. */
export function Files(props: ControlProps): React.ReactNode {
  const { value } = props;
  const list = typeof value === "string" && value !== "" ? [value] : isNothing(value) ? [] : value;
  if (!Array.isArray(list) || !list.every((each) => typeof each === "string")) return <AsJson {...props} />;
  return <TextList {...props} value={list as string[]} />;
}

/** Variants edits one text, or several of which one is picked. */
export function Variants(props: ControlProps): React.ReactNode {
  const f = useFormText();
  const { value, onChange } = props;
  const list: unknown = isNothing(value) ? [""] : typeof value === "string" ? [value] : value;
  if (!Array.isArray(list) || !list.every((each) => typeof each === "string")) return <AsJson {...props} />;
  const texts = (list.length === 0 ? [""] : list) as string[];
  const write = (next: string[]): void => onChange(typeof value === "string" && next.length === 1 ? next[0] : next);
  if (texts.length === 1) {
    return (
      <>
        <PromptField {...props} value={texts[0]} onChange={(next) => write([String(next)])} />
        <button type="button" className="link" onClick={() => write([...texts, ""])}>
          {f("variant")}
        </button>
      </>
    );
  }
  return (
    <>
      <TextList {...props} value={texts} />
      <small>{f("variants_hint")}</small>
    </>
  );
}

const methods = ["disabled", "auto", "semi_auto", "manual"] as const;

/** MetadataFilter edits which documents a search takes. */
export function MetadataFilter(props: ControlProps): React.ReactNode {
  const f = useFormText();
  const id = useId();
  const { node, label, value, onChange } = props;
  if (!isNothing(value) && !isObject(value)) return <AsJson {...props} />;
  const filter: Params = isObject(value) ? value : {};
  const method = typeof filter["method"] === "string" && filter["method"] !== "" ? filter["method"] : "disabled";
  const known = methods.find((each) => each === method);
  const rules = (Array.isArray(filter["manual"]) ? filter["manual"] : []).filter(isObject);
  const set = (part: Params): void => onChange({ ...filter, ...part });
  return (
    <div className="composite">
      <select
        aria-label={`${label}: ${f("method")}`}
        value={method}
        onChange={(event) => set({ method: event.target.value })}
      >
        {methods.map((each) => (
          <option key={each} value={each}>
            {f(`method_${each}`)}
          </option>
        ))}
        {known === undefined && <option value={method}>{f("unknown_option", method)}</option>}
      </select>
      {method === "semi_auto" && (
        <Words
          {...props}
          id={`${id}-fields`}
          label={f("fields")}
          value={filter["semi_auto"]}
          onChange={(next) => set({ semi_auto: next })}
        />
      )}
      {method === "manual" && (
        <>
          {rules.length > 1 && (
            <OperatorMenu
              id={`${id}-logic`}
              set="logic"
              label={`${label}: ${f("rules")}`}
              value={filter["logic"] ?? "and"}
              onChange={(logic) => set({ logic })}
            />
          )}
          <MetadataRules node={node} value={rules} onChange={(manual) => set({ manual })} />
        </>
      )}
    </div>
  );
}

function MetadataRules({
  node,
  value,
  onChange,
}: {
  node: string;
  value: Params[];
  onChange(value: Params[]): void;
}): React.ReactNode {
  const f = useFormText();
  const id = useId();
  return (
    <Rows label={f("rules")} value={value} make={(): Params => ({ key: "", op: "=", value: "" })} onChange={onChange}>
      {(rule, i) => {
        const change = (part: Params): void => onChange(value.with(i, { ...rule, ...part }));
        return (
          <div className="member-row">
            <input
              type="text"
              aria-label={f("rule_key", i + 1)}
              value={word(rule["key"] ?? "")}
              onChange={(event) => change({ key: event.target.value })}
            />
            <OperatorMenu
              id={`${id}-${i}`}
              set="metadata"
              label={f("rule_operator", i + 1)}
              value={rule["op"]}
              onChange={(op) => change({ op })}
            />
            {operatorOf("metadata", rule["op"])?.right !== "none" && (
              <Prompt
                node={node}
                label={f("rule_value", i + 1)}
                text={word(rule["value"] ?? "")}
                onChange={(next) => change({ value: next })}
              />
            )}
          </div>
        );
      }}
    </Rows>
  );
}

const kindMembers = ["suffix", "parse_method", "output_format", "lang", "llm_id"] as const;

/** ParserSetups edits how files of each kind are read. */
export function ParserSetups(props: ControlProps): React.ReactNode {
  const f = useFormText();
  const id = useId();
  const { label, value, onChange } = props;
  if (!isNothing(value) && !isObject(value)) return <AsJson {...props} />;
  const record: Params = isObject(value) ? value : {};
  const list = Object.entries(record).map(([kind, each]): [string, Params] => [kind, isObject(each) ? each : {}]);
  const write = (next: [string, Params][]): void => onChange(Object.fromEntries(next));
  return (
    <Composite {...props}>
      <Rows label={label} value={list} make={(): [string, Params] => [unused(record, "pdf"), {}]} onChange={write}>
        {([kind, each], i) => (
          <>
            <input
              key={kind}
              type="text"
              aria-label={f("file_kind", i + 1)}
              defaultValue={kind}
              onBlur={(event) => {
                const next = event.target.value.trim();
                if (next !== "" && !Object.hasOwn(record, next)) write(list.with(i, [next, each]));
                else event.target.value = kind;
              }}
            />
            {kindMembers.map((member) => {
              const set = (next: unknown): void => write(list.with(i, [kind, { ...each, [member]: next }]));
              const field = `${id}-${i}-${member}`;
              return (
                <div key={member} className="member">
                  <label htmlFor={field}>{f(member)}</label>
                  {member === "suffix" ? (
                    <Words {...props} id={field} label={f(member)} value={each[member]} onChange={set} />
                  ) : (
                    <input
                      id={field}
                      type="text"
                      value={word(each[member] ?? "")}
                      onChange={(event) => set(event.target.value)}
                    />
                  )}
                </div>
              );
            })}
          </>
        )}
      </Rows>
    </Composite>
  );
}
