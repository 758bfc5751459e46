// The events of one run with quick access to the state after any of them. A state
// is kept every few events, the others are reached from the nearest one before.

import type { RunEvent } from "@easel/engine";
import { emptyState, reduce, replay, type RunState, type Step } from "@easel/engine/state";
import { own } from "../canvas/dsl.ts";

const stride = 64;

/** Records grows while a run goes on. */
export class Records {
  readonly events: RunEvent[] = [];
  /** Steps that were there before this run: those of the run it goes on with. */
  readonly earlier: number;
  readonly #kept: RunState[];
  #last: RunState;

  /** A run that goes on after a form begins with the state it was paused in. */
  constructor(base: RunState = emptyState) {
    this.#kept = [base];
    this.#last = base;
    this.earlier = base.steps.length;
  }

  /** push adds events and gives the state after them. */
  push(events: Iterable<RunEvent>): RunState {
    for (const event of events) {
      this.events.push(event);
      this.#last = reduce(this.#last, event);
      if (this.events.length % stride === 0) this.#kept.push(this.#last);
    }
    return this.#last;
  }

  /** settle replaces the last state, when the result says more than the events. */
  settle(state: RunState): void {
    this.#last = state;
  }

  /** at gives the state after the first `count` events. */
  at(count: number): RunState {
    if (count >= this.events.length) return this.#last;
    const base = Math.floor(count / stride);
    return replay(this.events.slice(base * stride, count), this.#kept[base]);
  }
}

/** waiting shows the nodes that wait for a person; the engine starts them when the answer is there. */
export function waiting(state: RunState, nodes: { id: string; name: string; kind: string }[], now: number): RunState {
  const steps = nodes.map(({ id, name, kind }, i): Step => ({
    index: state.steps.length + i, run: (own(state.latest, id)?.run ?? 0) + 1, node: id, name, type: kind, status: "waiting",
    thoughts: "", startedAt: now, tools: [], models: [],
  }));
  return { ...state, steps: [...state.steps, ...steps], latest: { ...state.latest, ...Object.fromEntries(steps.map((step) => [step.node, step])) } };
}

/** resumed is where the run that goes on after a form begins: nodes as they were, nothing said yet. */
export function resumed(paused: RunState): RunState {
  const { form: _form, error: _error, elapsed: _elapsed, usage: _usage, outputs: _outputs, ...state } = paused;
  return { ...state, status: "running", count: 0, answers: [], warnings: [] };
}
