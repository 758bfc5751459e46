// The repeated edges of a merged document: an edge is in a branch, in the lists of both components
// and in `graph`, and two people may have changed different ones.

import type { CanvasModel } from "../drawing.ts";
import { isObject, type Dsl, type Params } from "../dsl.ts";
import { Draft } from "./draft.ts";

/**
 * mirror returns a merged document whose lists and `graph` have the edges that its nodes lead to.
 * Only edges that one of the `sides` had in both are changed: documents of other programs may
 * differ in them.
 */
export function mirror(merged: Dsl, sides: readonly Dsl[], drawing: (dsl: Dsl) => CanvasModel): Dsl {
  const known = new Map<string, Params>();
  for (const side of sides) {
    const led = leading(drawing(side));
    for (const edge of edgesOf(side)) if (led.has(nameOf(edge))) known.set(nameOf(edge), edge);
  }
  const draft = new Draft(merged);
  const now = leading(drawing(merged));
  draft.unwire((edge) => known.has(nameOf(edge)) && !now.has(nameOf(edge)));
  const there = new Set(draft.edges().map(nameOf));
  for (const [name, { source, target, isFlow }] of now) {
    const edge = known.get(name);
    if (!edge) continue;
    if (!there.has(name)) draft.wire(edge);
    if (isFlow) draft.include(["components", source, "downstream"], target);
    draft.include(["components", target, "upstream"], source);
  }
  return draft.dsl;
}

interface Led {
  source: string;
  target: string;
  isFlow: boolean;
}

// leading lists the pairs of nodes that an edge leads from and to.
function leading({ edges }: CanvasModel): Map<string, Led> {
  const led = new Map<string, Led>();
  for (const { source, target, role } of edges) {
    if (role === "tool") continue;
    const name = nameOf({ source, target });
    led.set(name, { source, target, isFlow: role === "flow" || led.get(name)?.isFlow === true });
  }
  return led;
}

function nameOf({ source, target }: Params): string {
  return JSON.stringify([source, target]);
}

function edgesOf({ graph }: Dsl): Params[] {
  const list = isObject(graph) ? graph["edges"] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}
