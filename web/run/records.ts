// The events of one run with quick access to the state after any of them. A state
// is kept every few events, the others are reached from the nearest one before.

import type { RunEvent } from "@easel/engine";
import { emptyState, reduce, replay, type RunState } from "@easel/engine/state";

const stride = 64;

/** Records grows while a run goes on. */
export class Records {
  readonly events: RunEvent[] = [];
  readonly #kept: RunState[] = [emptyState];
  #last: RunState = emptyState;

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
    return replay(this.events.slice(base * stride, count), this.#kept[base] ?? emptyState);
  }
}
