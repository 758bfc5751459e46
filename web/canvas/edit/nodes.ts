// Adding, removing, moving and renaming nodes. A renamed node keeps its id.

import type { ComponentSpec } from "@easel/engine";
import type { CanvasModel, CanvasNode, Specs } from "../drawing.ts";
import { isObject, own, word, type Params } from "../dsl.ts";
import { canBeOff } from "../model.ts";
import { sizeOf } from "../places.ts";
import { pictured, setParam, type Draft } from "./draft.ts";
import { newId } from "./ids.ts";
import { connect, disconnect, forget, refusal } from "./wires.ts";

/** Place is a position; in a group, relative to it. */
export interface Place {
  x: number;
  y: number;
  parent?: string;
}

/**
 * addNode adds a node of a component, and returns its id. A container also gets the node that
 * begins its turns.
 */
export function addNode(draft: Draft, specs: Specs, kind: string, name: string, place: Place, params?: Params): string {
  const spec = specs.get(kind);
  const id = newId(draft, spec?.role === "start" ? undefined : kind);
  putNode(draft, { id, kind, spec, name, params: params ?? startingParams(spec) }, place);
  if (spec?.role === "container") {
    const item = specs.get(`${kind}Item`);
    if (item?.role === "item") {
      const inner = newId(draft, item.name);
      putNode(
        draft,
        { id: inner, kind: item.name, spec: item, name: item.name, params: {} },
        { x: 30, y: 110, parent: id },
      );
    }
  }
  return id;
}

/** Added is a new node with an id that the caller chose. */
export interface Added {
  id: string;
  kind: string;
  spec: ComponentSpec | undefined;
  name: string;
  params: Params;
}

/** putNode adds a node with its picture. */
export function putNode(draft: Draft, { id, kind, spec, name, params }: Added, { x, y, parent }: Place): void {
  draft.set(["components", id], {
    obj: { component_name: kind, params },
    downstream: [],
    upstream: [],
    ...(parent === undefined ? {} : { parent_id: parent }),
  });
  const size = spec?.role === "container" ? { width: 620, height: 280 } : {};
  draft.draw({
    id,
    type: pictureType(spec),
    position: { x: Math.round(x), y: Math.round(y) },
    ...size,
    data: { label: kind, name, form: params },
    sourcePosition: "right",
    targetPosition: "left",
    ...(parent === undefined ? {} : { parentId: parent, extent: "parent" }),
  });
}

// pictureType returns the word by which RAGFlow's editor chooses a drawing.
function pictureType(spec: ComponentSpec | undefined): string {
  if (spec?.role === "container") return "group";
  if (spec?.role === "item") return "iterationStartNode";
  const own =
    spec?.role === "start" || spec?.role === "branch" || takesTools(spec) || spec?.category === "conversation";
  return spec && own ? `${spec.name.charAt(0).toLowerCase()}${spec.name.slice(1)}Node` : "ragNode";
}

/** takesTools reports whether a component calls tools. */
export function takesTools(spec: ComponentSpec | undefined): boolean {
  return spec?.params?.properties?.["tools"] !== undefined;
}

/**
 * startingParams returns the params of a new node: required values, and the outputs that others
 * refer to.
 */
export function startingParams(spec: ComponentSpec | undefined): Params {
  const params: Params = {};
  const required = new Set(spec?.params?.required);
  for (const [name, schema] of Object.entries(spec?.params?.properties ?? {})) {
    const { section = "main", hidden = false } = schema["x-easel"] ?? {};
    const shown = !hidden && section !== "advanced" && section !== "fail";
    if (schema.default !== undefined && (shown || required.has(name)))
      params[name] = schema.default;
    else if (required.has(name)) params[name] = emptyOf(name, spec);
  }
  // A declared object is a schema of the answer: nodes answer in plain text until a person adds
  // one.
  const schemas = ["object", "json"];
  const outputs = (spec?.outputs ?? []).filter(
    ({ name, type }) => !/^(\*|_)/.test(name) && !schemas.includes(type ?? "any"),
  );
  if (outputs.length > 0)
    params["outputs"] = Object.fromEntries(outputs.map(({ name, type }) => [name, { type: type ?? "any", value: "" }]));
  return params;
}

// emptyOf returns a value of the right shape: a branch to fill in, an empty list, an empty text.
function emptyOf(name: string, spec: ComponentSpec | undefined): unknown {
  const schema = spec?.params?.properties?.[name];
  const branch = spec?.branches?.find(({ param }) => param === name);
  const type = Array.isArray(schema?.type) ? schema.type[0] : schema?.type;
  if (branch?.to !== undefined && type === "array") return [{ [branch.to]: [] }];
  if (branch?.to !== undefined) return { "1": { description: "", examples: [], [branch.to]: [] } };
  if (type === "array") return [];
  if (type === "object") return {};
  return type === "number" || type === "integer" ? 0 : type === "boolean" ? false : "";
}

/**
 * removeNodes deletes nodes with their children. A node between two others leaves an edge where one
 * may be drawn.
 */
export function removeNodes(draft: Draft, specs: Specs, model: CanvasModel, ids: Iterable<string>): string[] {
  const gone = withMembers(model, ids);
  if (gone.size === 0) return [];
  const bridges = [...gone].flatMap((id) => bridgesOf(model, id, gone));
  removeTools(draft, model, gone);
  for (const id of Object.keys(draft.dsl.components)) if (!gone.has(id)) forget(draft, specs, id, gone);
  for (const id of gone) draft.remove(["components", id]);
  draft.unwire((edge) => gone.has(word(edge["source"])) || gone.has(word(edge["target"])));
  for (const id of gone) while (draft.picture(id)) draft.remove(["graph", "nodes", id]);
  for (const { source, target, branch } of bridges) connect(draft, specs, source, target, branch);
  return [...gone];
}

// removable reports whether a node may be removed: all but the start, and the first of a group.
function removable({ spec, role }: CanvasNode): boolean {
  return spec?.role !== "start" && role !== "item";
}

// withMembers adds the nodes inside groups, and the boxes below agents.
function withMembers(model: CanvasModel, ids: Iterable<string>): Set<string> {
  const gone = new Set(
    [...ids].filter((id) => {
      const node = model.byId.get(id);
      return node && removable(node);
    }),
  );
  for (const id of gone) {
    for (const node of model.nodes) if (node.parent === id) gone.add(node.id);
    for (const edge of model.edges) if (edge.role === "tool" && edge.source === id) gone.add(edge.target);
  }
  return gone;
}

interface Bridge {
  source: string;
  target: string;
  branch?: string;
}

// bridgesOf connects the predecessors of a node with its successor.
function bridgesOf(model: CanvasModel, id: string, gone: ReadonlySet<string>): Bridge[] {
  const next = model.edges.filter((edge) => edge.source === id && edge.role === "flow");
  const [only] = next;
  if (!only || next.length > 1 || gone.has(only.target)) return [];
  return model.edges
    .filter((edge) => edge.target === id && edge.role === "flow" && !gone.has(edge.source))
    .flatMap(({ source, branch }) =>
      refusal(model, source, only.target, branch)
        ? []
        : [{ source, target: only.target, ...(branch === undefined ? {} : { branch }) }],
    );
}

// removeTools removes boxes below agents from the params of their agents: a box of tools stands for
// all tools without a box.
function removeTools(draft: Draft, model: CanvasModel, gone: ReadonlySet<string>): void {
  for (const { source, target, role } of model.edges) {
    const box = model.byId.get(target);
    if (role !== "tool" || !gone.has(target) || gone.has(source) || !box) continue;
    const tools = model.byId.get(source)?.params["tools"];
    if (!Array.isArray(tools)) continue;
    const named = new Set(box.tools);
    const left = tools.filter((tool: unknown) => {
      if (!isObject(tool)) return true;
      return box.role === "agent" ? tool["id"] !== box.id : !named.has(word(tool["name"] || tool["component_name"]));
    });
    setParam(draft, source, "tools", left);
  }
}

/** nameNode changes the name of a node, and the texts that refer to it by name. */
export function nameNode(draft: Draft, id: string, name: string): void {
  const picture = draft.picture(id);
  if (!picture) {
    const kind = draft.component(id)?.obj.component_name ?? "";
    draft.draw({ id, type: "ragNode", data: { label: kind, name } });
    return;
  }
  if (!isObject(picture["data"])) draft.set(["graph", "nodes", id, "data"], { name });
  else draft.set(["graph", "nodes", id, "data", "name"], name);
}

/** switchNodes switches nodes off, or on again. */
export function switchNodes(draft: Draft, model: CanvasModel, ids: readonly string[], off: boolean): void {
  for (const id of ids) {
    const node = model.byId.get(id);
    if (!node || !canBeOff(node) || !draft.component(id)) continue;
    if (off) draft.set(["components", id, "disabled"], true);
    else draft.remove(["components", id, "disabled"]);
  }
}

/** moveNodes moves boxes to other places, relative to their groups. */
export function moveNodes(
  draft: Draft,
  model: CanvasModel,
  places: Readonly<Record<string, { x: number; y: number }>>,
): void {
  for (const [id, { x, y }] of Object.entries(places)) {
    const position = { x: Math.round(x), y: Math.round(y) };
    if (!draft.picture(id)) drawMissing(draft, model, id, position);
    else draft.set(["graph", "nodes", id, "position"], position);
  }
}

/** sizeNode makes a group or a note larger or smaller. */
export function sizeNode(draft: Draft, id: string, width: number, height: number): void {
  if (!draft.picture(id)) return;
  draft.set(["graph", "nodes", id, "width"], Math.round(width));
  draft.set(["graph", "nodes", id, "height"], Math.round(height));
}

function drawMissing(draft: Draft, model: CanvasModel, id: string, position: { x: number; y: number }): void {
  const node = model.byId.get(id);
  if (!node || pictured.has(node.role)) return;
  const { width, height } = sizeOf(node);
  draft.draw({
    id,
    type: pictureType(node.spec),
    position,
    ...(node.role === "group" ? { width, height } : {}),
    data: { label: node.kind, name: node.name },
    ...(node.parent === undefined ? {} : { parentId: node.parent }),
  });
}

/** placeAll writes the place of every box into `graph`, for a canvas without places. */
export function placeAll(draft: Draft, model: CanvasModel): void {
  moveNodes(draft, model, Object.fromEntries(model.nodes.map(({ id, x, y }) => [id, { x, y }])));
}

/** insertBetween puts a node into the edge between two others. */
export function insertBetween(
  draft: Draft,
  specs: Specs,
  id: string,
  edge: { source: string; target: string; branch?: string },
): void {
  disconnect(draft, specs, edge.source, edge.target, edge.branch);
  connect(draft, specs, edge.source, id, edge.branch);
  const spec = specs.get(own(draft.dsl.components, id)?.obj.component_name ?? "");
  const branch = spec?.branches?.length ? firstBranch(draft, spec, id) : undefined;
  if (spec?.role !== "sink") connect(draft, specs, id, edge.target, branch);
}

function firstBranch(draft: Draft, spec: ComponentSpec, id: string): string | undefined {
  const [first] = spec.branches ?? [];
  if (!first || first.to === undefined) return first?.param;
  const value = draft.params(id)[first.param];
  return Array.isArray(value) ? `${first.label ?? first.param} 1` : Object.keys(isObject(value) ? value : {})[0];
}
