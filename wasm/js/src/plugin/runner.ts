// Runs the calls of one plugin in dedicated Workers, one call per Worker at a time, so that a
// computing plugin blocks no other code and can be terminated.

import type { Line } from "../link.ts";
import { caps } from "./abi.ts";
import { PluginError } from "./error.ts";
import type { Setting, Work } from "./kernel/guest.ts";
import type { Sharing } from "./kernel/kernel.ts";
import type { FromKernel, Outcome, ToKernel } from "./kernel/serve.ts";
import type { Way } from "./kernel/wait.ts";

/** KernelLine is a Worker of either platform, or a kernel in this thread. */
export type KernelLine = Line<ToKernel, FromKernel>;

/** Spawn starts a Worker for a plugin. */
export type Spawn = () => KernelLine;

/** Answers handles the requests of one call; a rejection ends the call. */
export interface Answers {
  emit(kind: number, data: Uint8Array): Promise<boolean>;
  ask(op: "call" | "http", request: Uint8Array): Promise<Uint8Array | null>;
}

const mostWorkers = 4;
const queueWait = 10_000; // milliseconds a call waits for its turn
const slack = 1_000; // milliseconds after its deadline before a Worker is terminated
const startWait = 30_000; // milliseconds a Worker may take to start

interface Seat {
  line: KernelLine;
  busy: boolean;
  runs: Set<string>; // whose instances it keeps
  hear: (message: FromKernel) => void;
  kill: (error: PluginError) => void;
}

/** Runner is the pool of one plugin. */
export class Runner {
  readonly #spawn: Spawn;
  readonly #setting: Setting;
  readonly #way: Way | undefined;
  #seats: Seat[] = [];
  #waiting: (() => void)[] = [];
  #closed = false;

  constructor(spawn: Spawn, setting: Setting, way?: Way) {
    this.#spawn = spawn;
    this.#setting = setting;
    this.#way = way;
  }

  /**
   * call runs one export. It rejects with a PluginError only when the call got no slot or its
   * Worker ended.
   */
  async call(work: Work, sharing: Sharing, answers: Answers, signal: AbortSignal): Promise<Outcome> {
    const seat = await this.#take(sharing, signal);
    return new Promise((resolve, reject) => {
      let stopped: PluginError | undefined; // why the owner ended it
      let late: ReturnType<typeof setTimeout> | undefined;
      let over = false; // the seat serves another call then
      const finish = (good: boolean, settle: () => void): void => {
        if (over) return;
        over = true;
        clearTimeout(overdue);
        clearTimeout(late);
        signal.removeEventListener("abort", cancel);
        this.#give(seat, good);
        settle();
      };
      const kill = (error: PluginError): void => finish(false, () => reject(error));
      const cancel = (): void => stop(new PluginError("cancelled", "the caller gave up"));
      const stop = (why: PluginError): void => {
        if (late || over) return;
        if (why.code !== "cancelled") stopped = why;
        seat.line.post({ t: "cancel" });
        late = setTimeout(() => kill(why), caps.grace); // a computing plugin does not receive the cancel
      };
      const fail = (): void =>
        kill(new PluginError("timeout", "did not finish in time", { retryable: this.#setting.idempotent }));
      let overdue = setTimeout(fail, startWait + work.timeout + slack);
      const told = (n: number, answer: Promise<Uint8Array | null>): void => {
        answer.then((given) => { if (!over) seat.line.post({ t: "told", n, answer: given }); }, (err: unknown) => {
          stop(err instanceof PluginError ? err : new PluginError("internal", String(err)));
        });
      };
      seat.kill = kill;
      seat.hear = (message) => {
        switch (message.t) {
          case "begun":
            clearTimeout(overdue);
            overdue = setTimeout(fail, work.timeout + slack);
            return;
          case "emit":
            return told(
              message.n,
              answers.emit(message.kind, message.data).then((taken) => (taken ? nothing : null)),
            );
          case "ask":
            return told(message.n, answers.ask(message.op, message.data));
          case "done":
            return finish(true, () =>
              resolve(stopped ? { ...message.done, output: undefined, error: stopped.failure() } : message.done),
            );
          case "broken":
            return kill(new PluginError("internal", message.message));
        }
      };
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
      seat.line.post({ t: "call", work, sharing });
    });
  }

  /** forget drops the state of a run. */
  forget(run: string): void {
    for (const seat of this.#seats) {
      if (seat.runs.delete(run)) seat.line.post({ t: "forget", run });
    }
  }

  close(): void {
    this.#closed = true;
    for (const seat of this.#seats) {
      if (seat.busy) seat.kill(new PluginError("closed", "the plugin was removed"));
      seat.line.end();
    }
    this.#seats = [];
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #take(sharing: Sharing, signal: AbortSignal): Promise<Seat> {
    const until = performance.now() + queueWait;
    for (;;) {
      if (this.#closed) throw new PluginError("closed", "the plugin was removed");
      if (signal.aborted) throw new PluginError("cancelled", "the caller gave up");
      const seat = this.#free(sharing);
      if (seat) {
        seat.busy = true;
        if (sharing.state === "run") seat.runs.add(sharing.run);
        seat.line.hold?.(true);
        return seat;
      }
      if (performance.now() > until)
        throw new PluginError("unavailable", `${mostWorkers} calls of this plugin are under way`);
      await this.#turn(signal, until);
    }
  }

  // The calls of a run share an instance, so they wait for the Worker that has it.
  #free(sharing: Sharing): Seat | undefined {
    if (sharing.state === "run") {
      const own = this.#seats.find((seat) => seat.runs.has(sharing.run));
      if (own) return own.busy ? undefined : own;
    }
    const idle = this.#seats.find((seat) => !seat.busy);
    if (idle) return idle;
    return this.#seats.length < mostWorkers ? this.#open() : undefined;
  }

  #turn(signal: AbortSignal, until: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, until - performance.now() + 1);
      signal.addEventListener("abort", wake, { once: true });
      this.#waiting.push(wake);
    });
  }

  #open(): Seat {
    const seat: Seat = {
      line: this.#spawn(),
      busy: false,
      runs: new Set(),
      hear: () => undefined,
      kill: () => undefined,
    };
    seat.line.listen((message) => seat.hear(message), (why) => {
      if (seat.busy) seat.kill(new PluginError("internal", `the plugin's worker failed: ${why}`));
      else this.#drop(seat);
    });
    seat.line.post({ t: "init", setting: this.#setting, ...(this.#way && { way: this.#way }) });
    this.#seats.push(seat);
    return seat;
  }

  #give(seat: Seat, good: boolean): void {
    seat.busy = false;
    seat.hear = seat.kill = () => undefined;
    seat.line.hold?.(false);
    if (!good) this.#drop(seat);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #drop(seat: Seat): void {
    seat.line.end();
    this.#seats = this.#seats.filter((other) => other !== seat);
  }
}

const nothing = new Uint8Array(0);
