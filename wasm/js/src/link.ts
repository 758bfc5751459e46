// The page's side of a Worker: a Connect whose module runs in the Worker.
//
// Go in WebAssembly has one thread, so an engine that computes without a pause does not receive a
// cancel. While runs are open the link sends pings; if there is no response in
// time the Worker is terminated, which is the only reliable stop, and its runs fail with
// code `watchdog`.

import { EngineError } from "./errors.ts";
import type { Host, Module } from "./protocol.ts";
import type { FromWorker, ToWorker } from "./worker.ts";

/** Connection is a started module with a function that stops it. */
export interface Connection {
  module: Module;
  end(): void;
}

/** Connect starts a module for a host. `lost` is called when it ends later. */
export type Connect = (host: Host, lost: (error: EngineError) => void) => Promise<Connection>;

/** Line is a Worker of either platform, with its messages. */
export interface Line<To = ToWorker, From = FromWorker> {
  post(message: To): void;
  listen(receive: (message: From) => void, broken: (why: string) => void): void;
  /** hold reports whether a caller waits; an idle worker must not keep a Node program running. */
  hold?(busy: boolean): void;
  end(): void;
}

/**
 * patient is the minimum start timeout in milliseconds: on a busy machine a start may be slow.
 */
const patient = 30_000;

/** LinkOptions are options of the module in the Worker. */
export interface LinkOptions {
  /** Returns the module, or its address; called once for each start. */
  wasm(): Promise<unknown>;
  runtime: string;
  /** Milliseconds, 0 for never. */
  watchdog: number;
}

const starting = 0; // no request has this id

/** link connects through a worker that `spawn` makes. */
export function link(spawn: () => Line | Promise<Line>, options: LinkOptions): Connect {
  return async (host, lost) => {
    const line = await spawn();
    let failed: (error: EngineError) => void = () => undefined;
    const dog = new Watchdog(line, (limit) => {
      failed(new EngineError("watchdog", `the engine gave no sign of life for ${limit} ms and was ended`));
    });
    dog.limit = options.watchdog > 0 ? Math.max(options.watchdog, patient) : 0;
    await new Promise<void>((resolve, reject) => {
      let ready = false;
      failed = (error) => {
        dog.stop();
        line.end();
        if (ready) lost(error);
        else reject(error);
      };
      line.listen((message) => {
        dog.heard();
        switch (message.t) {
          case "ready":
            ready = true;
            dog.ended(starting);
            dog.limit = options.watchdog;
            return resolve();
          case "failed": return failed(EngineError.ofFailure(message));
          case "said": return hear(message, host, dog);
        }
      }, (why) => failed(new EngineError("init", `the engine's worker failed: ${why}`)));
      dog.began(starting);
      options.wasm().then(
        (wasm) => line.post({ t: "init", wasm, runtime: options.runtime }),
        (err: unknown) => failed(EngineError.from(err, "init")),
      );
    });
    return { module: remote(line, dog), end: () => { dog.stop(); line.end(); } };
  };
}

function hear(message: Extract<FromWorker, { t: "said" }>, host: Host, dog: Watchdog): void {
  for (const said of message.said) {
    switch (said[0]) {
      case "emit": host.emit(said[1], said[2]); break;
      case "call": host.call(said[1], said[2], said[3]); break;
      case "done": dog.ended(said[1]); host.done(said[1], said[2], said[3]); break;
    }
  }
}

function remote(line: Line, dog: Watchdog): Module {
  return {
    load: (id, text) => { dog.began(id); line.post({ t: "load", id, text }); },
    start: (id, text) => { dog.began(id); line.post({ t: "start", id, text }); },
    deliver: (id, ok, more, text) => line.post({ t: "deliver", id, ok, more, text }),
    cancel: (id, text) => line.post({ t: "cancel", id, text }),
    close: (id) => line.post({ t: "close", id }),
  };
}

/** Watchdog monitors a worker while requests are open. */
class Watchdog {
  readonly #open = new Set<number>();
  /** Maximum time without a response in milliseconds; 0 means no limit. */
  limit = 0;
  readonly #line: Line;
  readonly #bite: (limit: number) => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #silent = 0;

  constructor(line: Line, bite: (limit: number) => void) {
    this.#line = line;
    this.#bite = bite;
  }

  began(id: number): void {
    if (this.#open.size === 0) this.#line.hold?.(true);
    this.#open.add(id);
    if (this.#timer !== undefined || this.limit <= 0) return;
    this.#silent = 0;
    // It counts ticks instead of reading a clock, so that it does not fire after a page was
    // suspended.
    this.#timer = setInterval(() => this.#tick(), this.limit / 4);
  }

  ended(id: number): void {
    this.#open.delete(id);
    if (this.#open.size > 0) return;
    this.stop();
    this.#line.hold?.(false);
  }

  heard(): void {
    this.#silent = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    if (++this.#silent > 4) {
      this.stop();
      this.#bite(this.limit);
      return;
    }
    this.#line.post({ t: "ping" });
  }
}
