// The boxes next to another one, for the keyboard.

import type { CanvasModel, CanvasNode } from "./drawing.ts";
import { origin } from "./edit/groups.ts";
import { sizeOf } from "./places.ts";

interface Direction {
  x: number;
  y: number;
}

/** neighbor returns the nearest box in a direction; without a box to start from, the first. */
export function neighbor(model: CanvasModel | undefined, from: string | undefined, to: Direction): string | undefined {
  const start = from === undefined ? undefined : model?.byId.get(from);
  if (!model || !start) return model?.nodes[0]?.id;
  const [x, y] = middle(model, start);
  let best: { id: string; distance: number } | undefined;
  for (const node of model.nodes) {
    const [dx, dy] = middle(model, node).map((at, i) => at - (i === 0 ? x : y)) as [number, number];
    const along = dx * to.x + dy * to.y;
    if (node.id === start.id || along <= 0) continue;
    const distance = along + 2 * Math.abs(to.x === 0 ? dx : dy); // boxes straight ahead come first
    if (!best || distance < best.distance) best = { id: node.id, distance };
  }
  return best?.id;
}

/** following returns the next or previous box in the order of the picture, wrapping around. */
export function following(model: CanvasModel | undefined, from: string | undefined, step: 1 | -1): string | undefined {
  const { nodes = [] } = model ?? {};
  const at = nodes.findIndex(({ id }) => id === from);
  if (at < 0) return nodes.at(step > 0 ? 0 : -1)?.id;
  return nodes[(at + step + nodes.length) % nodes.length]?.id;
}

function middle(model: CanvasModel, node: CanvasNode): [number, number] {
  const { x, y } = origin(model, node.id);
  const { width, height } = sizeOf(node);
  return [x + width / 2, y + height / 2];
}
