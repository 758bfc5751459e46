// Orders the steps of a run into a tree: what ran inside an Iteration or a Loop
// stands under it, turn by turn, and what the tools of an agent called stands under
// them.

import type { Step, ToolUse } from "@easel/engine/state";
import type { CanvasModel } from "../canvas/drawing.ts";
import type { Profile, Span } from "./profile.ts";
import { callOf } from "./subagents.ts";

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
    if (node?.role === "item" || parent.turns.length === 0)
      parent.turns.push({ index: parent.turns.length, entries: [] });
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

/** ToolCall is a call of a tool with the calls that it made itself. */
export interface ToolCall {
  use: ToolUse;
  inner: ToolCall[];
}

/**
 * toolCalls orders the calls of an agent into a tree. A path leads from agent to agent,
 * "Gardener-->Librarian"; the second is called as a tool of the first, by its name with a number.
 */
export function toolCalls(uses: ToolUse[]): ToolCall[] {
  const top: ToolCall[] = [];
  const agents = new Map<string, ToolCall>(); // by the path of what they call
  for (const use of uses) {
    const { agent, tool } = callOf(use);
    const call: ToolCall = { use, inner: [] };
    (agents.get(agent)?.inner ?? top).push(call);
    agents.set(`${agent}-->${tool}`, call);
  }
  return top;
}

/**
 * startOf returns the start of a step, in Unix seconds, for an ended step to the millisecond.
 */
export function startOf(step: Step): number {
  const precise = step.outputs?.["_created_time"];
  return typeof precise === "number" ? precise : step.startedAt;
}

/** spansOf finds the spans of steps: both count the executions of a node. */
export function spansOf(profile: Profile, steps: Step[]): Map<Step, Span> {
  const spans = new Map(profile.steps.map((span) => [`${span.node} ${span.run}`, span]));
  const counts = new Map<string, number>();
  const found = new Map<Step, Span>();
  for (const step of steps) {
    if (step.elapsed === undefined) continue; // it has not finished
    const run = (counts.get(step.node) ?? 0) + 1;
    counts.set(step.node, run);
    const span = spans.get(`${step.node} ${run}`);
    if (span) found.set(step, span);
  }
  return found;
}
