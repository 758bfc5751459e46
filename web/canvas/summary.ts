// The most important settings of a node, in a line or two on its card: the model, the first words
// of the prompt, datasets, the method. Read from the params by the component's description.

import type { ComponentSpec, Schema } from "@easel/engine";
import { isObject, type Params } from "./dsl.ts";

const most = 80; // characters of a line; the card cuts it to what fits

/** Line is a text, or the datasets that a node searches, by id or name. */
export type Line = string | { datasets: readonly string[] };

/** summaryOf returns the lines of a card, at most two. */
export function summaryOf(spec: ComponentSpec | undefined, params: Params, nameOf: (id: string) => string): Line[] {
  return linesOf(spec, params).map((line) => (typeof line === "string" ? named(line, nameOf).slice(0, most) : line));
}

/** namesDatasets reports whether a param holds datasets. */
export function namesDatasets(param: string): boolean {
  return param === "kb_ids" || param === "dataset_ids";
}

// known caches the lines by params: a canvas is drawn again at every change of one node.
const known = new WeakMap<Params, { spec: ComponentSpec | undefined; lines: Line[] }>();

function linesOf(spec: ComponentSpec | undefined, params: Params): Line[] {
  const before = known.get(params);
  if (before && before.spec === spec) return before.lines;
  const lines = read(spec, params);
  known.set(params, { spec, lines });
  return lines;
}

function read(spec: ComponentSpec | undefined, params: Params): Line[] {
  const properties = Object.entries(spec?.params?.properties ?? {}).filter(([, { "x-easel": tag }]) =>
    ["main", "prompt", "tools"].includes(tag?.section ?? "main"));
  const branching = new Set(spec?.branches?.map(({ param }) => param));
  const lines = properties.flatMap(([name, schema]): { line: Line; rank: number }[] => {
    if (branching.has(name) || name === "description" || params[name] === schema.default) return [];
    const datasets = namesDatasets(name) ? textsOf(params[name]) : [];
    if (datasets.length > 0 && !datasets.some((each) => each.includes("{"))) {
      return [{ line: { datasets }, rank: rankOf(name, schema) }];
    }
    const line = lineOf(params[name], schema, name).slice(0, 10 * most);
    return line.trim().length < 2 || /^\{?sys\.query\}?$/.test(line) ? [] : [{ line, rank: rankOf(name, schema) }];
  });
  return lines
    .sort((a, b) => a.rank - b.rank)
    .slice(0, 2)
    .map(({ line }) => line);
}

// rankOf puts the model first, then lists such as datasets, then texts, then choices.
function rankOf(name: string, { format, enum: choices, type }: Schema): number {
  if (name === "llm_id") return 0;
  if (format === "text" || format === "code" || format === "reference") return 1;
  if (choices) return 2;
  return type === "array" ? 0.5 : 3;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string" && each !== "") : [];
}

function lineOf(value: unknown, { format, enum: choices }: Schema, name: string): string {
  if (typeof value === "string") {
    if (name === "llm_id") return value.split("@")[0] ?? "";
    if (/^empty_/.test(name)) return "";
    return format === "secret" || (format === undefined && !choices && !/url|prologue/.test(name)) ? "" : value;
  }
  if (!Array.isArray(value)) return "";
  return value
    .flatMap((each: unknown) => {
      if (typeof each === "string") return [each];
      const text = isObject(each)
        ? (each["content"] ?? each["variable"] ?? each["group_name"] ?? each["value"])
        : undefined;
      return typeof text === "string" ? [text] : [];
    })
    .join(", ");
}

// named replaces references by the name of the node; those without braces only where they are the
// whole text or in a list.
function named(text: string, nameOf: (id: string) => string): string {
  const read = text.replaceAll(
    /\{([^{}@\s]+)@([^{}]+)\}|(?<=^|, )([^{}@\s]+)@([^{}@\s,]+)(?=$|, )|\{(sys|env)\.([\w.-]+)\}/g,
    (found: string, ...parts: (string | undefined)[]) => {
      const [id = "", output = "", bare = "", name = "", group = "", variable = ""] = parts;
      if (group) return `${group} · ${variable}`;
      if (bare && !bare.includes(":") && bare !== "begin" && nameOf(bare) === bare) return found; // an e-mail address
      return `${nameOf(id || bare)} · ${output || name}`;
    },
  );
  return read.replaceAll(/\s+/g, " ").trim();
}
