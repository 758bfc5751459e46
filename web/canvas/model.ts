// The picture of a canvas, without any drawing library: nodes with places, edges
// with branches, groups with children. Components define the nodes and edges; `graph` only adds
// positions, names, notes and tool boxes.

import type { BranchSpec, ComponentSpec, Role as ComponentRole } from "@easel/engine";
import type { Component, Dsl, Params } from "./dsl.ts";
import { isObject } from "./dsl.ts";
import type { Branch, CanvasEdge, CanvasModel, CanvasNode, Role, Specs } from "./drawing.ts";
import { joinMembers, lists, toolEntries } from "./members.ts";
import { linksOf, picturesOf, text, type Picture } from "./picture.ts";
import { same } from "./patch.ts";
import { serverTools } from "./servers.ts";
import { summaryOf } from "./summary.ts";
import { attach, settle, type Places } from "./places.ts";

/**
 * build makes the picture of a canvas. `places` is the engine's layout, for a canvas without
 * positions. Boxes and edges that equal those of the picture `before` stay the same objects.
 */
export function build(dsl: Dsl, specs: Specs, places?: Places, before?: CanvasModel): CanvasModel {
  const model = (before && revised(before, dsl, specs, places)) ?? built(dsl, specs, places, before);
  sources.set(model, { dsl, specs, places });
  return model;
}

/** Source holds the inputs from which a picture was made. */
interface Source {
  dsl: Dsl;
  specs: Specs;
  places: Places | undefined;
}

const sources = new WeakMap<CanvasModel, Source>();

// revised returns the picture `before` with other params of one node, as a typed key changes them;
// undefined if more of the picture may differ.
function revised(before: CanvasModel, dsl: Dsl, specs: Specs, places: Places | undefined): CanvasModel | undefined {
  const source = sources.get(before);
  if (!source || source.specs !== specs || source.places !== places) return undefined;
  const id = onlyParams(source.dsl.components, dsl.components);
  const component = id === undefined ? undefined : dsl.components[id];
  const old = id === undefined ? undefined : before.byId.get(id);
  if (id === undefined || !component || !old || !samePictures(source.dsl, dsl, id)) return undefined;
  const edges = before.edges.filter((edge) => edge.source === id);
  if (edges.some(({ role }) => role === "tool")) return undefined; // the boxes of its tools may differ
  const { params, branches, summary, tools, servers } = nodeOf(id, component, picturesOf(dsl), dsl, specs);
  const { servers: _servers, ...rest } = old;
  const node = { ...rest, params, branches, summary, tools, ...(servers ? { servers } : {}) };
  if (!same(edgesOf(node, dsl), edges)) return undefined;
  const nodes = before.nodes.map((each) => (each === old ? node : each));
  return { ...before, nodes, byId: new Map(before.byId).set(id, node) };
}

// samePictures reports whether `graph` draws the same; other editors keep the params of a component
// there too.
function samePictures(before: Dsl, after: Dsl, component: string): boolean {
  if (before.graph === after.graph) return true;
  const edges = ({ graph }: Dsl): unknown => (isObject(graph) ? graph["edges"] : undefined);
  const old = [...picturesOf(before).values()];
  const now = [...picturesOf(after).values()];
  const alike = (a: Picture, b: Picture | undefined): boolean =>
    a === b || (b !== undefined && a.id === component && same({ ...a, form: b.form }, b));
  return edges(before) === edges(after) && old.length === now.length && now.every((each, i) => alike(each, old[i]));
}

// onlyParams returns the id of the one component that differs, if it does in its params alone.
function onlyParams(before: Dsl["components"], after: Dsl["components"]): string | undefined {
  const ids = changedKeys(before, after);
  const [id = ""] = ids ?? [];
  const [old, now] = [before[id], after[id]];
  if (ids?.length !== 1 || !old || !now) return undefined;
  const inside = [changedKeys(old, now), changedKeys(old.obj, now.obj)];
  return same(inside, [["obj"], ["params"]]) ? id : undefined;
}

// changedKeys returns the members with other values; undefined if the members are not the same.
function changedKeys(before: object, after: object): string[] | undefined {
  const keys = Object.keys(after);
  if (!same(Object.keys(before), keys)) return undefined;
  return keys.filter((key) => (before as Params)[key] !== (after as Params)[key]);
}

function built(dsl: Dsl, specs: Specs, places: Places | undefined, before: CanvasModel | undefined): CanvasModel {
  const pictures = picturesOf(dsl);
  const nodes = Object.entries(dsl.components).map(([id, component]) => nodeOf(id, component, pictures, dsl, specs));
  const edges = nodes.flatMap((node) => edgesOf(node, dsl));
  // If one node has no position, all are laid out, since an added one would be far from the others.
  const unplaced = nodes.some((node) => !pictures.get(node.id)?.place);
  addExtras(dsl, pictures, nodes, edges, specs);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const placeless = new Set(
    nodes.filter((node) => (unplaced && node.role !== "note") || !pictures.get(node.id)?.place).map((node) => node.id),
  );
  if (unplaced && places) settle(nodes, places);
  attach(nodes, edges, byId, placeless);
  // A group comes before its children, as drawing them needs.
  const depths = new Map(nodes.map((node) => [node.id, depth(node, byId)]));
  nodes.sort((a, b) => (depths.get(a.id) ?? 0) - (depths.get(b.id) ?? 0));
  return shared({ nodes, edges, byId, unplaced: unplaced && !places }, before);
}

// shared reuses the unchanged parts of the previous picture, so that they are not drawn again.
function shared(model: CanvasModel, before: CanvasModel | undefined): CanvasModel {
  if (!before) return model;
  const old = new Map(before.edges.map((edge) => [edge.id, edge]));
  const kept = <T>(now: T, then: T | undefined): T => (then !== undefined && same(now, then) ? then : now);
  const nodes = model.nodes.map((node) => kept(node, before.byId.get(node.id)));
  const all = model.edges.map((edge) => kept(edge, old.get(edge.id)));
  const unchanged = all.length === before.edges.length && all.every((edge, i) => edge === before.edges[i]);
  const edges = unchanged ? before.edges : all;
  return { ...model, nodes, edges, byId: new Map(nodes.map((node) => [node.id, node])) };
}

type Pictures = ReadonlyMap<string, Picture>;

function nameIn(pictures: Pictures): (id: string) => string {
  return (id) => pictures.get(id)?.name || id;
}

const roles: Partial<Record<ComponentRole, Role>> = { container: "group", item: "item" };

function nodeOf(id: string, component: Component, pictures: Pictures, dsl: Dsl, specs: Specs): CanvasNode {
  const picture = pictures.get(id);
  const { component_name: kind, params } = component.obj;
  const spec = specs.get(kind);
  const node: CanvasNode = {
    id, kind, role: (spec?.role && roles[spec.role]) ?? "node", name: picture?.name || id, ...boxOf(picture), params,
    ...(spec ? { spec } : {}), branches: branchesOf(spec, params), summary: summaryOf(spec, params, nameIn(pictures)),
    tools: toolEntries(params).map(toolName), ...serversOf(params),
  };
  if (component.disabled === true && canBeOff(node)) node.off = true;
  const parent = text(component.parent_id);
  if (parent && dsl.components[parent] && !contains(dsl, id, parent)) node.parent = parent;
  return node;
}

/** canBeOff reports whether a node can be switched off: not the start of a canvas or a group. */
export function canBeOff({ role, spec }: Pick<CanvasNode, "role" | "spec">): boolean {
  return (role === "node" || role === "group") && spec?.role !== "start";
}

/** canFail reports whether a node has an edge for errors, or may get one. */
export function canFail({ spec, params }: Pick<CanvasNode, "spec" | "params">): boolean {
  if (params["exception_method"] === "goto") return true;
  const never = spec?.role === "start" || spec?.role === "sink" || spec?.role === "item";
  return spec?.params?.properties?.["exception_goto"] !== undefined && !never;
}

// contains guards against circles of parents.
function contains(dsl: Dsl, id: string, parent: string): boolean {
  let at: string | undefined = parent;
  for (let steps = 0; at && steps < 100; steps++) {
    if (at === id) return true;
    at = text(dsl.components[at]?.parent_id) || undefined;
  }
  return at !== undefined;
}

function boxOf(picture: Picture | undefined): Pick<CanvasNode, "x" | "y" | "width" | "height"> {
  const { place = { x: 0, y: 0 }, width, height } = picture ?? {};
  return { ...place, ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) };
}

/** branchesOf lists the branches of a node whose component chooses. */
export function branchesOf(spec: ComponentSpec | undefined, params: Params): Branch[] {
  return (spec?.branches ?? []).flatMap((branch) => waysOut(branch, params[branch.param]));
}

function waysOut({ param, to, label = param }: BranchSpec, value: unknown): Branch[] {
  if (to === undefined) return [{ id: param, label, to: strings(value) }];
  const target = (each: unknown): string[] => strings(isObject(each) ? each[to] : undefined);
  if (Array.isArray(value)) {
    return value.map((each, i) => ({
      id: `${label} ${i + 1}`,
      label: conditionText(each) || `${label} ${i + 1}`,
      to: target(each),
    }));
  }
  return isObject(value)
    ? Object.entries(value).map(([name, each]) => ({ id: name, label: name, to: target(each) }))
    : [];
}

// conditionText formats a condition, {items: [{cpn_id, operator, value}], logical_operator}, as one
// line.
function conditionText(condition: unknown): string {
  const { items, logical_operator: logical }: Params = isObject(condition) ? condition : {};
  const parts = (Array.isArray(items) ? items : []) as { cpn_id?: unknown; operator?: unknown; value?: unknown }[];
  const joint = logical === "and" ? " and " : " or ";
  return parts
    .map((each) => `${word(each?.cpn_id).split("@").at(-1)} ${word(each?.operator)} ${word(each?.value)}`.trim())
    .join(joint);
}

function toolName(tool: Params): string {
  return text(tool["name"]) || text(tool["component_name"]) || "?";
}

// word returns a value that fits into a line.
function word(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : text(value);
}

function edgesOf({ id, branches, params }: CanvasNode, dsl: Dsl): CanvasEdge[] {
  const edges: CanvasEdge[] = [];
  const seen = new Set<string>();
  const add = (target: string, role: CanvasEdge["role"], branch?: string): void => {
    const key = `${id}/${branch ?? role}/${target}`;
    if (!dsl.components[target] || seen.has(key)) return;
    seen.add(key);
    edges.push({ id: key, source: id, target, role, ...(branch === undefined ? {} : { branch }) });
  };
  for (const branch of branches) for (const target of branch.to) add(target, "flow", branch.id);
  const reached = new Set(edges.map((edge) => edge.target));
  for (const target of strings(dsl.components[id]?.downstream)) if (!reached.has(target)) add(target, "flow");
  if (params["exception_method"] === "goto") {
    for (const target of strings(params["exception_goto"])) add(target, "error");
  }
  return edges;
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

// addExtras draws boxes that only `graph` has: notes, tool boxes and agents inside agents.
function addExtras(
  dsl: Dsl,
  pictures: Pictures,
  nodes: CanvasNode[],
  edges: CanvasEdge[],
  specs: Specs,
): void {
  const known = new Map(nodes.map((node) => [node.id, node]));
  for (const picture of pictures.values()) {
    if (known.has(picture.id)) continue;
    const note = picture.type === "noteNode";
    const tool = picture.type === "toolNode";
    if (!note && !tool && picture.type !== "agentNode") continue;
    const node: CanvasNode = {
      id: picture.id,
      role: note ? "note" : tool ? "tool" : "agent",
      kind: picture.label,
      name: picture.name,
      ...boxOf(picture),
      params: picture.form,
      branches: [],
      summary: [],
      tools: [],
    };
    const spec = specs.get(picture.label);
    if (spec) node.spec = spec;
    if (note) node.text = text(picture.form["text"]);
    nodes.push(node);
    known.set(node.id, node);
  }
  const seen = new Set<string>();
  for (const edge of linksOf(dsl)) {
    const source = known.get(edge.source);
    const target = known.get(edge.target);
    const id = `${source?.id}/tool/${target?.id}`;
    if (!source || !target || (target.role !== "tool" && target.role !== "agent") || seen.has(id)) continue;
    seen.add(id);
    edges.push({ id, source: source.id, target: target.id, role: "tool" });
    if (target.role === "agent") {
      target.params = toolParams(source, target.id) ?? target.params;
      Object.assign(target, serversOf(target.params));
    }
    target.summary = summaryOf(target.spec, target.params, nameIn(pictures));
  }
  joinMembers(edges, known);
  for (const edge of edges) {
    const source = edge.role === "tool" ? known.get(edge.source) : undefined;
    const target = known.get(edge.target);
    if (source && target?.role === "tool") {
      target.tools = plainTools(source.params, specs);
      source.tools = source.tools.filter((name) => !target.tools.includes(name));
    }
    if (source && target?.role === "agent") source.tools = source.tools.filter((name) => name !== target.name);
  }
}

function serversOf(params: Params): Pick<CanvasNode, "servers"> {
  const servers = serverTools(params);
  return servers.length > 0 ? { servers } : {};
}

function toolParams(agent: CanvasNode, id: string): Params | undefined {
  const found = toolEntries(agent.params).find((tool) => tool["id"] === id)?.["params"];
  return isObject(found) ? found : undefined;
}

// plainTools returns the tools that call no tools themselves.
function plainTools(params: Params, specs: Specs): string[] {
  const calls = (tool: Params): boolean =>
    specs.get(text(tool["component_name"]))?.params?.properties?.["tools"] !== undefined;
  return toolEntries(params).filter((tool) => !calls(tool)).map(toolName);
}

function depth(node: CanvasNode, byId: Map<string, CanvasNode>): number {
  let levels = 0;
  for (let at = node.parent; at; at = byId.get(at)?.parent) levels++;
  return levels;
}

/** reachable returns a node and all that a run from it may reach, bodies of groups included. */
export function reachable(model: CanvasModel | undefined, from: string): Set<string> {
  const found = new Set([from]);
  const { nodes = [], edges = [] } = model ?? {};
  const next = lists([
    ...edges.filter(({ role }) => role !== "tool").map(({ source, target }) => [source, target] as const),
    ...nodes.flatMap(({ id, parent }) => (parent === undefined ? [] : [[parent, id] as const])),
  ]);
  for (const id of found) for (const target of next.get(id) ?? []) found.add(target);
  return found;
}
