// Boxes that stand on one another.

import type { CanvasModel, CanvasNode } from "./drawing.ts";
import { sizeOf } from "./places.ts";

/** overlapping counts the boxes that cover another one of the same group; notes may. */
export function overlapping({ nodes, unplaced }: CanvasModel): number {
  if (unplaced) return 0; // they are laid out when they are opened
  const boxes = nodes.filter(({ role }) => role !== "note").map((node) => ({ node, ...sizeOf(node) }))
    .toSorted((a, b) => a.node.x - b.node.x);
  const found = new Set<CanvasNode>();
  boxes.forEach(({ node: left, width, height }, i) => {
    for (const { node: right, height: other } of boxes.slice(i + 1)) {
      if (right.x >= left.x + width) break;
      if (left.parent !== right.parent || right.y >= left.y + height || left.y >= right.y + other) continue;
      found.add(left).add(right);
    }
  });
  return found.size;
}
