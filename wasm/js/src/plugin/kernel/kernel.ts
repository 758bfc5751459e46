// Runs the calls of one plugin, one at a time, in the thread it was created in. Its
// owner runs it in a Worker, because WebAssembly that computes cannot receive messages.

import { PluginError } from "../error.ts";
import { functions } from "./functions.ts";
import { Guest, late, overdue, type Done, type Setting, type Work, type World } from "./guest.ts";
import { bestWay, Pending, Tape, type Way } from "./wait.ts";

/**
 * Sharing determines which calls use one instance: `any` if creating one is slow
 * (the plugin has no state); those of one `tenant` may; those of a `run` do.
 */
export type Sharing = { state: "any" | "tenant" } | { state: "run"; run: string };

const freshUnder = 1; // milliseconds: an instance made faster than this is not worth keeping
const mostRuns = 64; // kept at once

/**
 * Kept is an instance between two calls; with the way replay, also the calls that led to its state.
 */
interface Kept {
  guest?: Guest;
  tape: Tape;
  past: Work[];
}

export class Kernel {
  readonly #setting: Setting;
  readonly #way: Way;
  readonly #kept = new Map<string, Kept>();
  #slow = false; // instances take long to make

  constructor(setting: Setting, way: Way = bestWay()) {
    this.#setting = setting;
    this.#way = way;
  }

  /**
   * call runs one export. Faults are part of the result; it throws only errors of the host
   * itself.
   */
  async call(work: Work, sharing: Sharing, world: World): Promise<Done> {
    const key = sharing.state === "run" ? "run " + sharing.run : "";
    const kept = (!work.command && this.#kept.get(key)) || { tape: new Tape(), past: [] };
    if (!work.command) this.#kept.delete(key);
    let done: Done;
    try {
      done = await (this.#way === "suspend" ? this.#suspended(work, kept, world) : this.#replayed(work, kept, world));
    } catch (err) {
      if (!(err instanceof PluginError)) throw err;
      if (err.code === "unknown_export") this.#kept.set(key, kept);
      return { error: err, fuel: 0, memory: 0, logs: [], vars: work.vars, fault: true };
    }
    if (work.command) return done;
    const keep = sharing.state === "run" || this.#way === "suspend" && (sharing.state === "tenant" || this.#slow);
    if (!done.fault && keep && (sharing.state === "run" || done.memory <= this.#setting.limits.memory_mb << 19)) {
      this.#kept.set(key, kept);
      if (this.#kept.size > mostRuns) this.#kept.delete(this.#kept.keys().next().value!);
    }
    return done;
  }

  /** forget drops the instance of a run. */
  forget(run: string): void {
    this.#kept.delete("run " + run);
  }

  async #suspended(work: Work, kept: Kept, world: World): Promise<Done> {
    if (!kept.guest) {
      const began = performance.now();
      kept.guest = await Guest.make({
        setting: this.#setting,
        way: "suspend",
        world,
        timeout: work.timeout,
        functions,
        command: work.command === true,
      });
      this.#slow = performance.now() - began > freshUnder;
    }
    return run(kept.guest, work, world);
  }

  // A call that has to wait ends there; after the response a new instance repeats everything
  // that the kept one did.
  async #replayed(work: Work, kept: Kept, world: World): Promise<Done> {
    const deadline = performance.now() + work.timeout;
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) throw overdue(this.#setting);
      try {
        if (!kept.guest) {
          kept.tape.rewind();
          kept.guest = await Guest.make({
            setting: this.#setting,
            way: "replay",
            world,
            timeout: left,
            functions,
            command: work.command === true,
            tape: kept.tape,
          });
          for (const before of kept.past) await run(kept.guest, { ...before, timeout: left }, world);
        }
        const done = await run(kept.guest, { ...work, timeout: left }, world);
        kept.past.push(work);
        return done;
      } catch (err) {
        if (!(err instanceof Pending)) throw err;
        kept.guest = undefined;
        kept.tape.add(await late(err.promise, deadline, this.#setting), err.about);
      }
    }
  }
}

function run(guest: Guest, work: Work, world: World): Promise<Done> {
  if (!guest.hasExport(work.export, work.command))
    throw new PluginError("unknown_export", `no exported function "${work.export}" without arguments`);
  guest.world = world;
  return guest.run(work);
}
