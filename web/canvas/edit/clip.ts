// Copying nodes, also to another canvas or browser, as JSON on the clipboard. The clipboard is
// untrusted, so pasted text is checked first.

import type { CanvasModel, Specs } from "../drawing.ts";
import { isObject, own, type Component, word, type Dsl, type Params } from "../dsl.ts";
import { text as textOf } from "../picture.ts";
import { setParam, type Draft } from "./draft.ts";
import { newId } from "./ids.ts";
import { origin } from "./groups.ts";
import { renameIds } from "./references.ts";

/** Clip is a part of a canvas. */
export interface Clip {
  components: Record<string, Component>;
  nodes: Params[];
  edges: Params[];
}

const format = "easel/clip";
const version = 1;

/**
 * most is the maximum length of a clipboard text, in characters, and mostNodes the maximum number
 * of its nodes.
 */
const most = 2_000_000;
const mostNodes = 1_000;
const deepest = 100;

/**
 * copy copies nodes of a canvas, with the nodes in groups and the tools of agents, except start
 * nodes.
 */
export function copy(dsl: Dsl, model: CanvasModel, ids: Iterable<string>): Clip {
  const all = new Set(
    [...ids].filter((id) => {
      const node = model.byId.get(id);
      return node && node.spec?.role !== "start" && node.role !== "item";
    }),
  );
  for (const id of all) {
    for (const node of model.nodes) if (node.parent === id) all.add(node.id);
    for (const edge of model.edges) if (edge.role === "tool" && edge.source === id) all.add(edge.target);
  }
  const components = Object.fromEntries(
    [...all].flatMap((id) => {
      const component = own(dsl.components, id);
      return component ? [[id, component] as const] : [];
    }),
  );
  const graph = isObject(dsl.graph) ? dsl.graph : {};
  const nodes = [...all].flatMap((id) => {
    const known = list(graph["nodes"]).findLast((each) => each["id"] === id);
    const node = model.byId.get(id);
    if (!node) return [];
    const placed = known ?? { id, type: "ragNode", data: { label: node.kind, name: node.name } };
    const inside = node.parent !== undefined && all.has(node.parent);
    const { parentId: _, extent: __, ...free } = placed;
    return [inside ? placed : { ...free, position: origin(model, id) }];
  });
  const edges = list(graph["edges"]).filter(
    (edge) => all.has(textOf(edge["source"])) && all.has(textOf(edge["target"])),
  );
  return { components, nodes, edges };
}

/** written returns a clip as text for the clipboard. */
export function written(clip: Clip): string {
  return JSON.stringify({ format, version, ...clip });
}

/** ClipError is the reason why a clipboard text cannot be pasted. */
export class ClipError extends Error {
  readonly code: "none" | "damaged" | "too_large";

  constructor(code: ClipError["code"]) {
    super(`clipboard: ${code}`);
    this.code = code;
  }
}

/** read checks a text from the clipboard. It throws a ClipError for one that is not a clip. */
export function read(text: string): Clip {
  if (text.length > most) throw new ClipError("too_large");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ClipError("none");
  }
  if (!isObject(value) || value["format"] !== format) throw new ClipError("none");
  const { components, nodes, edges } = value;
  if (value["version"] !== version || !isObject(components) || !Array.isArray(nodes) || !Array.isArray(edges))
    throw new ClipError("damaged");
  if (Object.keys(components).length > mostNodes || nodes.length > mostNodes || edges.length > 10 * mostNodes)
    throw new ClipError("too_large");
  if (!shallow(value, deepest)) throw new ClipError("damaged");
  for (const component of Object.values(components)) if (!isComponent(component)) throw new ClipError("damaged");
  for (const node of nodes) {
    if (!isObject(node) || typeof node["id"] !== "string" || !isPosition(node["position"]))
      throw new ClipError("damaged");
  }
  for (const edge of edges) {
    if (!isObject(edge) || typeof edge["source"] !== "string" || typeof edge["target"] !== "string")
      throw new ClipError("damaged");
  }
  return { components: components as Clip["components"], nodes: nodes as Params[], edges: edges as Params[] };
}

function isComponent(value: unknown): boolean {
  const obj = isObject(value) ? value["obj"] : undefined;
  if (!isObject(value) || !isObject(obj) || typeof obj["component_name"] !== "string" || !isObject(obj["params"]))
    return false;
  const strings = (each: unknown): boolean =>
    each === undefined || (Array.isArray(each) && each.every((id) => typeof id === "string"));
  const parent = value["parent_id"];
  return (
    strings(value["downstream"]) && strings(value["upstream"]) && (parent === undefined || typeof parent === "string")
  );
}

function isPosition(value: unknown): boolean {
  if (!isObject(value)) return false;
  return [value["x"], value["y"]].every(
    (each) => typeof each === "number" && Number.isFinite(each) && Math.abs(each) < 1e6,
  );
}

function shallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((each) => shallow(each, levels - 1));
}

/**
 * paste inserts a clip into a canvas, moved by a distance, and returns the new ids by the old ones;
 * with `keep` only ids that the canvas has already are replaced.
 */
export function paste(
  draft: Draft,
  specs: Specs,
  clip: Clip,
  by: { x: number; y: number },
  { parent, keep = false }: { parent?: string | undefined; keep?: boolean } = {},
): Map<string, string> {
  const ids = newIds(draft, clip, keep);
  const inside = (id: unknown): boolean => typeof id === "string" && ids.has(id);
  for (const [id, component] of Object.entries(clip.components)) {
    const renamed = cut(renameIds(component, ids), new Set(ids.values()));
    const { parent_id: owner, ...rest } = renamed;
    const held = inside(component.parent_id) ? owner : parent;
    draft.set(["components", ids.get(id) ?? id], { ...rest, ...(held === undefined ? {} : { parent_id: held }) });
  }
  for (const node of clip.nodes) {
    const id = ids.get(word(node["id"]));
    if (id === undefined) continue;
    const { x, y } = node["position"] as { x: number; y: number };
    const moved = inside(node["parentId"]) ? { x, y } : { x: Math.round(x + by.x), y: Math.round(y + by.y) };
    const around = !inside(node["parentId"]) && parent !== undefined ? { parentId: parent, extent: "parent" } : {};
    draft.draw({ ...renameIds(node, ids), id, position: moved, selected: false, ...around });
  }
  for (const edge of clip.edges) {
    const { source, target } = edge;
    if (!inside(source) || !inside(target)) continue;
    const from = ids.get(word(source));
    const to = ids.get(word(target));
    const handles = `${textOf(edge["sourceHandle"])}-${to}${textOf(edge["targetHandle"])}`;
    draft.wire({ ...edge, id: `xy-edge__${from}${handles}`, source: from, target: to });
  }
  dropLostTargets(draft, specs, new Set(ids.values()));
  return ids;
}

// newIds returns an id for every pasted node that the canvas does not have.
function newIds(draft: Draft, clip: Clip, keep: boolean): Map<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  const kinds = new Map(Object.entries(clip.components).map(([id, { obj }]) => [id, obj.component_name] as const));
  for (const node of clip.nodes) {
    const id = word(node["id"]);
    if (!kinds.has(id)) kinds.set(id, id.split(":")[0] || "Note");
  }
  for (const [id, kind] of kinds) {
    let fresh = keep && !draft.component(id) && !draft.picture(id) ? id : newId(draft, kind);
    while (taken.has(fresh)) fresh = newId(draft, kind);
    taken.add(fresh);
    ids.set(id, fresh);
  }
  return ids;
}

// cut keeps only edges to copied nodes.
function cut(component: Component, here: ReadonlySet<string>): Component {
  const among = (list: string[] | undefined): string[] => (list ?? []).filter((id) => here.has(id));
  return { ...component, downstream: among(component.downstream), upstream: among(component.upstream) };
}

// dropLostTargets removes targets of branches and error handlers that were not copied.
function dropLostTargets(draft: Draft, specs: Specs, pasted: ReadonlySet<string>): void {
  for (const id of pasted) {
    const params = draft.component(id)?.obj.params;
    if (!params) continue;
    const keep = (to: unknown): unknown => (Array.isArray(to) ? to.filter((each) => pasted.has(word(each))) : to);
    for (const { param, to } of specs.get(draft.component(id)?.obj.component_name ?? "")?.branches ?? []) {
      const value = params[param];
      const narrowed = (each: unknown): unknown =>
        to !== undefined && isObject(each) && to in each ? { ...each, [to]: keep(each[to]) } : each;
      if (to === undefined && value !== undefined) setParam(draft, id, param, keep(value));
      else if (Array.isArray(value)) setParam(draft, id, param, value.map(narrowed));
      else if (isObject(value))
        setParam(
          draft,
          id,
          param,
          Object.fromEntries(Object.entries(value).map(([name, each]) => [name, narrowed(each)])),
        );
    }
    if (params["exception_goto"] !== undefined) setParam(draft, id, "exception_goto", keep(params["exception_goto"]));
  }
}

function list(value: unknown): Params[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
