// The host's side of a connection: assigns ids, matches responses to requests,
// and routes messages of the engine. It is independent of the transport: a Module may be
// an instance in this thread or in a Worker.

import { EngineError } from "./errors.ts";
import { encode, type Ended, type Failure, type Host, type Module, type Request, type Start } from "./protocol.ts";

/** RunSink receives the events and calls of one run. */
export interface RunSink {
  /** events gets the raw text: one JSON object per line. */
  events(text: string): void;
  /** call must respond later through Client.deliver, never before it returns. */
  call(call: number, text: string): void;
  done(ended: Ended): void;
  failed(error: EngineError): void;
}

interface Waiting {
  resolve(text: string): void;
  reject(error: EngineError): void;
}

/** Client is the Host of one Module. */
export class Client implements Host {
  #module: Module | undefined;
  #broken: EngineError | undefined;
  #next = 1;
  readonly #requests = new Map<number, Waiting>();
  readonly #runs = new Map<number, RunSink>();
  /** asked receives the calls of the module outside of runs. */
  asked: ((call: number, text: string) => void) | undefined;

  /** attach sets the module of the client; before, no request can be sent. */
  attach(module: Module): void {
    this.#module = module;
  }

  /** broken is the reason why this connection has ended, if it has. */
  get broken(): EngineError | undefined {
    return this.#broken;
  }

  /** runs counts runs that have not ended. */
  get runs(): number {
    return this.#runs.size;
  }

  /** request sends one request and returns the text of its response. */
  request(header: Request, body?: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#requests.set(id, { resolve, reject });
      try {
        this.#entry().load(id, encode(header, body));
      } catch (err) {
        this.#requests.delete(id);
        reject(EngineError.from(err, "protocol", "request " + header.op + ": "));
      }
    });
  }

  /** start starts a run and returns its id. */
  start(message: Start, sink: RunSink): number {
    const module = this.#entry();
    const id = this.#next++;
    this.#runs.set(id, sink);
    try {
      module.start(id, encode(message));
    } catch (err) {
      this.#runs.delete(id);
      throw EngineError.from(err, "protocol", "start: ");
    }
    return id;
  }

  /** deliver responds to a call with JSON; after the connection has ended it does nothing. */
  deliver(call: number, ok: boolean, more: boolean, text: string): void {
    if (this.#broken) return;
    this.#guard(() => this.#module?.deliver(call, ok, more, text));
  }

  /** cancel requests the cancellation of a run. */
  cancel(run: number, reason: string): void {
    if (this.#broken || !this.#runs.has(run)) return;
    this.#guard(() => this.#module?.cancel(run, JSON.stringify({ reason })));
  }

  /** release releases a canvas. */
  release(handle: number): void {
    if (this.#broken) return;
    this.#guard(() => this.#module?.close(handle));
  }

  /** fail ends the connection: all waiting calls get this error. */
  fail(error: EngineError): void {
    if (this.#broken) return;
    this.#broken = error;
    for (const waiting of this.#requests.values()) waiting.reject(error);
    for (const sink of this.#runs.values()) sink.failed(error);
    this.#requests.clear();
    this.#runs.clear();
  }

  emit(run: number, text: string): void {
    this.#runs.get(run)?.events(text);
  }

  call(run: number, call: number, text: string): void {
    const sink = this.#runs.get(run);
    if (sink) sink.call(call, text);
    else if (run === 0 && this.asked) this.asked(call, text);
    else
      queueMicrotask(() =>
        this.deliver(call, false, false, JSON.stringify({ code: "canceled", message: "the run is over" })),
      );
  }

  done(id: number, ok: boolean, text: string): void {
    const waiting = this.#requests.get(id);
    if (waiting) {
      this.#requests.delete(id);
      if (ok) waiting.resolve(text);
      else waiting.reject(failureOf(text));
      return;
    }
    const sink = this.#runs.get(id);
    if (!sink) return;
    this.#runs.delete(id);
    if (ok) sink.done(JSON.parse(text) as Ended);
    else sink.failed(failureOf(text));
  }

  // A module whose export throws is in an unknown state and is discarded.
  #guard(enter: () => void): void {
    try {
      enter();
    } catch (err) {
      this.fail(EngineError.from(err, "protocol", "the engine failed: "));
    }
  }

  #entry(): Module {
    if (this.#broken) throw this.#broken;
    if (!this.#module) throw new EngineError("init", "the engine has not started");
    return this.#module;
  }
}

function failureOf(text: string): EngineError {
  try {
    return EngineError.ofFailure(JSON.parse(text) as Failure);
  } catch {
    return new EngineError("protocol", "the engine failed without saying how: " + text.slice(0, 200));
  }
}
