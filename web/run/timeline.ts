// Orders the steps of a run into a tree: what ran inside an Iteration or a Loop
// stands under it, turn by turn.

import type { Step } from "@easel/engine/state";
import type { CanvasModel } from "../canvas/model.ts";

/** Entry is a line of the timeline. */
export interface Entry {
  step: Step;
  turns: Turn[];
}

/** Turn is one pass through a body. */
export interface Turn {
  index: number;
  entries: Entry[];
}

/** timeline builds the tree. */
export function timeline(steps: Step[], model: CanvasModel): Entry[] {
  const top: Entry[] = [];
  const open = new Map<string, Entry>();
  for (const step of steps) {
    const entry: Entry = { step, turns: [] };
    open.set(step.node, entry);
    const node = model.byId.get(step.node);
    const parent = node?.parent ? open.get(node.parent) : undefined;
    if (!parent) {
      top.push(entry);
      continue;
    }
    // The step of an item opens a turn, unless it only found that nothing is left.
    if (node?.role === "item" || parent.turns.length === 0) parent.turns.push({ index: parent.turns.length, entries: [] });
    parent.turns.at(-1)?.entries.push(entry);
  }
  for (const entry of open.values()) trim(entry);
  return top;
}

function trim(entry: Entry): void {
  const last = entry.turns.at(-1);
  const finished = entry.step.status !== "running";
  if (finished && entry.turns.length > 1 && last?.entries.length === 1) entry.turns.pop();
}
