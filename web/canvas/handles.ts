// The handles of a box, where edges begin and end. React Flow draws no edge to a missing handle.

import type { CanvasEdge, CanvasNode } from "./drawing.ts";
import { errorHandle, toolHandle } from "./edit/wires.ts";
import { canFail } from "./model.ts";

/** Handles are the names of the handles of a box, in order; "" is one without a name. */
export interface Handles {
  sources: readonly string[];
  targets: readonly string[];
}

/** handlesOf returns the handles of a box. */
export function handlesOf(node: CanvasNode): Handles {
  const { role, branches, spec } = node;
  if (role === "note") return { sources: [], targets: [] };
  if (role === "tool" || role === "agent") return { sources: [toolHandle], targets: ["top"] };
  const errors = canFail(node) ? [errorHandle] : [];
  if (role !== "node") return { sources: ["", ...errors], targets: [""] };
  const ways = branches.length > 0 ? branches.map(({ id }) => id) : spec?.role === "sink" ? [] : [""];
  return {
    sources: [...ways, ...errors, toolHandle],
    targets: spec?.role === "start" ? [] : [""],
  };
}

/** endsOf returns the handles of an edge at its two boxes; undefined is the first of a box. */
export function endsOf({ role, branch }: CanvasEdge): { source: string | undefined; target: string | undefined } {
  if (role === "tool") return { source: toolHandle, target: "top" };
  return { source: role === "error" ? errorHandle : branch, target: undefined };
}
