// Opens the text of a canvas file. Files come in three shapes: a template with the
// DSL inside, the DSL itself, and the DSL as a string inside another object. The text is untrusted,
// so the result is a canvas or a reason.

import { foreignJSON, foreignText, type Foreign } from "./foreign.ts";
import { memberRange } from "./source.ts";

/** Component is an entry of `components`. */
export interface Component {
  obj: { component_name: string; params: Params };
  downstream?: string[];
  upstream?: string[];
  parent_id?: string;
  /** Switched off: runs continue with its successors. */
  disabled?: boolean;
}

/** Params are the settings of a node. */
export type Params = Record<string, unknown>;

/** Dsl is a canvas document. */
export interface Dsl {
  components: Record<string, Component>;
  /** Read by editors only, see picture.ts. */
  graph?: unknown;
  globals?: Record<string, unknown>;
  variables?: unknown;
  [key: string]: unknown;
}

/** Words is a text in several languages. */
export type Words = string | Record<string, string>;

/** Opened is a canvas ready to be shown. */
export interface Opened {
  dsl: Dsl;
  /** The DSL as JSON, as written in the file where possible. */
  text: string;
  title: Words;
  description: Words;
  /**
   * wrap returns the text of the whole file with another DSL in the place of the one that was
   * opened.
   */
  wrap(text: string): string;
}

/** CanvasError is the reason why a text is not a canvas; code selects its message. */
export class CanvasError extends Error {
  readonly code: "too_large" | "too_deep" | "not_json" | "not_canvas" | "dify" | "n8n";
  readonly detail: string;

  constructor(code: CanvasError["code"], detail: string) {
    super(`${code}: ${detail}`);
    this.code = code;
    this.detail = detail;
  }
}

/** largest is the longest text accepted, in characters. */
export const largest = 20_000_000;

/** open reads a canvas; `name` is a title for files that have none. */
export function open(text: string, name = ""): Opened {
  if (text.length > largest) throw new CanvasError("too_large", String(Math.round(text.length / 1e6)));
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (err) {
    throw foreign(foreignText(text)) ?? new CanvasError("not_json", (err as Error).message);
  }
  const outer = isObject(parsed) ? parsed : {};
  const other = foreign(foreignJSON(outer));
  if (other) throw other;
  let inner: unknown = outer;
  let range: [from: number, to: number] = [0, text.length];
  if (isObject(outer["dsl"])) {
    inner = outer["dsl"];
    try {
      range = memberRange(text, "dsl");
    } catch (err) {
      throw new CanvasError("too_deep", (err as Error).message);
    }
  } else if (typeof outer["dsl"] === "string") {
    const [from, to] = memberRange(text, "dsl");
    const quoted = open(outer["dsl"], name);
    const wrap = (made: string): string => {
      return made === quoted.text ? text : text.slice(0, from) + JSON.stringify(quoted.wrap(made)) + text.slice(to);
    };
    return { ...quoted, ...titles(outer, name), wrap };
  }
  const [from, to] = range;
  const wrap = (made: string): string => text.slice(0, from) + made + text.slice(to);
  return { dsl: check(inner), text: text.slice(from, to), wrap, ...titles(outer, name) };
}

/** hasOnlyGraph reports whether a file is an export of RAGFlow's editor without components. */
export function hasOnlyGraph(text: string): boolean {
  let file: unknown;
  try {
    file = JSON.parse(text);
    if (isObject(file) && file["components"] === undefined && file["dsl"] !== undefined) file = file["dsl"];
    if (typeof file === "string") file = JSON.parse(file);
  } catch {
    return false; // open reports it
  }
  if (!isObject(file)) return false;
  const { components = null, graph = file } = file;
  if (components !== null && !(isObject(components) && Object.keys(components).length === 0)) return false;
  const nodes = isObject(graph) ? graph["nodes"] : undefined;
  return Array.isArray(nodes) && nodes.some((node) => isObject(node) && isObject(node["data"]));
}

function foreign(file: Foreign | undefined): CanvasError | undefined {
  return file && new CanvasError(file.product === "n8n" ? "n8n" : "dify", file.name);
}

function check(value: unknown): Dsl {
  if (!isObject(value) || !isObject(value["components"])) throw new CanvasError("not_canvas", "components");
  for (const [id, component] of Object.entries(value["components"])) {
    const obj = isObject(component) ? component["obj"] : undefined;
    if (!isObject(obj) || typeof obj["component_name"] !== "string")
      throw new CanvasError("not_canvas", `${id.slice(0, 80)}: component_name`);
    if (!isObject(obj["params"])) obj["params"] = {};
  }
  return { ...value, components: dict(value["components"]) } as unknown as Dsl;
}

/**
 * dict copies a record into one without inherited members: ids are untrusted, and `constructor` is
 * not a node.
 */
export function dict<T>(record: Record<string, T>): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, record);
}

function titles(outer: Record<string, unknown>, name: string): { title: Words; description: Words } {
  return { title: words(outer["title"]) || name, description: words(outer["description"]) };
}

function words(value: unknown): Words {
  if (typeof value === "string") return value;
  if (!isObject(value)) return "";
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** own returns an own member of a record, not an inherited one. */
export function own<T>(record: Record<string, T> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/**
 * word returns a value of a document as one text. Objects are JSON: String fails for one with a
 * member toString.
 */
export function word(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "" : (JSON.stringify(value) ?? "");
}

/** isObject reports whether a value is an object with members. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
