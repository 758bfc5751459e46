// Extracts a selection as a separate canvas, and replaces it by a node that runs that canvas.
// References from the selection to the outside become inputs of the new canvas; references from
// outside to the selection become outputs of its last node. Only selections whose behaviour stays
// the same are extracted: one edge in, one edge out.

import type { ComponentSpec } from "@easel/engine";
import type { CanvasEdge, CanvasModel, CanvasNode, Specs } from "../drawing.ts";
import { own, type Dsl, type Params } from "../dsl.ts";
import { build } from "../model.ts";
import { empty } from "./blank.ts";
import { copy, paste } from "./clip.ts";
import { setParam, type Draft } from "./draft.ts";
import { origin } from "./groups.ts";
import { addNode, removeNodes, startingParams } from "./nodes.ts";
import { referencesOf } from "./references.ts";
import { follow } from "./variables.ts";
import { connect, disconnect, errorHandle } from "./wires.ts";

/** Unfit is the reason why a selection cannot become a canvas. */
export type Unfit =
  | "nothing"
  | "start"
  | "mixed"
  | "ways_in"
  | "ways_out"
  | "read"
  | "assigns"
  | "says"
  | "no_component";

/** Extraction is a selection as a separate canvas. */
export interface Extraction {
  /** The new canvas. */
  dsl: Dsl;
  /** put replaces the selection by a node that runs the stored canvas, and returns its id. */
  put(draft: Draft, canvas: string, name: string): string;
}

/** extract extracts nodes from a canvas, or returns the reason why it cannot. */
export function extract(dsl: Dsl, model: CanvasModel, specs: Specs, ids: readonly string[]): Extraction | Unfit {
  const runner = [...specs.values()].find(runsCanvases);
  const selection = selectionOf(model, ids);
  if (typeof selection === "string") return selection;
  const { members, tops } = selection;
  const ways = waysOf(model, members, tops);
  if (typeof ways === "string") return ways;
  const reads = readsOf(dsl, members);
  const last = ways.exits.length === 1 ? ways.exits[0] : undefined;
  if (reads.length > 0 && ways.exits.length === 0) return "read";
  const kinds = [...members].map((id) => model.byId.get(id)?.spec);
  if (kinds.some(assigns)) return "assigns";
  if (kinds.some(says)) return "says";
  const joins = reads.some((reference) => nodeOf(reference) !== last);
  const collector = joins ? [...specs.values()].find(collects) : undefined;
  if (!runner || (joins && !collector)) return "no_component";

  const inputs = named(outside(dsl, members));
  const outputs = joins ? named(reads) : new Map(reads.map((each) => [each, outputOf(each)]));
  const sub = empty(specs);
  const start = Object.keys(sub.dsl.components)[0] ?? "";
  const corner = least(tops);
  const clip = copy(
    dsl,
    model,
    tops.map(({ id }) => id),
  );
  const around = tops[0]?.parent === undefined ? { x: 0, y: 0 } : origin(model, tops[0].parent);
  paste(sub, specs, clip, { x: 300 - corner.x - around.x, y: -corner.y - around.y }, { keep: true });
  const fields = [...inputs.values()].map((name) => [name, { name, type: "any", optional: true }] as const);
  if (fields.length > 0) setParam(sub, start, "inputs", Object.fromEntries(fields));
  for (const entry of ways.entries) connect(sub, specs, start, entry);
  follow(sub, new Map([...inputs].map(([reference, name]) => [reference, `${start}@${name}`])));
  if (collector) collect(sub, specs, collector, outputs, ways.exits);

  const put = (draft: Draft, canvas: string, name: string): string => {
    const params = {
      ...startingParams(runner),
      canvas,
      version: "draft",
      query: "{sys.query}",
      ...(inputs.size > 0
        ? { inputs: Object.fromEntries([...inputs].map(([reference, input]) => [input, `{${reference}}`])) }
        : {}),
    };
    const parent = tops[0]?.parent;
    const place = { ...corner, ...(parent === undefined ? {} : { parent }) };
    const id = addNode(draft, specs, runner.name, name, place, params);
    for (const edge of ways.crossing) disconnect(draft, specs, edge.source, edge.target, handle(edge));
    removeNodes(draft, specs, build(draft.dsl, specs), members);
    for (const [source, branch] of ways.sources) connect(draft, specs, source, id, branch);
    for (const target of ways.targets) connect(draft, specs, id, target);
    follow(draft, new Map([...outputs].map(([reference, output]) => [reference, `${id}@outputs.${output}`])));
    return id;
  };
  return { dsl: sub.dsl, put };
}

/** runsCanvases reports whether a component runs another canvas. */
export function runsCanvases(spec: ComponentSpec | undefined): boolean {
  const params = spec?.params?.properties;
  return ["canvas", "version", "query", "inputs"].every((name) => params?.[name] !== undefined);
}

/** collects reports whether a component has named outputs, each the first of some variables. */
export function collects(spec: ComponentSpec | undefined): boolean {
  return spec?.params?.properties?.["groups"]?.items?.properties?.["group_name"] !== undefined;
}

// assigns reports whether a component changes variables of the conversation, which a separate
// canvas does not share.
function assigns(spec: ComponentSpec | undefined): boolean {
  const each = spec?.params?.properties?.["variables"]?.items?.properties;
  return each?.["variable"] !== undefined && each["operator"] !== undefined;
}

/**
 * says reports whether a component sends messages. Messages of a canvas that another one runs are
 * its result: users do not see them.
 */
export function says(spec: ComponentSpec | undefined): boolean {
  const content = spec?.outputs?.some(({ name }) => name === "content");
  return spec?.category === "conversation" && content === true && spec.params?.properties?.["content"] !== undefined;
}

interface Selection {
  /** All extracted nodes, with the children of groups and the tools of agents. */
  members: Set<string>;
  /** Those outside the groups of the selection. */
  tops: CanvasNode[];
}

function selectionOf(model: CanvasModel, ids: readonly string[]): Selection | Unfit {
  const members = new Set(ids.filter((id) => model.byId.has(id)));
  for (const id of members) {
    for (const node of model.nodes) if (node.parent === id) members.add(node.id);
    for (const edge of model.edges) if (edge.role === "tool" && edge.source === id) members.add(edge.target);
  }
  const nodes = [...members].flatMap((id) => model.byId.get(id) ?? []);
  const tops = nodes.filter(({ parent }) => parent === undefined || !members.has(parent));
  const steps = tops.filter(({ role }) => role === "node" || role === "group");
  if (steps.length === 0) return "nothing";
  if (nodes.some(({ spec }) => spec?.role === "start")) return "start";
  const loose = model.edges.some(
    ({ role, source, target }) => role === "tool" && members.has(target) && !members.has(source),
  );
  const apart = steps.some(({ parent }) => parent !== steps[0]?.parent) || tops.some(({ role }) => role === "item");
  return loose || apart ? "mixed" : { members, tops: [...steps, ...tops.filter((each) => !steps.includes(each))] };
}

interface Ways {
  /** First nodes of the selection in a run, and the sources of the edges to them. */
  entries: string[];
  sources: [source: string, branch: string | undefined][];
  /** Last nodes, and the targets of the edges from them. */
  exits: string[];
  targets: string[];
  /** Edges over the border of the selection. */
  crossing: CanvasEdge[];
}

function waysOf(model: CanvasModel, members: ReadonlySet<string>, tops: readonly CanvasNode[]): Ways | Unfit {
  const edges = model.edges.filter(({ role }) => role !== "tool");
  const entering = edges.filter(({ source, target }) => !members.has(source) && members.has(target));
  const leaving = edges.filter(({ source, target }) => members.has(source) && !members.has(target));
  const inner = edges.filter(({ source, target }) => members.has(source) && members.has(target));
  const steps = tops.filter(({ role }) => role === "node" || role === "group");
  const into = grouped(entering, (edge) => [edge.target, `${edge.source}\n${handle(edge) ?? ""}`]);
  const outOf = grouped(leaving, ({ source, target }) => [source, target]);
  if (new Set(into.values()).size > 1) return "ways_in";
  const unled = steps.filter(({ id }) => !inner.some(({ target }) => target === id)).map(({ id }) => id);
  const entries = into.size > 0 ? [...into.keys()] : unled;
  const first = entering.filter(({ target }) => target === entries[0]);
  const ends = steps.filter(({ id }) => !edges.some(({ source }) => source === id));
  const open = steps.some(({ branches }) => branches.some(({ to }) => to.length === 0));
  const several = new Set(outOf.values()).size > 1 || leaving.some((edge) => handle(edge) !== undefined);
  const between = inner.some(({ source, role }) => outOf.has(source) && role === "flow");
  if (leaving.length > 0 && (several || between || ends.length > 0 || open)) return "ways_out";
  const exits = [...outOf.keys()];
  return {
    entries,
    sources: first.map((edge) => [edge.source, handle(edge)]),
    exits,
    targets: leaving.filter(({ source }) => source === exits[0]).map(({ target }) => target),
    crossing: [...entering, ...leaving],
  };
}

// grouped joins the words of edges with one key; equal groups have equal texts.
function grouped(
  edges: readonly CanvasEdge[],
  word: (edge: CanvasEdge) => [key: string, word: string],
): Map<string, string> {
  const groups = new Map<string, string[]>();
  for (const [key, each] of edges.map(word)) groups.set(key, [...(groups.get(key) ?? []), each]);
  return new Map([...groups].map(([key, all]) => [key, all.toSorted().join("\n\n")]));
}

function handle({ role, branch }: CanvasEdge): string | undefined {
  return role === "error" ? errorHandle : branch;
}

// readsOf lists the references from nodes outside to the selection.
function readsOf(dsl: Dsl, members: ReadonlySet<string>): string[] {
  const others = Object.entries(dsl.components).filter(([id]) => !members.has(id));
  const all = others.flatMap(([, { obj }]) => referencesOf(obj.params).map(baseOf));
  return [...new Set(all)].filter((reference) => members.has(nodeOf(reference)));
}

/** shared are variables that a canvas has from the run around it. */
const shared = new Set(["sys.query", "sys.user_id", "sys.date"]);

// outside lists the references of the selection to other nodes, to the conversation and its
// variables.
function outside(dsl: Dsl, members: ReadonlySet<string>): string[] {
  const all = [...members].flatMap((id) => referencesOf(own(dsl.components, id)?.obj.params).map(baseOf));
  return [...new Set(all)].filter((reference) => {
    if (/^(sys|env)\./.test(reference)) return !shared.has(reference);
    const node = nodeOf(reference);
    return !members.has(node) && own(dsl.components, node) !== undefined;
  });
}

// named returns a unique name for each reference.
function named(references: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const reference of references) {
    const plain = outputOf(reference);
    let name = plain;
    for (let number = 2; taken.has(name); number++) name = `${plain}_${number}`;
    taken.add(name);
    names.set(reference, name);
  }
  return names;
}

/** baseOf returns a reference without the path into its value. */
export function baseOf(reference: string): string {
  return /^(?:[^@]+@|sys\.|env\.)[^.]+/.exec(reference)?.[0] ?? reference;
}

/** nodeOf returns the node that a reference reads; "" for a variable of the conversation. */
export function nodeOf(reference: string): string {
  return reference.includes("@") ? (reference.split("@")[0] ?? "") : "";
}

function outputOf(reference: string): string {
  return reference.split(/[@.]/)[1] ?? reference;
}

// collect adds a last node that outputs the values read from several nodes.
function collect(
  sub: Draft,
  specs: Specs,
  spec: ComponentSpec,
  outputs: ReadonlyMap<string, string>,
  exits: readonly string[],
): void {
  const groups = [...outputs].map(([reference, name]) => ({ group_name: name, variables: [{ value: reference }] }));
  const declared = Object.fromEntries([...outputs.values()].map((name) => [name, { type: "any", value: "" }]));
  const params: Params = { ...startingParams(spec), groups, outputs: declared };
  const right = Math.max(...build(sub.dsl, specs).nodes.map(({ x }) => x));
  const id = addNode(sub, specs, spec.name, spec.name, { x: right + 300, y: 0 }, params);
  for (const exit of exits) connect(sub, specs, exit, id);
}

function least(nodes: readonly CanvasNode[]): { x: number; y: number } {
  return { x: Math.min(...nodes.map(({ x }) => x)), y: Math.min(...nodes.map(({ y }) => y)) };
}
