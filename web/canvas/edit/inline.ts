// A node that runs another canvas is replaced by the nodes of that canvas: the inverse of
// subcanvas.ts. References to the start of the inner canvas become references to the sources of the
// node, and references to the node become references to the inner nodes.

import type { CanvasModel, CanvasNode, Specs } from "../drawing.ts";
import { isObject, own, type Component, type Dsl, type Params } from "../dsl.ts";
import { build } from "../model.ts";
import { rows } from "../places.ts";
import { copy, paste } from "./clip.ts";
import type { Draft } from "./draft.ts";
import { removeNodes } from "./nodes.ts";
import { isReference, referencesOf, renameIds } from "./references.ts";
import { baseOf, collects, nodeOf, runsCanvases, says } from "./subcanvas.ts";
import { follow } from "./variables.ts";
import { connect, disconnect, errorHandle } from "./wires.ts";

/** Unjoined is the reason why a canvas cannot replace the node that runs it. */
export type Unjoined = "node" | "start" | "variables" | "input" | "answer" | "says" | "end" | "error";

/** inline replaces a node by the canvas that it runs, and returns the new ids. */
export function inline(draft: Draft, specs: Specs, id: string, dsl: Dsl): string[] | Unjoined {
  const model = build(draft.dsl, specs);
  const node = model.byId.get(id);
  if (!node || !runsCanvases(node.spec)) return "node";
  const inner = insideOf(dsl, specs);
  if (typeof inner === "string") return inner;
  const given = givenTo(node.params, inner);
  if (given === undefined) return "input";
  const read = readOf(draft.dsl, id, inner);
  if (read === undefined) return "answer";
  const into = model.edges.filter(({ target, role }) => target === id && role !== "tool");
  const out = model.edges.filter(({ source, role }) => source === id && role !== "tool");
  if (out.some(({ role }) => role === "error")) return "error";
  const ends = inner.exits.some((exit) => inner.model.byId.get(exit)?.spec?.role === "sink");
  if (out.length > 0 && (ends || inner.exits.length === 0)) return "end";

  const clip = copy(dsl, inner.model, inner.kept);
  const left = Math.min(...inner.kept.map((each) => inner.model.byId.get(each)?.x ?? 0));
  const top = Math.min(...inner.kept.map((each) => inner.model.byId.get(each)?.y ?? 0));
  for (const { source, target, branch, role } of [...into, ...out]) {
    disconnect(draft, specs, source, target, role === "error" ? errorHandle : branch);
  }
  removeNodes(draft, specs, build(draft.dsl, specs), [id]);
  const ids = paste(draft, specs, clip, { x: node.x - left, y: node.y - top }, { parent: node.parent, keep: true });
  const now = (each: string): string => ids.get(each) ?? each;
  follow(draft, given, new Set(ids.values()));
  follow(draft, new Map([...read].map(([from, to]) => [from, renameIds(to, ids)])));
  for (const { source, branch, role } of into) {
    const way = role === "error" ? errorHandle : branch;
    for (const entry of inner.entries) connect(draft, specs, source, now(entry), way);
  }
  for (const exit of inner.exits) for (const { target } of out) connect(draft, specs, now(exit), target);
  return [...ids.values()];
}

/** Inside is a canvas that replaces a node. */
interface Inside {
  dsl: Dsl;
  model: CanvasModel;
  start: string;
  /** Inserted boxes: all but the start, and a last node that only outputs results. */
  kept: string[];
  entries: string[];
  exits: string[];
  /** Results of the canvas, as references to its nodes: answer, and outputs of its last node. */
  results: Results;
}

interface Results {
  answer?: string | undefined;
  output(name: string): string | undefined;
}

function insideOf(dsl: Dsl, specs: Specs): Inside | Unjoined {
  const plain = build(dsl, specs);
  const model = plain.unplaced ? build(dsl, specs, rows(plain.nodes)) : plain;
  const start = model.nodes.find(({ spec }) => spec?.role === "start");
  if (!start) return "start";
  const references = Object.values(dsl.components).flatMap(({ obj }) => referencesOf(obj.params));
  if (references.some((each) => each.startsWith("env."))) return "variables";
  const flow = model.edges.filter(({ role }) => role !== "tool");
  const steps = model.nodes.filter(({ id, parent, role }) => id !== start.id && parent === undefined && isStep(role));
  const ends = steps.filter(({ id }) => !flow.some(({ source }) => source === id));
  const last = ends.length === 1 ? ends[0] : undefined;
  const dropped = last && resultsOf(last);
  if (model.nodes.some((node) => says(node.spec) && !(dropped && node === last))) return "says";
  const before = flow.filter(({ target }) => target === last?.id).map(({ source }) => source);
  const gone = new Set([start.id, ...(dropped && last ? [last.id] : [])]);
  return {
    dsl,
    model,
    start: start.id,
    kept: model.nodes.filter(({ id, parent }) => !gone.has(id) && parent === undefined).map(({ id }) => id),
    entries: flow.filter(({ source, target }) => source === start.id && !gone.has(target)).map(({ target }) => target),
    exits: dropped ? [...new Set(before)].filter((id) => !gone.has(id)) : ends.map(({ id }) => id),
    results: dropped ?? { output: (name) => last && `${last.id}@${name}` },
  };
}

// resultsOf reads a last node that only outputs results: one variable as the message, or one for
// each output. It returns undefined for other nodes, which are inserted.
function resultsOf({ spec, params }: CanvasNode): Results | undefined {
  if (says(spec)) {
    const [text, more] = Array.isArray(params["content"]) ? (params["content"] as unknown[]) : [];
    const answer = plainOf(text);
    const only = more === undefined && isReference(answer);
    return only ? { answer, output: (name) => (name === "content" ? answer : undefined) } : undefined;
  }
  const values = collects(spec) ? collected(params) : undefined;
  return values && { output: (name) => values.get(name) };
}

function isStep(role: CanvasNode["role"]): boolean {
  return role === "node" || role === "group";
}

// collected returns the outputs of a node with one variable for each; undefined for other nodes.
function collected(params: Params): Map<string, string> | undefined {
  const groups = Array.isArray(params["groups"]) ? params["groups"].filter(isObject) : [];
  const pairs = groups.map((group): [unknown, unknown] => {
    const [only, more] = Array.isArray(group["variables"]) ? (group["variables"] as unknown[]) : [];
    return [group["group_name"], more === undefined && isObject(only) ? only["value"] : undefined];
  });
  const fit = pairs.filter((pair): pair is [string, string] => pair.every((each) => typeof each === "string"));
  return fit.length === groups.length && fit.length > 0
    ? new Map(fit.map(([name, value]) => [name, plainOf(value)]))
    : undefined;
}

// givenTo maps references to the start, and the message, to the sources of the node.
function givenTo(params: Params, { dsl, start }: Inside): Map<string, string> | undefined {
  const inputs = isObject(params["inputs"]) ? params["inputs"] : {};
  const given = new Map<string, string>();
  const query = plainOf(params["query"] ?? "sys.query");
  const components: [string, Component][] = Object.entries(dsl.components);
  for (const reference of components.flatMap(([, { obj }]) => referencesOf(obj.params).map(baseOf))) {
    if (reference === "sys.query" && query !== "sys.query") given.set(reference, query);
    if (nodeOf(reference) === start) given.set(reference, plainOf(own(inputs, reference.slice(start.length + 1))));
  }
  return [...given.values()].every(isReference) ? given : undefined;
}

// readOf maps references to the node to references to the nodes that replace it.
function readOf(dsl: Dsl, id: string, { results }: Inside): Map<string, string> | undefined {
  const read = new Map<string, string>();
  for (const [, { obj }] of Object.entries(dsl.components)) {
    for (const reference of referencesOf(obj.params).filter((each) => nodeOf(each) === id)) {
      const [output = "", name] = reference.slice(id.length + 1).split(".");
      const to = output === "content" ? results.answer : name === undefined ? undefined : results.output(name);
      if (to === undefined) return undefined;
      read.set(output === "content" ? `${id}@content` : `${id}@outputs.${name}`, to);
    }
  }
  return read;
}

// plainOf returns a reference without braces; "" for other texts.
function plainOf(value: unknown): string {
  const text = typeof value === "string" ? value.trim() : "";
  return /^\{[^{}]+\}$/.test(text) ? text.slice(1, -1).trim() : text;
}
