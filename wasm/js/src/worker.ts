// The Worker's side: starts a module and passes messages on. Messages of the engine are
// collected for a few milliseconds, since one message per event costs several
// times more than an array of them; calls and results are sent immediately.

import { messageOf, EngineError } from "./errors.ts";
import type { Host, Module } from "./protocol.ts";

/** ToWorker is a message from the page. */
export type ToWorker =
  | { t: "init"; wasm: unknown; runtime: string }
  | { t: "load" | "start" | "cancel"; id: number; text: string }
  | { t: "deliver"; id: number; ok: boolean; more: boolean; text: string }
  | { t: "close"; id: number }
  | { t: "ping" };

/** FromWorker is a message to the page. */
export type FromWorker =
  | { t: "ready" }
  | { t: "failed"; code: string; message: string }
  | { t: "said"; said: Said[] }
  | { t: "pong" };

/** Said is one callback of the engine. */
export type Said =
  | ["emit", number, string]
  | ["call", number, number, string]
  | ["done", number, boolean, string];

/** Starter starts the module of a worker. */
export type Starter = (
  init: { wasm: unknown; runtime: string },
  host: Host,
  exited: (why: string) => void,
) => Promise<Module>;

/** Port is the worker's side of the line. */
export interface Port {
  post(message: FromWorker): void;
  listen(receive: (message: ToWorker) => void): void;
}

const hold = 8; // milliseconds; half a frame
const most = 32 << 10; // characters of events; more do not make one cheaper, and the page can begin

/** serve connects a module to a port. */
export function serve(port: Port, start: Starter): void {
  const out = new Outbox((said) => port.post({ t: "said", said }));
  let module: Module | undefined;
  const failed = (code: string, message: string): void => {
    out.flush();
    port.post({ t: "failed", code, message });
  };
  port.listen((message) => {
    if (message.t === "ping") return port.post({ t: "pong" });
    if (message.t === "init") {
      start(message, out, (why) => failed("crashed", why)).then(
        (started) => { module = started; port.post({ t: "ready" }); },
        (err: unknown) => failed(err instanceof EngineError ? err.code : "init", messageOf(err)),
      );
      return;
    }
    try {
      enter(module, message);
    } catch (err) {
      failed("protocol", "the engine failed: " + messageOf(err));
    }
  });
}

function enter(module: Module | undefined, message: Exclude<ToWorker, { t: "init" | "ping" }>): void {
  if (!module) throw new Error("not started");
  switch (message.t) {
    case "load": return module.load(message.id, message.text);
    case "start": return module.start(message.id, message.text);
    case "cancel": return module.cancel(message.id, message.text);
    case "deliver": return module.deliver(message.id, message.ok, message.more, message.text);
    case "close": return module.close(message.id);
  }
}

/** Outbox is a Host that collects messages. */
class Outbox implements Host {
  #said: Said[] = [];
  #size = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #send: (said: Said[]) => void;

  constructor(send: (said: Said[]) => void) {
    this.#send = send;
  }

  emit(run: number, text: string): void {
    const last = this.#said.at(-1);
    if (last?.[0] === "emit" && last[1] === run) last[2] += "\n" + text;
    else this.#said.push(["emit", run, text]);
    if ((this.#size += text.length) >= most) return this.flush();
    this.#timer ??= setTimeout(() => this.flush(), hold);
  }

  call(run: number, call: number, text: string): void {
    this.#said.push(["call", run, call, text]);
    this.flush();
  }

  done(id: number, ok: boolean, text: string): void {
    this.#said.push(["done", id, ok, text]);
    this.flush();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#size = 0;
    if (this.#said.length === 0) return;
    const said = this.#said;
    this.#said = [];
    this.#send(said);
  }
}
