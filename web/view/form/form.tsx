// Settings of a node as a form, made from the component's JSON Schema.

import { useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { ComponentSpec, Diagnostic, Schema } from "@easel/engine";
import { own, type Params } from "../../canvas/dsl.ts";
import { useSpecText, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { Reason } from "../reason.tsx";
import { useSpoken } from "../spoken.ts";
import { brief, sentence } from "../text.ts";
import { Control } from "./control.tsx";
import { firstOf, land } from "./land.ts";
import { EditorsContext, type Editors, type FormProps } from "./props.ts";
import { FormSearch } from "./search.tsx";
import {
  aroundOf, canonical, differs, guess, keyOf, optionsOf, partsOf, tagOf, widgetOf, type Around, type Part,
} from "./shown.ts";
import { useFormText } from "./text.ts";

const many = 9; // settings from which a search helps

/** SettingsForm edits parameters one by one. */
export default function SettingsForm(props: FormProps): React.ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const { Trial } = props;
  const editors = useMemo((): Editors => ({ Control, Form, Trial }), [Trial]);
  const { node, spec, params, tool = false, searchable = false, enters = false, onEntered } = props;
  const parts = partsOf(spec, params, tool);
  const names = parts.flatMap((part) => part.names);
  useLayoutEffect(() => {
    if (!enters) return;
    onEntered?.();
    land(box.current, firstOf(spec, names));
  }, [enters, node]);
  return (
    <EditorsContext value={editors}>
      <div ref={box} className="settings-form">
        {searchable && names.length > many && (
          <FormSearch
            names={names} around={aroundOf(spec, params, tool)} onFound={(name) => land(box.current, name, true)}
          />
        )}
        <Form {...props} />
      </div>
    </EditorsContext>
  );
}

function Form(props: FormProps): React.ReactNode {
  const t = useText();
  const { spec, params, tool = false, problems = [] } = props;
  const around = aroundOf(spec, params, tool);
  const parts = partsOf(spec, params, tool);
  if (parts.length === 0) return <p className="quiet">{t("node.no_settings")}</p>;
  const row = (name: string): React.ReactNode => <Row key={name} {...props} name={name} around={around} />;
  return (
    <div className="settings">
      {parts.map((part) =>
        part.section === "main" ? (
          part.names.map(row)
        ) : (
          <Section
            key={part.section}
            part={part}
            around={around}
            bad={problems.some(({ param }) => part.names.includes(headOf(param)))}
          >
            {part.names.map(row)}
          </Section>
        ),
      )}
    </div>
  );
}

function headOf(param: string | undefined): string {
  return param?.split(/[.[]/)[0] ?? "";
}

const open: ReadonlySet<string> = new Set(["prompt", "tools"]);

// Section is a part with a heading. One that is closed names what differs from the defaults.
function Section({
  part,
  around,
  bad,
  children,
}: {
  part: Part;
  around: Around;
  bad: boolean;
  children: React.ReactNode;
}): React.ReactNode {
  const f = useFormText();
  const { section } = part;
  const starts = open.has(section) || part.names.some((name) => tagOf(around.schemas[name]).widget === "outputs");
  const different = useDifferences(part, around);
  if (section === "main") return children;
  return (
    <details className="more" open={starts || bad || undefined}>
      <summary>
        {f(`section_${section}`)}
        {different !== "" && <span className="quiet differs"> {different}</span>}
      </summary>
      {children}
    </details>
  );
}

// useDifferences returns the values of a part that are not the defaults, in words.
function useDifferences({ names }: Part, around: Around): string {
  const words = useSpecText();
  const f = useFormText();
  return names
    .flatMap((name) => {
      const schema = own(around.schemas, name) ?? {};
      const value = around.params[keyOf(name, around)];
      if (!differs(schema, value)) return [];
      const label = words(schema.title ?? name);
      if (typeof value === "boolean") return [value ? label : `${label}: ${f("off")}`];
      const option = optionsOf(schema).find((each) => each.value === canonical(schema, value));
      if (option) return [`${label}: ${words(option.label)}`];
      return [typeof value === "number" ? `${label} ${value}` : label];
    })
    .join(" · ");
}

function Row({
  node,
  spec,
  name,
  params,
  around,
  changed,
  problems = [],
  onChange,
}: FormProps & { name: string; around: Around }): React.ReactNode {
  const key = keyOf(name, around);
  const schema = own(around.schemas, name) ?? guess(params[name]);
  const { enable } = tagOf(schema);
  const setting = (
    <Setting
      node={node}
      name={name}
      spec={spec}
      schema={schema}
      around={around}
      value={params[key]}
      changed={key in changed}
      problems={problems.filter(({ param }) => [name, key].includes(headOf(param)))}
      onChange={(value) => {
        if (enable !== undefined) enabling(around, name, value !== undefined).forEach(([k, v]) => onChange(k, v));
        onChange(key, value);
      }}
      onPart={(part) => Object.entries(part).forEach(([k, v]) => onChange(k === name ? key : k, v))}
    />
  );
  if (enable === undefined) return setting;
  return (
    <Enabled
      name={name}
      around={around}
      onChange={(on) => enabling(around, name, on).forEach(([k, v]) => onChange(k, v))}
    >
      {setting}
    </Enabled>
  );
}

// enabled reports whether a value counts. Without any of the switches, all values do.
function enabled(around: Around, name: string): boolean {
  const enable = tagOf(around.schemas[name]).enable ?? "";
  const none = switches(around).every(([, each]) => typeof around.params[each] !== "boolean");
  return none ? around.params[name] !== undefined && around.params[name] !== null : around.params[enable] === true;
}

function switches({ schemas }: Around): [name: string, enable: string][] {
  return Object.entries(schemas).flatMap(([name, schema]): [string, string][] => {
    const { enable } = tagOf(schema);
    return enable === undefined ? [] : [[name, enable]];
  });
}

// enabling returns the switches that change when one does: the first one sets the others too, since
// from then on a missing one is off.
function enabling(around: Around, name: string, on: boolean): [string, boolean][] {
  return switches(around).flatMap(([each, enable]): [string, boolean][] => {
    const next = each === name ? on : enabled(around, each);
    const now = around.params[enable];
    return next === (now === true) && (now !== undefined || !next) ? [] : [[enable, next]];
  });
}

function Enabled({
  name,
  around,
  children,
  onChange,
}: {
  name: string;
  around: Around;
  children: React.ReactNode;
  onChange(on: boolean): void;
}): React.ReactNode {
  const f = useFormText();
  const words = useSpecText();
  const label = words(around.schemas[name]?.title ?? name);
  return (
    <div className="enabled">
      <input
        type="checkbox"
        aria-label={f("use", label)}
        checked={enabled(around, name)}
        onChange={(event) => onChange(event.target.checked)}
      />
      {children}
    </div>
  );
}

function Setting({
  node,
  name,
  spec,
  schema,
  around,
  value,
  changed,
  problems,
  onChange,
  onPart,
}: {
  node: string;
  name: string;
  spec: ComponentSpec | undefined;
  schema: Schema;
  around: Around;
  value: unknown;
  changed: boolean;
  problems: readonly Diagnostic[];
  onChange(value: unknown): void;
  onPart(part: Params): void;
}): React.ReactNode {
  const t = useText();
  const f = useFormText();
  const words = useSpecText();
  const id = useId();
  const [left, setLeft] = useState(false);
  const tag = tagOf(schema);
  const label = words(schema.title ?? name);
  const about = schema.description ? sentence(words(schema.description)) : "";
  const empty = value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
  const inRow = widgetOf(schema, value) === "toggle";
  return (
    <div
      className="setting"
      data-param={name}
      data-row={inRow || undefined}
      data-bad={problems.length > 0 || undefined}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setLeft(true);
      }}
    >
      <Head id={id} name={name} label={label} about={about}>
        {changed && <span className="chip">{t("node.changed")}</span>}
        {schema.default !== undefined && differs(schema, value) && (
          <button
            type="button"
            className="field-dot"
            aria-label={f("reset", label)}
            title={f("reset_hint")}
            onClick={() => onChange(undefined)}
          />
        )}
        {tag.examples && <Examples label={label} list={tag.examples} onChange={onChange} />}
      </Head>
      <Control
        id={id}
        node={node}
        name={name}
        label={label}
        spec={spec}
        schema={schema}
        value={value}
        hint={hintOf(schema, t)}
        around={around}
        describedBy={about === "" ? undefined : `${id}-about`}
        onChange={onChange}
        onPart={onPart}
      />
      <Findings problems={problems} />
      {tag.want !== undefined && left && empty && schema.default === undefined && problems.length === 0 && (
        <p className="field-problem" data-severity="warning">
          {words(tag.want)}
        </p>
      )}
      {tag.hint !== undefined && <small>{words(tag.hint)}</small>}
    </div>
  );
}

function Findings({ problems }: { problems: readonly Diagnostic[] }): React.ReactNode {
  const spoken = useSpoken();
  return problems.map((problem, i) => (
    <p key={i} className="field-problem" data-severity={problem.severity}>
      <Reason code={problem.code} message={spoken(problem.message)} most={300} />
    </p>
  ));
}

function hintOf(schema: Schema, t: ReturnType<typeof useText>): string {
  const { default: fallback } = schema;
  if (fallback === undefined || fallback === "" || typeof fallback === "boolean") return "";
  return t("form.default", brief(fallback, 30));
}

// Head is the label of a field, with its explanation on demand.
function Head({
  id,
  name,
  label,
  about,
  children,
}: {
  id: string;
  name: string;
  label: string;
  about: string;
  children: React.ReactNode;
}): React.ReactNode {
  const f = useFormText();
  const [shown, setShown] = useState(false);
  return (
    <>
      <span className="setting-head">
        <label htmlFor={id} title={name}>
          {label}
        </label>
        {about !== "" && (
          <button
            type="button"
            className="icon-button about"
            aria-label={f("about", label)}
            aria-expanded={shown}
            aria-controls={`${id}-about`}
            onClick={() => setShown(!shown)}
          >
            <Icon name="help" />
          </button>
        )}
        {children}
      </span>
      {about !== "" && (
        <small id={`${id}-about`} className="about-text" hidden={!shown}>
          {about}
        </small>
      )}
    </>
  );
}

function Examples({
  label,
  list,
  onChange,
}: {
  label: string;
  list: readonly string[];
  onChange(value: string): void;
}): React.ReactNode {
  const f = useFormText();
  return (
    <select
      className="small-select"
      aria-label={f("examples", label)}
      value=""
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="" />
      {list.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
}
