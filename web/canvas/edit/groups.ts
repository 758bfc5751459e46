// Moves nodes into groups and out of them. An edge cannot cross the border of a group, so those
// that would are removed.

import type { CanvasModel, Specs } from "../drawing.ts";
import { sizeOf } from "../places.ts";
import type { Draft } from "./draft.ts";
import { disconnect, errorHandle } from "./wires.ts";

/**
 * enclose moves nodes into a group, or with undefined out of all; they stay where they are drawn.
 */
export function enclose(
  draft: Draft,
  specs: Specs,
  model: CanvasModel,
  ids: Iterable<string>,
  group: string | undefined,
): void {
  const moved = new Set([...ids].filter((id) => mayMove(model, id, group)));
  for (const edge of model.edges) {
    if (edge.role === "tool" || moved.has(edge.source) === moved.has(edge.target)) continue;
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

function setOrRemove(draft: Draft, path: string[], value: string | undefined): void {
  if (value === undefined) draft.remove(path);
  else draft.set(path, value);
}
