// Case files of `easel record` and `easel test`, and the reasons why a page cannot play one.

import { isObject } from "../../canvas/dsl.ts";
import { memberRange, skip, trimmedEnd, valueEnd } from "../../canvas/source.ts";
import { get, isEmpty, list, text } from "./value.ts";

/** Case is a canvas and runs with their inputs, answers and expectations. */
export interface Case {
  name: string;
  about: string;
  /** The canvas as JSON, as the file has it. */
  canvas: string;
  dsl: Record<string, unknown>;
  runs: Record<string, unknown>[];
  /** A number or key of its inputs that JavaScript would change, if any. */
  inexact?: string;
}

/** CaseFault is the reason why a text is not a case. */
export class CaseFault extends Error {
  readonly code: "not_json" | "no_name" | "no_canvas" | "no_runs" | "bad_reply" | "bad_tool" | "bad_cancel";

  constructor(code: CaseFault["code"], detail = "") {
    super(detail || code);
    this.code = code;
  }
}

/** CaseError is the reason why a run cannot be a case. */
export class CaseError extends Error {
  readonly code: "models" | "calls" | "part" | "pinned" | "canceled";
  /** The kind of the call that a case cannot have. */
  readonly detail: string;

  constructor(code: CaseError["code"], detail = "") {
    super(`the run cannot be a case: ${code} ${detail}`.trimEnd());
    this.code = code;
    this.detail = detail;
  }
}

/** readCase reads a case file; it throws a CaseFault. */
export function readCase(source: string): Case {
  let parsed: unknown;
  try {
    parsed = JSON.parse(source);
  } catch (err) {
    throw new CaseFault("not_json", (err as Error).message);
  }
  const dsl = get(parsed, "dsl");
  if (text(get(parsed, "name")) === "") throw new CaseFault("no_name");
  if (!isObject(dsl)) throw new CaseFault("no_canvas");
  const runs = list(get(parsed, "runs")).map((run) => (isObject(run) ? run : {}));
  if (runs.length === 0) throw new CaseFault("no_runs");
  runs.forEach(checkRun);
  const [from, to] = memberRange(source, "dsl");
  const inexact = elements(source.slice(...memberRange(source, "runs"))).map(inexactOf).find(Boolean);
  return {
    name: text(get(parsed, "name")), about: text(get(parsed, "about")), canvas: source.slice(from, to), dsl, runs,
    ...(inexact === undefined ? {} : { inexact }),
  };
}

/** writeCase returns a case as a file, with the canvas as it was written. */
export function writeCase({ name, about, canvas, runs }: Pick<Case, "name" | "about" | "canvas" | "runs">): string {
  const file = JSON.stringify({ name, about, expect: "recorded", dsl: null, runs }, null, 1);
  const [from, to] = memberRange(file, "dsl");
  return file.slice(0, from) + canvas + file.slice(to);
}

function checkRun(run: Record<string, unknown>): void {
  const fallback = get(run, "fallback");
  for (const reply of [...list(run["llm_script"]), ...(fallback === undefined ? [] : [fallback])]) {
    const known = typeof reply === "string" || (isObject(reply) && ("text" in reply || "chunks" in reply));
    const others = [text(get(reply, "error")), text(get(reply, "raise")), list(get(reply, "tool_calls"))];
    if (!known && others.every(isEmpty)) throw new CaseFault("bad_reply");
  }
  for (const call of list(run["tools"])) {
    const component = text(get(call, "component")) !== "";
    const ofServer = text(get(call, "server")) !== "" && text(get(call, "name")) !== "";
    if (component === ofServer) throw new CaseFault("bad_tool");
  }
  const cancel = get(run, "cancel");
  if (cancel !== undefined && cancel !== "before" && text(get(get(cancel, "after_event"), "event")) === "") {
    throw new CaseFault("bad_cancel");
  }
}

/** Obstacle is the reason why a page cannot play a case. */
export interface Obstacle {
  code: "cancel" | "debug" | "component" | "plugin" | "exact" | "server" | "scripts";
  /** Names of components or values. */
  names: string[];
}

/**
 * obstacle returns why a case with a canvas cannot be played, before it is tried; `known` reports
 * whether the engine of the page has a component.
 */
export function obstacle(
  played: Case, dsl: unknown, known: (component: string) => boolean,
): Obstacle | undefined {
  if (played.inexact !== undefined) return { code: "exact", names: [played.inexact] };
  if (played.runs.some((run) => !isEmpty(run["cancel"]))) return { code: "cancel", names: [] };
  // A node that runs alone leaves no state in the engine of a page.
  if (played.runs.some((run) => !isEmpty(run["debug"]))) return { code: "debug", names: [] };
  const names = componentsOf(dsl);
  const plugins = names.filter((name) => name.startsWith("plugin:"));
  if (plugins.length > 0) return { code: "plugin", names: plugins };
  // A canvas that is expected not to load may have an unknown component.
  const missing = played.runs.every((run) => isEmpty(run["load_error"])) ? names.filter((name) => !known(name)) : [];
  if (missing.length > 0 || names.includes("EchoTool")) {
    return { code: "component", names: missing.length > 0 ? missing : ["EchoTool"] };
  }
  return undefined;
}

// componentsOf lists the components of nodes and of the tools of agents.
function componentsOf(dsl: unknown): string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isObject(value)) return;
    const name = value["component_name"];
    if (typeof name === "string" && name !== "") found.add(name);
    Object.values(value).forEach(visit);
  };
  visit(get(dsl, "components"));
  return [...found];
}

// elements returns the texts of the elements of a JSON list.
function elements(source: string): string[] {
  const found: string[] = [];
  for (let at = skip(source, source.indexOf("[") + 1); at < source.length && source[at] !== "]"; ) {
    found.push(source.slice(at, trimmedEnd(source, at)));
    const end = valueEnd(source, at);
    at = source[end] === "," ? skip(source, end + 1) : end;
  }
  return found;
}

const inputs = ["kwargs", "retrieval", "blobs", "tools", "servers", "llm_script"];
const tokens = /"(?:[^"\\]|\\.)*"\s*:?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// inexactOf returns a number or key in the inputs of a run that JavaScript writes otherwise.
function inexactOf(run: string): string | undefined {
  for (const name of inputs) {
    const part = run.slice(...memberRange(run, name));
    for (const [token] of part.matchAll(tokens)) {
      if (token.startsWith('"')) {
        if (/^"\d+"\s*:$/.test(token)) return token; // objects of JavaScript have such keys first
      } else if (String(Number(token)) !== token) {
        return token;
      }
    }
  }
  return undefined;
}
