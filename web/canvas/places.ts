// Positions of boxes that the file lacks. The engine lays out the nodes; boxes that only the
// picture has (tool boxes, agents inside agents, notes) are placed next to their owners.

import type { Layout } from "@easel/engine";
import { dict, own } from "./dsl.ts";
import type { CanvasEdge, CanvasNode } from "./drawing.ts";

/** Places are the result of the engine's layout, by node. */
export type Places = Layout["nodes"];

/** sizeOf returns the default size of a box. */
export function sizeOf(node: CanvasNode): { width: number; height: number } {
  if (node.role === "item") return { width: node.width ?? 120, height: node.height ?? 44 };
  // The number of tools of a server is unknown here: without a choice it counts as mostTools.
  const served = (node.servers ?? []).reduce((sum, { tools }) => sum + (tools?.length ?? mostTools), 0);
  const rows = node.branches.length + Math.ceil(Math.min(node.tools.length + served, mostTools + 1) / 2);
  const second = widthOf(node.name) > titleWidth ? 20 : 0;
  return { width: node.width ?? 200, height: node.height ?? 64 + second + rows * 26 + node.summary.length * 21 };
}

const titleWidth = 140; // of a line of a title in a box of the default width

// widthOf estimates the width of a title: Chinese characters are square.
function widthOf(title: string): number {
  let width = 0;
  for (const sign of title) width += sign > "\u2E7F" ? 15 : 8;
  return width;
}

/** mostTools is the maximum number of tools that a box names; the inspector lists them all. */
export const mostTools = 6;

/** sizesOf returns the sizes of the boxes for the layout. */
export function sizesOf(nodes: CanvasNode[]): Record<string, [number, number]> {
  return Object.fromEntries(nodes.map((node) => [node.id, Object.values(sizeOf(node)) as [number, number]]));
}

/** settle puts nodes at the positions of the layout. A node without one goes into a row below. */
export function settle(nodes: CanvasNode[], places: Places): void {
  const lowest = Math.max(0, ...Object.values(places).map((place) => place.y)) + 200;
  let column = 0;
  for (const node of nodes) {
    if (node.role === "note" || node.role === "tool" || node.role === "agent") continue;
    const place = own(places, node.id);
    if (place) Object.assign(node, place);
    else if (node.parent === undefined) Object.assign(node, { x: column++ * 260, y: lowest });
  }
}

/** rows places nodes without regard to edges, if there is no engine. */
export function rows(nodes: CanvasNode[]): Places {
  const inside = new Map<string | undefined, number>();
  const places: Places = dict({});
  for (const node of nodes.toReversed().toSorted((a, b) => Number(a.role === "group") - Number(b.role === "group"))) {
    const at = inside.get(node.parent) ?? 0;
    inside.set(node.parent, at + 1);
    const members = inside.get(node.id) ?? 0;
    places[node.id] = {
      x: 40 + (at % 6) * 280,
      y: 60 + Math.floor(at / 6) * 200,
      ...(node.role === "group"
        ? {
            width: 40 + Math.min(6, Math.max(1, members)) * 280,
            height: 60 + Math.ceil(Math.max(1, members) / 6) * 200,
          }
        : {}),
    };
  }
  return places;
}

/**
 * attach puts tool boxes and inner agents without a place below their agent, and notes above
 * everything.
 */
export function attach(
  nodes: CanvasNode[],
  edges: CanvasEdge[],
  byId: Map<string, CanvasNode>,
  placeless: Set<string>,
): void {
  const below = new Map<string, number>();
  for (const { source, target, role } of edges) {
    const agent = byId.get(source);
    const box = byId.get(target);
    if (role !== "tool" || !agent || !box || !placeless.has(box.id)) continue;
    const at = below.get(agent.id) ?? 0;
    below.set(agent.id, at + 1);
    Object.assign(box, { x: agent.x + at * 230, y: agent.y + sizeOf(agent).height + 70 });
    if (agent.parent !== undefined) box.parent = agent.parent;
  }
  const notes = nodes.filter((node) => node.role === "note" && placeless.has(node.id));
  const highest = Math.min(
    0,
    ...nodes.filter((node) => node.parent === undefined && !notes.includes(node)).map((node) => node.y),
  );
  notes.forEach((note, at) => Object.assign(note, { x: at * 260, y: highest - sizeOf(note).height - 60 }));
}
