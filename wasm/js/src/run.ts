// One run, as its caller sees it: an async iterable of events with a result.

import type { Client, RunSink } from "./client.ts";
import { EngineError } from "./errors.ts";
import type { FormField, RunEvent } from "./events.ts";
import type { Session } from "./plugin/shelf.ts";
import { kindsOf, Switchboard, type Providers } from "./ports.ts";
import type { Base, CallKind, Ended, Limits, Scheduling, Start, ToolSpec } from "./protocol.ts";
import { Queue } from "./queue.ts";
import { toSSE, type SSEOptions } from "./sse.ts";
import type { Outputs } from "./events.ts";

/** Inputs of a run; a plain string is the query. */
export type Inputs = string | {
  query?: unknown;
  files?: unknown[];
  /** Answers to the form of Begin or of a waiting node, by field. */
  inputs?: Record<string, unknown>;
  user_id?: string;
  webhook_payload?: Record<string, unknown>;
};

/** RunOptions are options of one run; all are optional. */
export interface RunOptions extends Providers {
  /** Aborting it cancels the run. */
  signal?: AbortSignal;
  onEvent?(event: RunEvent): void;
  /** Outputs by node id, used instead of running the node. */
  pins?: Record<string, Outputs>;
  /** Start at this node, with `base` as the earlier results. */
  from?: string;
  base?: Base;
  /** End after this node. */
  until?: string;
  /** Run this one node alone, with values for the fields of Canvas.form. */
  debug?: { node: string; params: Record<string, unknown> };
  /** Continue a canvas that was saved in the middle of a run; inputs are ignored. */
  continue?: boolean;
  /** With `continue`: as a new execution, with a new message id. */
  rerun?: boolean;
  /** Limits of the run, such as { text: 1 << 20 }. */
  limits?: Limits;
  /** Nodes that run concurrently; default 5. */
  concurrency?: number;
  /** When nodes start; it overrides the setting of the canvas. */
  scheduling?: Scheduling;
  /**
   * Executions without progress, besides one of each node, before the run counts as a runaway;
   * default 10,000.
   */
  maxSteps?: number;
  /** Seed of random choices: a number, or 64 bits in hexadecimal digits as in the log of a run. */
  seed?: number | string;
  /** Fixed clock, Unix milliseconds. */
  now?: number;
  /** Maximum time without a response of a provider, milliseconds; default 600,000. */
  patience?: number;
}

/** RunResult is the result of a run. A failed node is a status, not an exception. */
export interface RunResult extends Ended {
  /** The answer: all messages joined, without reasoning. */
  answer: string;
  /** The form to fill in, when paused. */
  form?: { inputs: Record<string, FormField>; tips: string };
}

const patience = 600_000;

// Options of one run that do not apply to the run that continues after a form.
const onlyOnce: RunOptions = {
  from: undefined,
  until: undefined,
  base: undefined,
  debug: undefined,
  continue: undefined,
  rerun: undefined,
};

/**
 * Opened is a canvas ready to run: its connection, its handle there, and the plugins it may use.
 */
export interface Opened {
  client: Client;
  canvas: number;
  session?: Session;
}

/**
 * Run streams events while it runs and can be iterated any number of times.
 * Iteration and `result` fail with an EngineError only if the engine itself failed.
 */
export class Run implements AsyncIterable<RunEvent> {
  readonly result: Promise<RunResult>;
  readonly #events = new Queue<RunEvent>();
  readonly #texts = new Queue<string>(); // the same as the engine wrote it: a parsed number forgets how it was spelled
  readonly #client: Promise<Client>;
  readonly #again: (inputs: Inputs, options: RunOptions) => Run;
  readonly #options: RunOptions;
  #board: Switchboard;
  #id = 0;
  #canceled: string | undefined;
  #settled = false;
  #answer = "";
  #thinking = false;
  #form: RunResult["form"];
  #resolve!: (result: RunResult) => void;
  #reject!: (error: EngineError) => void;

  /** Created by Canvas.run. `open` returns the connection and the canvas's handle there. */
  constructor(
    open: () => Promise<Opened>, inputs: Inputs, options: RunOptions,
    again: (inputs: Inputs, options: RunOptions) => Run,
  ) {
    this.#options = options;
    this.#again = again;
    this.#board = new Switchboard(options, options.patience ?? patience);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.result.catch(() => undefined); // a caller that only iterates sees the error there
    this.#client = open().then(({ client, canvas, session }) => {
      this.#board.session = session;
      if (this.#canceled !== undefined) this.#end({ status: "canceled" });
      else this.#id = client.start(startOf(canvas, inputs, options, session ? ["plugin"] : []), this.#sink(client));
      return client;
    });
    this.#client.catch((err: unknown) => this.#fail(EngineError.from(err, "init")));
    const { signal } = options;
    if (signal?.aborted) this.#aborted();
    else signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.#events[Symbol.asyncIterator]();
  }

  /** cancel cancels the run; its last event and its result have the status. */
  cancel(reason = "canceled"): void {
    if (this.#settled || this.#canceled !== undefined) return;
    this.#canceled = reason;
    this.#board.abort();
    if (this.#id) void this.#client.then((client) => client.cancel(this.#id, reason)).catch(() => undefined);
  }

  /** resume fills in the form of a paused run and returns the continued run. */
  resume(inputs: Record<string, unknown>, options: RunOptions = {}): Run {
    return this.#again({ inputs }, { ...this.#options, ...onlyOnce, ...options });
  }

  /** lines yields each event as the engine wrote it, one line of JSON. */
  async *lines(): AsyncGenerator<string, void, undefined> {
    for await (const text of this.#texts) yield* text.split("\n");
  }

  /** toSSE returns the events as a server would send them, byte for byte. */
  toSSE(options?: SSEOptions): ReadableStream<Uint8Array> {
    return toSSE(this.lines(), options);
  }

  readonly #aborted = (): void => this.cancel(String(this.#options.signal?.reason ?? "aborted"));

  #sink(client: Client): RunSink {
    return {
      events: (text) => this.#take(text),
      call: (call, text) => this.#board.take(call, text, (id, ok, more, said) => client.deliver(id, ok, more, said)),
      done: (ended) => this.#end(ended),
      failed: (error) => this.#fail(error),
    };
  }

  #take(text: string): void {
    // One parse for a whole batch of lines costs less than one per line.
    const events = JSON.parse("[" + text.replaceAll("\n", ",") + "]") as RunEvent[];
    this.#texts.push([text]);
    for (const event of events) {
      this.#note(event);
      try {
        this.#options.onEvent?.(event);
      } catch (err) {
        queueMicrotask(() => { throw err; }); // the caller's own bug, shown as such
      }
    }
    this.#events.push(events);
  }

  #note(event: RunEvent): void {
    if (event.event === "user_inputs") this.#form = { inputs: event.data.inputs, tips: event.data.tips };
    if (event.event !== "message") return;
    if (event.data.start_to_think) this.#thinking = true;
    else if (event.data.end_to_think) this.#thinking = false;
    else if (!this.#thinking) this.#answer += event.data.content ?? "";
  }

  #end(ended: Ended): void {
    if (this.#settled) return;
    this.#settle();
    const result: RunResult = { ...ended, answer: this.#answer };
    if (ended.status === "paused" && this.#form) result.form = this.#form;
    this.#events.end();
    this.#texts.end();
    this.#resolve(result);
  }

  #settle(): void {
    this.#settled = true;
    this.#board.abort();
    this.#options.signal?.removeEventListener("abort", this.#aborted); // a signal may outlive many runs
  }

  #fail(error: EngineError): void {
    if (this.#settled) return;
    this.#settle();
    this.#events.end(error);
    this.#texts.end(error);
    this.#reject(error);
  }
}

function startOf(canvas: number, inputs: Inputs, options: RunOptions, more: CallKind[]): Start {
  const start: Start = {
    canvas,
    ...(typeof inputs === "string" ? { query: inputs } : inputs),
    ports: [...new Set([...kindsOf(options), ...more])],
  };
  const { pins, from, base, until, debug, continue: goOn, rerun, limits, seed, now, tools, llm } = options;
  if (tools) start.tools = Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, specOf(tool)]));
  const { concurrency, scheduling, maxSteps } = options;
  const steps = { concurrency, scheduling, max_steps: maxSteps };
  return Object.assign(
    start,
    defined({ model: llm?.can, pins, from, base, until, debug, continue: goOn, rerun, limits, ...steps, seed, now }),
  );
}

function specOf({ description, parameters }: ToolSpec): ToolSpec {
  return defined({ description, parameters });
}

function defined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}
