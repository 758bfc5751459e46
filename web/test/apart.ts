// What a layout must hold to, whoever made it.

import assert from "node:assert/strict";
import type { CanvasModel, CanvasNode } from "../canvas/picture.ts";
import { sizeOf } from "../canvas/places.ts";

/** apart asserts that no two boxes overlap and that groups hold their children. */
export function apart(model: CanvasModel): void {
  for (const parent of new Set(model.nodes.map((node) => node.parent))) {
    const members = model.nodes.filter((node) => node.parent === parent);
    members.forEach((a, i) => members.slice(i + 1).forEach((b) => assert.ok(!overlap(a, b), `${a.id} and ${b.id}`)));
    const group = parent === undefined ? undefined : model.byId.get(parent);
    for (const child of group ? members : []) {
      const { width, height } = sizeOf(child);
      assert.ok(child.x >= 0 && child.y >= 0 && child.x + width <= (group?.width ?? 0) && child.y + height <= (group?.height ?? 0), `${child.id} in ${parent}`);
    }
  }
}

function overlap(a: CanvasNode, b: CanvasNode): boolean {
  const [sizeA, sizeB] = [sizeOf(a), sizeOf(b)];
  return a.x < b.x + sizeB.width && b.x < a.x + sizeA.width && a.y < b.y + sizeB.height && b.y < a.y + sizeA.height;
}
