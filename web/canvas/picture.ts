// The data of `graph`: positions and names of nodes, notes and tool boxes. Other editors write it
// and nothing checks it, so each member is used only if it has the expected type.

import { isObject, type Dsl, type Params } from "./dsl.ts";

/** Picture is the data of a node in `graph`. */
export interface Picture {
  id: string;
  type: string;
  name: string;
  /** Kind of a box that is not a component. */
  label: string;
  form: Params;
  /** Present if the picture has the position of the node. */
  place?: { x: number; y: number };
  width?: number;
  height?: number;
}

// A cache by `graph`: most edits do not change it.
const graphs = new WeakMap<object, ReadonlyMap<string, Picture>>();
const nodes = new WeakMap<object, Picture>();

/** picturesOf reads the nodes of `graph`; the last of several with one id counts. */
export function picturesOf(dsl: Dsl): ReadonlyMap<string, Picture> {
  const graph = isObject(dsl.graph) ? dsl.graph : {};
  const known = graphs.get(graph);
  if (known) return known;
  const pictures = new Map<string, Picture>();
  for (const node of objectsIn(graph, "nodes")) {
    const picture = nodes.get(node) ?? read(node);
    if (!picture) continue;
    nodes.set(node, picture);
    pictures.set(picture.id, picture);
  }
  graphs.set(graph, pictures);
  return pictures;
}

function read(node: Params): Picture | undefined {
  if (typeof node["id"] !== "string") return undefined;
  const { data, position, measured } = node;
  const { name, label, form }: Params = isObject(data) ? data : {};
  const picture: Picture = {
    id: node["id"], type: text(node["type"]), name: text(name), label: text(label), form: isObject(form) ? form : {},
  };
  const { x, y }: Params = isObject(position) ? position : {};
  if (finite(x) && finite(y)) picture.place = { x, y };
  for (const side of ["width", "height"] as const) {
    const length = node[side] ?? (isObject(measured) ? measured[side] : undefined);
    if (finite(length) && length > 0) picture[side] = length;
  }
  return picture;
}

/** linksOf reads the edges of `graph`. */
export function linksOf({ graph }: Dsl): { source: string; target: string }[] {
  return objectsIn(graph, "edges").map(({ source, target }) => ({ source: text(source), target: text(target) }));
}

function objectsIn(graph: unknown, member: string): Params[] {
  const list = isObject(graph) ? graph[member] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** text returns a value that is a string, or "". */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const farthest = 1e6; // beyond, a drawing has no precision

function finite(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= farthest;
}
