// Several boxes on one line, or with equal gaps.

import type { CanvasModel, CanvasNode } from "../drawing.ts";
import { sizeOf } from "../places.ts";

/** Alignment is a way to align boxes. */
export type Alignment = "left" | "center" | "right" | "top" | "middle" | "bottom" | "across" | "down";

/** aligned returns the places of aligned boxes; boxes outside the group of the first one stay. */
export function aligned(
  model: CanvasModel,
  ids: Iterable<string>,
  how: Alignment,
): Record<string, { x: number; y: number }> {
  const all = [...ids].flatMap((id) => model.byId.get(id) ?? []);
  const boxes = all.filter((node) => node.parent === all[0]?.parent);
  if (boxes.length < 2) return {};
  const flat = how === "left" || how === "center" || how === "right" || how === "across";
  const [side, length] = flat ? (["x", "width"] as const) : (["y", "height"] as const);
  const size = (node: CanvasNode): number => sizeOf(node)[length];
  const from = Math.min(...boxes.map((node) => node[side]));
  const to = Math.max(...boxes.map((node) => node[side] + size(node)));
  const place = (node: CanvasNode, value: number): [string, { x: number; y: number }] => [
    node.id,
    { x: node.x, y: node.y, [side]: Math.round(value) },
  ];
  if (how === "across" || how === "down") {
    const order = boxes.toSorted((a, b) => a[side] - b[side]);
    const gap = (to - from - boxes.reduce((sum, node) => sum + size(node), 0)) / (boxes.length - 1);
    let at = from;
    return Object.fromEntries(
      order.map((node) => {
        const start = at;
        at += size(node) + gap;
        return place(node, start);
      }),
    );
  }
  return Object.fromEntries(
    boxes.map((node) => {
      if (how === "left" || how === "top") return place(node, from);
      return place(node, how === "right" || how === "bottom" ? to - size(node) : (from + to - size(node)) / 2);
    }),
  );
}
