// Moves nodes into groups and out of them. An edge cannot cross the border of a group: one that
// would leads to the group itself, or around the node that left.

import type { CanvasEdge, CanvasModel, Specs } from "../drawing.ts";
import { sizeOf } from "../places.ts";
import type { Draft } from "./draft.ts";
import { sizeNode } from "./nodes.ts";
import { disconnect, errorHandle } from "./wires.ts";

/**
 * enclose moves nodes into a group, or with undefined out of all; they stay where they are drawn.
 * It removes the edges that crossed the border, and returns their number and what may replace them:
 * the group stands for what went into it, and what stays behind is joined.
 */
export function enclose(
  draft: Draft,
  specs: Specs,
  model: CanvasModel,
  ids: Iterable<string>,
  group: string | undefined,
): { crossed: number; instead: Wire[] } {
  const moved = new Set([...ids].filter((id) => mayMove(model, id, group)));
  const crossed = model.edges.filter(
    (edge) => edge.role !== "tool" && moved.has(edge.source) !== moved.has(edge.target));
  for (const edge of crossed) {
    disconnect(draft, specs, edge.source, edge.target, edge.role === "error" ? errorHandle : edge.branch);
  }
  const to = group === undefined ? { x: 0, y: 0 } : origin(model, group);
  for (const id of [...moved, ...below(model, moved)]) {
    const at = origin(model, id);
    if (draft.component(id)) setOrRemove(draft, ["components", id, "parent_id"], group);
    if (!draft.picture(id)) continue;
    setOrRemove(draft, ["graph", "nodes", id, "parentId"], group);
    setOrRemove(draft, ["graph", "nodes", id, "extent"], group === undefined ? undefined : "parent");
    draft.set(["graph", "nodes", id, "position"], { x: Math.round(at.x - to.x), y: Math.round(at.y - to.y) });
  }
  return { crossed: crossed.length, instead: instead(model, crossed, moved, group) };
}

/** Wire is an edge that may be drawn. */
export interface Wire {
  source: string;
  target: string;
  branch?: string | undefined;
}

// instead returns the edges that replace those crossing a border: into the group and out of it, or
// without a group from the predecessors of the moved nodes to their successors.
function instead(
  model: CanvasModel, crossed: readonly CanvasEdge[], moved: ReadonlySet<string>, group: string | undefined,
): Wire[] {
  const flows = crossed.filter(({ role }) => role === "flow");
  const came = flows.filter(({ target }) => moved.has(target));
  const went = flows.filter(({ source }) => moved.has(source));
  if (group === undefined) {
    return came.flatMap(({ source, branch }) => went.map(({ target }) => ({ source, target, branch })));
  }
  const item = model.nodes.find(({ role, parent }) => role === "item" && parent === group)?.id;
  return [
    ...came.filter(({ source }) => source !== group).map(({ source, branch }) => ({ source, target: group, branch })),
    ...went.filter(({ target }) => target !== group).map(({ target }) => ({ source: group, target })),
    ...(item === undefined ? [] : [...new Set(came.map(({ target }) => target))].map((target) => ({
      source: item, target,
    }))),
  ];
}

function mayMove(model: CanvasModel, id: string, group: string | undefined): boolean {
  const node = model.byId.get(id);
  if (!node || node.parent === group || id === group || node.role !== "node" || node.spec?.role === "start")
    return false;
  return group === undefined || model.byId.get(group)?.role === "group";
}

// below returns the boxes that are attached to agents.
function below(model: CanvasModel, agents: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  const open = new Set(agents);
  for (const id of open) {
    for (const edge of model.edges) {
      if (edge.role !== "tool" || edge.source !== id || open.has(edge.target)) continue;
      open.add(edge.target);
      found.add(edge.target);
    }
  }
  return found;
}

/** origin returns the position of a box on the whole plane. */
export function origin(model: CanvasModel, id: string): { x: number; y: number } {
  let x = 0;
  let y = 0;
  for (
    let node = model.byId.get(id), steps = 0;
    node && steps < 100;
    node = model.byId.get(node.parent ?? ""), steps++
  ) {
    x += node.x;
    y += node.y;
  }
  return { x, y };
}

/** groupAt returns the innermost group at a position. */
export function groupAt(
  model: CanvasModel,
  { x, y }: { x: number; y: number },
  but: ReadonlySet<string> = new Set(),
): string | undefined {
  const around = model.nodes.filter((node) => {
    if (node.role !== "group" || but.has(node.id)) return false;
    const at = origin(model, node.id);
    const { width, height } = sizeOf(node);
    return x >= at.x && y >= at.y && x <= at.x + width && y <= at.y + height;
  });
  return around.at(-1)?.id;
}

const margin = 16; // between the boxes of a group and its border

/**
 * grow makes the groups around nodes larger, until all of their boxes have room; `model` is the
 * picture of the draft.
 */
export function grow(draft: Draft, model: CanvasModel, ids: Iterable<string>): void {
  const groups = new Set<string>();
  for (const id of ids) {
    for (let at = model.byId.get(id)?.parent; at !== undefined && !groups.has(at); at = model.byId.get(at)?.parent) {
      groups.add(at);
    }
  }
  const depth = (id: string): number => {
    const parent = model.byId.get(id)?.parent;
    return parent === undefined ? 0 : 1 + depth(parent);
  };
  const sizes = new Map<string, { width: number; height: number }>();
  for (const id of [...groups].toSorted((a, b) => depth(b) - depth(a))) {
    const group = model.byId.get(id);
    if (!group) continue;
    const now = sizeOf(group);
    let { width, height } = now;
    for (const node of model.nodes) {
      if (node.parent !== id) continue;
      const size = sizes.get(node.id) ?? sizeOf(node);
      width = Math.max(width, node.x + size.width + margin);
      height = Math.max(height, node.y + size.height + margin);
    }
    if (width === now.width && height === now.height) continue;
    sizes.set(id, { width, height });
    sizeNode(draft, id, width, height);
  }
}

function setOrRemove(draft: Draft, path: string[], value: string | undefined): void {
  if (value === undefined) draft.remove(path);
  else draft.set(path, value);
}
