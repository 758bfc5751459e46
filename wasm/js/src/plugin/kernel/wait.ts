// How synchronous wasm waits for an asynchronous world, without shared memory and
// without headers that isolate the page.
//
// `suspend` uses JavaScript Promise Integration: the engine puts the plugin's stack
// aside until a promise settles. Where it is missing, `replay` ends the call, waits,
// and runs it again on a fresh instance with every answer so far, up to the place
// where it stood. That is exact because a plugin sees nothing but what the host tells
// it: clock, chance and answers are all on the tape. A plugin that asks something
// else in the replay gets an error; a replay costs time, but never gives a wrong answer.

import { PluginError } from "../error.ts";

/** Way is how a plugin waits. */
export type Way = "suspend" | "replay";

/** bestWay is what this place can do. */
export function bestWay(): Way {
  return "Suspending" in WebAssembly ? "suspend" : "replay";
}

/** Pending ends a call that is to be played again once the promise has settled. */
export class Pending {
  readonly promise: Promise<unknown>;
  readonly about: number;

  constructor(promise: Promise<unknown>, about: number) {
    this.promise = promise;
    this.about = about;
  }
}

interface Entry {
  value: unknown;
  about: number; // fingerprint of the question
}

/** Tape holds what the host told a plugin so far. */
export class Tape {
  readonly #entries: Entry[] = [];
  #at = 0;

  rewind(): void {
    this.#at = 0;
  }

  /** told returns the answer to a question; `ask` is called only for a new one. */
  told<T>(about: number, ask: () => T | Promise<T>): T {
    const known = this.#entries[this.#at];
    if (known) {
      if (known.about !== about)
        throw new PluginError(
          "internal",
          "the plugin asked something else when it was played again; it must do the same for the same input",
        );
      this.#at++;
      return known.value as T;
    }
    const value = ask();
    if (value instanceof Promise) throw new Pending(value, about);
    this.add(value, about);
    this.#at++;
    return value;
  }

  add(value: unknown, about: number): void {
    this.#entries.push({ value, about });
  }
}

/** fingerprint tells questions apart (FNV-1a, at most the first 64 KiB). */
export function fingerprint(kind: number, bytes: Uint8Array): number {
  let hash = (0x811c9dc5 ^ kind ^ bytes.length) >>> 0;
  const end = Math.min(bytes.length, 1 << 16);
  for (let i = 0; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193) >>> 0;
  return hash;
}
