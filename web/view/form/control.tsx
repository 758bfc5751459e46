// The editor of one value, chosen by its schema, by what the component says of it, and by the
// value.

import { lazy, Suspense, useState } from "react";
import type { ComponentSpec, Schema } from "@easel/engine";
import { isObject } from "../../canvas/dsl.ts";
import { namesDatasets } from "../../canvas/summary.ts";
import { useApp, useStore, useText } from "../context.tsx";
import { brief } from "../text.ts";
import { JsonEdit } from "../value.tsx";
import { BranchList, Targets } from "./branches.tsx";
import type { Language } from "./code-languages.ts";
import { Connection, connects } from "./connect.tsx";
import { FieldList } from "./fields.tsx";
import { Messages, ObjectList, Pairs, TextList } from "./lists.tsx";
import { ModelField } from "./model.tsx";
import { Prompt } from "./prompt.tsx";
import { typeOf, type ControlProps } from "./props.ts";
import { ToolList } from "./tools.tsx";

const DatasetPicker = lazy(() => import("./datasets.tsx"));

/** Control edits one value. */
export function Control(props: ControlProps): React.ReactNode {
  const { spec, name, schema, value } = props;
  const kind = connects(props);
  if (kind) return <Connection {...props} kind={kind} />;
  const branch = spec?.branches?.find(({ param }) => param === name);
  if (branch) return branch.to === undefined ? <Targets {...props} /> : <BranchList {...props} branch={branch} />;
  if (name === "exception_goto") return <Targets {...props} />;
  if (name === "tools") return <ToolList {...props} />;
  if (name === "inputs" && (value === undefined || isObject(value))) return <FieldList {...props} />;
  if (namesDatasets(name) && isNames(value)) {
    return <Suspense fallback={<Composite {...props} />}><DatasetPicker {...props} value={value ?? []} /></Suspense>;
  }
  if (name === "llm_id") return <ModelField {...props} />;
  return schema.enum ? <Select {...props} /> : <Plain {...props} />;
}

function isNames(value: unknown): value is string[] | null | undefined {
  const list = value ?? [];
  return Array.isArray(list) && list.every((each) => typeof each === "string");
}

function Plain(props: ControlProps): React.ReactNode {
  const { id, node, label, spec, schema, value, hint, onChange } = props;
  const type = typeOf(schema);
  if (type === "boolean") {
    return (
      <input
        id={id}
        type="checkbox"
        checked={Boolean(value ?? schema.default)}
        onChange={(event) => onChange(event.target.checked)}
      />
    );
  }
  if ((type === "number" || type === "integer") && typeof value !== "string") {
    return (
      <input
        id={id}
        type="number"
        min={schema.minimum}
        max={schema.maximum}
        step={type === "integer" ? 1 : "any"}
        placeholder={hint}
        value={typeof value === "number" ? value : ""}
        onChange={(event) => onChange(event.target.value === "" ? null : Number(event.target.value))}
      />
    );
  }
  const texts = type === "string" || (type === undefined && schema.format !== undefined);
  if (typeof value === "string" || ((value === undefined || value === null) && texts)) {
    const text = typeof value === "string" ? value : "";
    if (schema.format === "code") {
      return <Prompt node={node} label={label} text={text} language={languageOf(spec, props)} onChange={onChange} />;
    }
    if (schema.format === "text" || schema.format === "reference" || /[{\n]/.test(text) || text.length > 60) {
      return (
        <Prompt
          node={node}
          label={label}
          text={text}
          hint={hint}
          bare={schema.format === "reference"}
          onChange={onChange}
        />
      );
    }
    const kind = schema.format === "secret" ? "password" : "text";
    return (
      <input
        id={id}
        type={kind}
        autoComplete="off"
        value={text}
        placeholder={hint}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return <Composite {...props} />;
}

// Composite edits lists and objects; JSON is a second view of them.
function Composite(props: ControlProps): React.ReactNode {
  const t = useText();
  const { id, label, schema, value, onChange } = props;
  const [json, setJson] = useState(false);
  const form = formOf(props);
  if (!form || json) {
    return (
      <div>
        <AsJson id={id} label={label} value={value ?? schema.default ?? null} open={json} onChange={onChange} />
        {form && (
          <button type="button" className="link" onClick={() => setJson(false)}>
            {t("form.as_form")}
          </button>
        )}
      </div>
    );
  }
  return (
    <div className="composite">
      {form}
      <button type="button" className="link" onClick={() => setJson(true)}>
        {t("form.as_json")}
      </button>
    </div>
  );
}

function formOf(props: ControlProps): React.ReactNode {
  const { schema, value } = props;
  const type = typeOf(schema);
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  const nothing = value === undefined || value === null;
  if ((Array.isArray(value) || nothing) && isObject(schema.items) && typeOf(schema.items) === "object") {
    return list.every(isObject) ? <ObjectList {...props} items={schema.items} value={list} /> : undefined;
  }
  if (list.length > 0 && list.every((each) => isObject(each) && typeof each["content"] === "string"))
    return <Messages {...props} value={list} />;
  if (props.name === "prompts" && nothing) return <Messages {...props} value={[]} />;
  if (type === "array" && (nothing || Array.isArray(value)) && list.every((each) => typeof each === "string")) {
    return <TextList {...props} value={list as string[]} />;
  }
  if (list.length > 0 && list.every((each) => typeof each === "string"))
    return <TextList {...props} value={list as string[]} />;
  const pairs = isObject(value) ? Object.values(value) : [];
  if (
    type === "object" &&
    (nothing || isObject(value)) &&
    !schema.properties &&
    pairs.every((each) => typeof each !== "object")
  ) {
    return <Pairs {...props} value={isObject(value) ? value : {}} />;
  }
  return undefined;
}

function languageOf(spec: ComponentSpec | undefined, { node }: ControlProps): Language {
  const { session } = useApp();
  const params = useStore(session.document, (document) => document?.model.byId.get(node)?.params);
  const chosen = params?.["lang"] ?? (spec?.params?.properties?.["lang"] as Schema | undefined)?.default;
  if (chosen === "python" || chosen === "python3") return "python";
  return chosen === "javascript" || chosen === "nodejs" ? "javascript" : "text";
}

function Select({ id, schema, value, onChange }: ControlProps): React.ReactNode {
  const choices = schema.enum ?? [];
  const current = value ?? schema.default ?? "";
  const options = choices.includes(current) ? choices : [current, ...choices];
  return (
    <select
      id={id}
      value={String(current)}
      onChange={(event) => onChange(options.find((each) => String(each) === event.target.value))}
    >
      {options.map((each) => (
        <option key={String(each)} value={String(each)}>
          {String(each)}
        </option>
      ))}
    </select>
  );
}

function AsJson({
  id,
  label,
  value,
  open: shown,
  onChange,
}: {
  id: string;
  label: string;
  value: unknown;
  open: boolean;
  onChange(value: unknown): void;
}): React.ReactNode {
  const t = useText();
  const [open, setOpen] = useState(shown);
  return (
    <div>
      <button id={id} type="button" className="json-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        {value === null ? t("form.unset") : brief(value, 60)}
      </button>
      {open && (
        <JsonEdit
          value={value}
          label={t("form.json", label)}
          action={t("model.done")}
          onDone={(next) => {
            onChange(next);
            setOpen(false);
          }}
        />
      )}
    </div>
  );
}
