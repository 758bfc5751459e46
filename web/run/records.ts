// The events of one run with quick access to the state after any of them. A state
// is kept every few events, the others are reached from the nearest one before.

import type { RunEvent } from "@easel/engine";
import { emptyState, reduce, replay, type RunState, type Step } from "@easel/engine/state";
import { own } from "../canvas/dsl.ts";

const stride = 64;

/** Records grows during a run. */
export class Records {
  readonly events: RunEvent[] = [];
  /** Number of steps of the run that this one continues. */
  readonly earlier: number;
  readonly #snapshots: RunState[];
  #last: RunState;

  /** A run that continues another begins with the state of that one. */
  constructor(base: RunState = emptyState) {
    this.#snapshots = [base];
    this.#last = base;
    this.earlier = base.steps.length;
  }

  /** push adds events and returns the state after them. */
  push(events: Iterable<RunEvent>): RunState {
    for (const event of events) {
      this.events.push(event);
      this.#last = reduce(this.#last, event);
      if (this.events.length % stride === 0) this.#snapshots.push(this.#last);
    }
    return this.#last;
  }

  /** truncate drops the events after the first `count`, which are void. */
  truncate(count: number): void {
    this.#last = this.at(count);
    this.events.length = Math.min(count, this.events.length);
    this.#snapshots.length = Math.floor(this.events.length / stride) + 1;
  }

  /** settle replaces the last state by that of the result, which may have more than the events. */
  settle(state: RunState): void {
    this.#last = state;
  }

  /** at returns the state after the first `count` events. */
  at(count: number): RunState {
    if (count >= this.events.length) return this.#last;
    const base = Math.floor(count / stride);
    return replay(this.events.slice(base * stride, count), this.#snapshots[base]);
  }
}

/** waiting adds the nodes that wait for a person, which the engine starts only after the answer. */
export function waiting(state: RunState, nodes: { id: string; name: string; kind: string }[], now: number): RunState {
  const steps = nodes.map(({ id, name, kind }, i): Step => ({
    index: state.steps.length + i,
    run: (own(state.latest, id)?.run ?? 0) + 1,
    node: id,
    name,
    type: kind,
    status: "paused",
    thoughts: "",
    startedAt: now,
    tools: [],
    models: [],
  }));
  return {
    ...state,
    steps: [...state.steps, ...steps],
    latest: { ...state.latest, ...Object.fromEntries(steps.map((step) => [step.node, step])) },
  };
}

/**
 * keptGood returns the state after a node was run alone: if that failed, other nodes and the
 * picture use its last good result. Both executions are listed.
 */
export function keptGood(state: RunState, before: RunState | undefined, node: string): RunState {
  const good = own(before?.latest ?? {}, node);
  if (good?.status !== "succeeded" || own(state.latest, node)?.status === "succeeded") return state;
  return { ...state, latest: { ...state.latest, [node]: good } };
}

/**
 * continued returns the initial state of a run that continues an earlier one: with the outputs of
 * nodes and no messages. Nodes that run again and executions that did not end are left out.
 */
export function continued(shown: RunState, again: ReadonlySet<string> = new Set()): RunState {
  const { variables, inputs, messageId, taskId } = shown;
  const steps = shown.steps
    .filter((step) => step.elapsed !== undefined && !again.has(step.node))
    .map((step, index) => ({ ...step, index }));
  const latest = Object.fromEntries(steps.map((step) => [step.node, step]));
  return { ...emptyState, status: "running", inputs, messageId, taskId, variables, steps, latest };
}

const newest = 400; // events that are searched for an attempt

/** attemptOf returns which attempt of a running node began last, after others failed. */
export function attemptOf(events: readonly RunEvent[], node: string): { number: number; of: number } | undefined {
  for (let at = events.length - 1; at >= Math.max(0, events.length - newest); at--) {
    const event = events[at];
    if (event?.event === "node_started" && event.data.component_id === node) return undefined;
    if (event?.event !== "warning" || event.data.component_id !== node) continue;
    const { attempt, attempts } = event.data;
    if (attempt !== undefined && attempts !== undefined) return { number: attempt, of: attempts };
  }
  return undefined;
}
