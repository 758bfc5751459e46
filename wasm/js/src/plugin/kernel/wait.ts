// Lets synchronous WebAssembly wait for asynchronous responses, without shared memory and
// without headers that isolate the page.
//
// `suspend` uses JavaScript Promise Integration: the engine suspends the plugin's stack
// until a promise settles. Where it is missing, `replay` ends the call, waits,
// and runs it again on a new instance with all responses so far, up to the point
// where it stopped. That is exact because a plugin has no inputs but those of the host:
// clock, random numbers and responses are all on the tape. A plugin that sends a different
// request in the replay gets an error; a replay costs time, but its result is never wrong.

import { PluginError } from "../error.ts";

/** Way is the way in which a plugin waits. */
export type Way = "suspend" | "replay";

/** bestWay is the best way that this environment supports. */
export function bestWay(): Way {
  return "Suspending" in WebAssembly ? "suspend" : "replay";
}

/** Pending ends a call that is replayed once the promise has settled. */
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

/** Tape contains the responses of the host to a plugin so far. */
export class Tape {
  readonly #entries: Entry[] = [];
  #at = 0;

  rewind(): void {
    this.#at = 0;
  }

  /** told returns the response to a request; `ask` is called only for a new one. */
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

/** fingerprint distinguishes requests (FNV-1a of at most the first 64 KiB). */
export function fingerprint(kind: number, bytes: Uint8Array): number {
  let hash = (0x811c9dc5 ^ kind ^ bytes.length) >>> 0;
  const end = Math.min(bytes.length, 1 << 16);
  for (let i = 0; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193) >>> 0;
  return hash;
}
