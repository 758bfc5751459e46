// Rules for every layout, whatever its source.

import assert from "node:assert/strict";
import type { CanvasModel, CanvasNode } from "../canvas/drawing.ts";
import { sizeOf } from "../canvas/places.ts";

/** apart asserts that no two boxes overlap and that groups hold their children. */
export function apart(model: CanvasModel): void {
  for (const parent of new Set(model.nodes.map((node) => node.parent))) {
    const members = model.nodes.filter((node) => node.parent === parent);
    members.forEach((a, i) => members.slice(i + 1).forEach((b) => assert.ok(!overlap(a, b), `${a.id} and ${b.id}`)));
    const group = parent === undefined ? undefined : model.byId.get(parent);
    for (const child of group ? members : []) {
      const { width, height } = sizeOf(child);
      assert.ok(
        child.x >= 0 &&
          child.y >= 0 &&
          child.x + width <= (group?.width ?? 0) &&
          child.y + height <= (group?.height ?? 0),
        `${child.id} in ${parent}`,
      );
    }
  }
}

function overlap(a: CanvasNode, b: CanvasNode): boolean {
  const [sizeA, sizeB] = [sizeOf(a), sizeOf(b)];
  return a.x < b.x + sizeB.width && b.x < a.x + sizeA.width && a.y < b.y + sizeB.height && b.y < a.y + sizeA.height;
}

/**
 * unhidden asserts that each edge between nodes leads to the right and passes behind no other box.
 */
export function unhidden(model: CanvasModel): void {
  for (const { source, target, role } of model.edges) {
    const [a, b] = [model.byId.get(source), model.byId.get(target)];
    if (role === "tool" || !a || !b) continue;
    const from = { x: a.x + sizeOf(a).width, y: a.y + sizeOf(a).height / 2 };
    const to = { x: b.x, y: b.y + sizeOf(b).height / 2 };
    assert.ok(from.x < to.x, `${source} to ${target} leads to the right`);
    for (const box of model.nodes)
      if (box !== a && box !== b) assert.ok(!passes(from, to, box), `${source} to ${target} behind ${box.id}`);
  }
}

// passes checks a hundred points of the straight line between two positions.
function passes(from: { x: number; y: number }, to: { x: number; y: number }, box: CanvasNode): boolean {
  const { width, height } = sizeOf(box);
  return Array.from({ length: 101 }, (_, i) => i / 100).some((part) => {
    const [x, y] = [from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part];
    return x > box.x && x < box.x + width && y > box.y && y < box.y + height;
  });
}
