// Orders the steps of a run into a tree: the steps inside an Iteration or a Loop are below it, by
// turn, and the calls of an agent's tools below the tools.

import type { Step, ToolUse } from "@easel/engine/state";
import type { CanvasModel } from "../canvas/drawing.ts";
import type { Span } from "./profile.ts";
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
  const open = new Map<string, Entry>(); // by node and items
  for (const step of steps) {
    const entry: Entry = { step, turns: [] };
    const node = model.byId.get(step.node);
    open.set(keyOf(step.node, step.items), entry);
    const inside = (items?: readonly number[]): Entry | undefined =>
      node?.parent === undefined ? undefined : open.get(keyOf(node.parent, items));
    const container = inside(step.items);
    const besideOthers = container ? undefined : inside(step.items?.slice(0, -1));
    if (container) turnOf(container, node?.role === "item").entries.push(entry);
    else if (besideOthers) elementOf(besideOthers, step.items?.at(-1) ?? 0).entries.push(entry);
    else top.push(entry);
  }
  for (const entry of open.values()) trim(entry);
  return top;
}

const keyOf = (node: string, items: readonly number[] = []): string => [node, ...items].join(" ");

// The step of an item opens a turn, unless it only found that nothing is left.
function turnOf(parent: Entry, opens: boolean): Turn {
  let turn = parent.turns.at(-1);
  if (opens || !turn) parent.turns.push((turn = { index: parent.turns.length, entries: [] }));
  return turn;
}

// Each of the concurrent elements has a turn, in the order of the list.
function elementOf(parent: Entry, index: number): Turn {
  const at = parent.turns.findIndex((turn) => turn.index >= index);
  const found = parent.turns[at];
  if (found?.index === index) return found;
  const turn: Turn = { index, entries: [] };
  parent.turns.splice(at < 0 ? parent.turns.length : at, 0, turn);
  return turn;
}

// trim drops the turn of an item step that found that nothing is left.
function trim(entry: Entry): void {
  const last = entry.turns.at(-1);
  const finished = entry.step.status !== "running";
  const inTurn = last?.entries[0]?.step.items?.length === entry.step.items?.length;
  if (finished && inTurn && entry.turns.length > 1 && last?.entries.length === 1) entry.turns.pop();
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

/**
 * stepsOf finds the steps of spans: both count the executions of a node, of each element of a body
 * by itself.
 */
export function stepsOf(spans: readonly Span[], steps: Step[]): (Step | undefined)[] {
  const count = counter();
  const ended = steps.filter((step) => step.elapsed !== undefined);
  const found = new Map(ended.map((step) => [count(step), step]));
  const again = counter();
  return spans.map((span) => found.get(again(span)));
}

// counter names executions, the first of a node and element with 1.
function counter(): (of: { node: string; items?: number[] }) => string {
  const counts = new Map<string, number>();
  return ({ node, items }) => {
    const key = keyOf(node, items);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return `${key} ${count}`;
  };
}
