// Which params a form shows, in which part and with which editor, by the tags of their schemas.

import type { ComponentSpec, FormTag, Option, OperatorSet, Schema, Section, Widget } from "@easel/engine";
import { isObject, own, word, type Params } from "../../canvas/dsl.ts";
import { same } from "../../canvas/patch.ts";
import { operatorOf } from "./operators.ts";

/** sectionOrder are the parts of a form from top to bottom. */
export const sectionOrder: readonly Section[] = ["main", "prompt", "tools", "output", "fail", "advanced"];

/** Around is the context of a param: its sibling values and their schemas. */
export interface Around {
  params: Params;
  schemas: Readonly<Record<string, Schema>>;
  /** The component is a tool of an agent. */
  tool?: boolean | undefined;
}

/** tagOf returns the form tag of a schema. */
export function tagOf(schema: Schema | undefined): FormTag {
  return schema?.["x-easel"] ?? {};
}

/** keyOf returns the name under which a document has a param: its own, or its earlier one. */
export function keyOf(name: string, { params, schemas }: Around): string {
  const { alias } = tagOf(schemas[name]);
  return alias !== undefined && params[name] === undefined && params[alias] !== undefined ? alias : name;
}

/** valueOf returns the stored value of a param, or its default. */
export function valueOf(name: string, around: Around): unknown {
  return around.params[keyOf(name, around)] ?? own(around.schemas, name)?.default;
}

/** isShown reports whether a form shows a param. */
export function isShown(name: string, around: Around): boolean {
  const { hidden, show, right } = tagOf(around.schemas[name]);
  if (hidden) return false;
  if (right !== undefined && rightOf(right, around) === "none") return false;
  return (show ?? "").split("&").every((part) => part.trim() === "" || holds(part.trim(), around));
}

function holds(condition: string, around: Around): boolean {
  const [, not, name = "", sign, values = ""] = /^(!?)([^=!]+)(!?=)?(.*)$/.exec(condition) ?? [];
  if (name === "@tool") return around.tool === true;
  const value = valueOf(name, around);
  if (sign === undefined) return isSet(value) !== (not === "!");
  return values.split(",").includes(word(canonical(around.schemas[name], value) ?? "")) === (sign === "=");
}

/** canonical returns the option that a stored value means; other values stay. */
export function canonical(schema: Schema | undefined, value: unknown): unknown {
  const { options, accept } = tagOf(schema);
  if (options?.some((each) => each.value === value)) return value;
  return accept?.find(({ other }) => other === value)?.value ?? value;
}

function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** rightOf returns what an operator has on its right; "value" if it is unknown. */
export function rightOf(name: string, around: Around): "value" | "list" | "number" | "reference" | "none" {
  const set: OperatorSet | undefined = tagOf(around.schemas[name]).ops;
  const operator = set && operatorOf(set, valueOf(name, around));
  return operator?.right ?? "value";
}

/** rewritten returns params with synonyms of operators replaced by their stored words. */
export function rewritten({ params, schemas }: Around): Params {
  const words = Object.entries(params).flatMap(([name, value]) => {
    const { ops } = tagOf(own(schemas, name));
    const operator = ops === undefined ? undefined : operatorOf(ops, value);
    return operator === undefined || operator.word === value ? [] : [[name, operator.word] as const];
  });
  return words.length === 0 ? params : { ...params, ...Object.fromEntries(words) };
}

/** optionsOf returns the options of a schema; those of an enum have their values as labels. */
export function optionsOf(schema: Schema): Option[] {
  return tagOf(schema).options ?? (schema.enum ?? []).map((each) => ({ value: String(each), label: String(each) }));
}

const most = 4; // options in a row

/** widgetOf returns the editor of a param: by its tag, else by its type, else by its value. */
export function widgetOf(schema: Schema, value: unknown): Widget {
  const { widget } = tagOf(schema);
  if (widget !== undefined) return widget;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (schema.enum) return schema.enum.length > most ? "select" : "segment";
  if (type === "boolean") return "toggle";
  if (type === "number" || type === "integer") return "number";
  const formats: Record<string, Widget> = {
    code: "code", text: "prompt", reference: "ref", secret: "secret", password: "secret", model: "model", date: "date",
  };
  const format = formats[schema.format ?? ""];
  if (format !== undefined) return format;
  if (type === "array" && isObject(schema.items)) return schema.items.properties ? "rows" : "words";
  if (type === "object") return schema.properties ? "members" : "pairs";
  if (type === "string") return typeof value === "string" && /[{\n]/.test(value) ? "prompt" : "text";
  return "value";
}

/** Part is one part of a form, with the params it shows. */
export interface Part {
  section: Section;
  names: string[];
}

const perPlain = 7; // params of a schema without tags before the rest is advanced

/** partsOf returns the parts of the form of a component. */
export function partsOf(spec: ComponentSpec | undefined, params: Params, tool = false): Part[] {
  const around = aroundOf(spec, params, tool);
  const { schemas } = around;
  const required = new Set(spec?.params?.required);
  const silent = new Set(["outputs", "inputs", "debug_inputs", "exception_comment", ...(spec?.ignores ?? [])]);
  const parts = new Map<Section, string[]>(sectionOrder.map((each) => [each, []]));
  let plain = 0;
  const put = (section: Section, name: string): void => void parts.get(section)?.push(name);
  for (const [name, schema] of Object.entries(schemas)) {
    if (!isShown(name, around)) continue;
    const { section } = tagOf(schema);
    put(section ?? (required.has(name) || ++plain <= perPlain ? "main" : "advanced"), name);
  }
  for (const name of Object.keys(params)) {
    if (!own(schemas, name) && !silent.has(name) && !name.startsWith("_")) put("advanced", name);
  }
  return [...parts].map(([section, names]) => ({ section, names })).filter(({ names }) => names.length > 0);
}

/** aroundOf returns the values and schemas of a component's params. */
export function aroundOf(spec: ComponentSpec | undefined, params: Params, tool: boolean): Around {
  return { params, schemas: spec?.params?.properties ?? {}, tool };
}

/** differs reports whether a stored value is another than the default. */
export function differs(schema: Schema, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return schema.default === undefined ? isSet(value) : !same(value, schema.default);
}

/** guess returns the schema of a param that the component does not describe. */
export function guess(value: unknown): Schema {
  if (typeof value === "boolean") return { type: "boolean" };
  if (typeof value === "number") return { type: "number" };
  if (typeof value === "string") return { type: "string" };
  return { "x-easel": { widget: "json" } };
}
