// One instance of a plugin: the state of its current call, the checks that can end it, and its
// result. functions.ts lists the functions it imports. A twin of the Go host's guest, with
// the same tests.

import { caps, meter, startExport } from "../abi.ts";
import { guestError, PluginError } from "../error.ts";
import { Arena } from "./arena.ts";
import { StderrLines } from "./command.ts";
import { Exit, faultOf } from "./fault.ts";
import { Sink } from "./sink.ts";
import { Tape, fingerprint, type Way } from "./wait.ts";

/** World handles a plugin's requests. A null response means that the call is cancelled. */
export interface World {
  /** emit passes a piece on; if it returns a promise, await it. True: cancelled. */
  emit(kind: number, data: Uint8Array): boolean | Promise<boolean>;
  ask(op: "call" | "http", request: Uint8Array): Promise<Uint8Array | null>;
  sleep(ms: number): Promise<unknown>;
  cancelled(): boolean;
}

/** Limits of each call. */
export interface Limits {
  memory_mb: number;
  timeout_ms: number;
  output_kb: number;
  fuel: number;
}

/**
 * Pinned replaces clock and random numbers, so that a call is reproducible: Unix milliseconds, and
 * the value of each random byte.
 */
export interface Pinned {
  now: number;
  random: number;
}

/** Work is one call of an export. */
export interface Work {
  export: string;
  input: Uint8Array;
  timeout: number; // milliseconds
  fuel: number;
  vars: Map<string, Uint8Array>; // Extism variables of the run
  /** Its clocks are as fine as those of this environment. */
  preciseClock?: boolean;
  /** The export runs a program, see command.ts. */
  command?: boolean;
}

/** Done is the result of a call. */
export interface Done {
  output?: Uint8Array;
  error?: PluginError;
  fuel: number;
  memory: number;
  logs: { level: string; text: string }[];
  vars: Map<string, Uint8Array>;
  /** The instance must not be used again. */
  fault: boolean;
}

/** Setting are the parameters of an instance. */
export interface Setting {
  module: WebAssembly.Module;
  limits: Limits;
  settings: Record<string, string>;
  idempotent: boolean;
  pinned?: Pinned;
}

/** Start are the parameters of its start. */
export interface Start {
  setting: Setting;
  way: Way;
  world: World;
  /** Milliseconds until the start fails. */
  timeout: number;
  /** The functions that the module imports. */
  functions: (guest: Guest) => WebAssembly.Imports;
  /** The instance is for a program, whose export starts the runtime of its language. */
  command?: boolean;
  /** Responses in former calls, for the way replay. */
  tape?: Tape;
}

const levels = ["trace", "debug", "info", "warn", "error"];
const empty = new Uint8Array(0);
const none = new Map<string, Uint8Array>();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class Guest {
  readonly setting: Setting;
  readonly way: Way;
  readonly tape: Tape | undefined; // for the way replay
  world: World;
  used = 0;
  #exports!: WebAssembly.Exports;
  #allowance = 0;
  #budget: number;
  #deadline = 0;
  #told = 0;

  // State of one call.
  input: Uint8Array = empty; // not read yet
  whole: Uint8Array = empty;
  result: Uint8Array = empty;
  readonly #output = new Sink();
  readonly #failure = new Sink();
  stderr = "";
  /** The lines of stderr of a command. */
  lines: StderrLines | undefined;
  logs: Done["logs"] = [];
  vars = none;
  readonly arena = new Arena();
  out = { at: 0, length: 0 }; // Extism output
  errorAt = 0;
  status = 0; // of the last Extism request
  preciseClock = false;
  headers: Uint8Array = empty;
  #emits = 0;
  #random = 0; // bytes
  #hostCalls = 0;
  #pieces = 0;
  #logCalls = 0;

  private constructor(setting: Setting, way: Way, world: World, tape?: Tape) {
    this.setting = setting;
    this.way = way;
    this.world = world;
    this.tape = tape;
    this.#budget = setting.limits.fuel;
  }

  /** make creates an instance and runs its start functions. */
  static async make(start: Start): Promise<Guest> {
    const { setting, way, world, timeout, functions, tape, command } = start;
    const guest = new Guest(setting, way, world, tape);
    guest.#deadline = performance.now() + timeout;
    try {
      guest.#exports = (await WebAssembly.instantiate(setting.module, functions(guest))).exports;
      const first = "_initialize" in guest.#exports ? "_initialize" : "__wasm_call_ctors";
      const starts = command ? [startExport] : [startExport, first, "hs_init"];
      for (const name of starts) if (name in guest.#exports) await guest.#enter(name);
    } catch (err) {
      throw guest.#fault(err);
    }
    return guest;
  }

  /** run calls an export. In the way replay it may throw Pending. */
  async run(work: Work): Promise<Done> {
    this.#prepare(work);
    let status: number;
    try {
      status = await this.#enter(work.export);
    } catch (err) {
      const ended = this.lines !== undefined && err instanceof Exit;
      const error = ended ? this.lines!.error(err) : this.#fault(err); // throws on what is no fault
      if (error) return this.#done({ error, fault: true });
      status = 0;
    }
    this.lines?.close();
    if (status !== 0 || this.#failure.length > 0 || this.errorAt !== 0) {
      const text = this.#failure.length > 0 ? this.#failure.take() : this.arena.block(this.errorAt).slice();
      return this.#done({ error: guestError(text, status) });
    }
    try {
      return this.#done({ output: this.#takeOutput() });
    } catch (err) {
      return this.#done({ error: err as PluginError, fault: true });
    }
  }

  get memory(): WebAssembly.Memory | undefined {
    const memory = this.#exports?.["memory"];
    return memory instanceof WebAssembly.Memory ? memory : undefined;
  }

  /** bytes returns a range of the plugin's memory; a range outside of it is a trap. */
  bytes(name: string, at: number, length: number): Uint8Array<ArrayBuffer> {
    const memory = this.memory;
    if (!memory) throw new PluginError("trap", `${name}: the module has no memory`);
    const size = memory.buffer.byteLength;
    if ((at >>>= 0) + (length >>>= 0) > size) {
      throw new PluginError("trap", `${name}: ${length} bytes at ${at} are outside the memory of ${size}`);
    }
    return new Uint8Array(memory.buffer as ArrayBuffer, at, length);
  }

  write(what: "output" | "error", bytes: Uint8Array): void {
    const into = what === "output" ? this.#output : this.#failure;
    this.#bound(what, into.length + bytes.length, what === "error" ? caps.piece : Infinity);
    into.add(bytes);
  }

  // Log lines beyond the limits are dropped silently;
  // a plugin that writes far more than that is stopped.
  log(level: number, text: Uint8Array): void {
    if (++this.#logCalls > caps.logCalls)
      throw new PluginError("too_many_calls", `more than ${caps.logCalls} lines of log`);
    if (this.logs.length >= caps.logs) return;
    this.logs.push({
      level: levels[Math.min(level >>> 0, levels.length - 1)]!,
      text: decoder.decode(text.subarray(0, caps.logBytes)),
    });
  }

  // Lines of stderr over the limit are dropped, however many they are: programs write them without
  // knowing of a limit.
  #logStderr(text: string): void {
    if (this.logs.length < caps.logs) this.logs.push({ level: "info", text });
  }

  /** emit passes a piece on and returns 1 when the plugin should finish. */
  emit(kind: number, data: Uint8Array): number | Promise<number> {
    if (++this.#emits > caps.emits) throw new PluginError("too_many_calls", `more than ${caps.emits} emits`);
    this.#bound("an emit", data.length, caps.piece);
    const copy = data.slice();
    return this.wait(
      fingerprint(kind, copy),
      () => (this.#cancelled() ? true : this.world.emit(kind, copy)),
      (over) => (this.#note(over) ? 1 : 0),
    );
  }

  /** ask sends a request to the host; null means that the call is cancelled. */
  ask<R>(op: "call" | "http", request: Uint8Array, take: (answer: Uint8Array | null) => R): R | Promise<R> {
    this.#count(op === "call" && isRead(request));
    if (request.length > caps.request) {
      return take(
        encode({
          error: new PluginError(
            "invalid_argument",
            `request of ${request.length} bytes, allowed are ${caps.request}`,
          ).failure(),
        }),
      );
    }
    const ask = () => (this.#cancelled() ? null : this.world.ask(op, request.slice()));
    return this.wait(fingerprint(-1, request), ask, (answer) => {
      this.#note(answer === null);
      return take(answer);
    });
  }

  /** sleep waits, at most until the deadline. */
  sleep<R>(ms: number, take: () => R): R | Promise<R> {
    if (ms <= 0) return take();
    return this.wait(
      -2,
      () => this.world.sleep(Math.min(ms, Math.max(0, this.#deadline - performance.now()) + 1)),
      take,
    );
  }

  /**
   * wait makes a host call, waits for it in the way of this environment, and then checks the
   * deadline.
   */
  wait<T, R>(about: number, ask: () => T | Promise<T>, take: (value: T) => R): R | Promise<R> {
    if (this.tape) {
      const value = this.tape.told(about, ask);
      this.#check();
      return take(value);
    }
    const asked = ask();
    if (!(asked instanceof Promise)) return take(asked);
    return late(asked, this.#deadline, this.setting).then((value) => {
      this.#check();
      return take(value);
    });
  }

  /** randomly counts bytes of random numbers. */
  randomly(length: number): void {
    this.#random += length;
    if (this.#random > caps.random)
      throw new PluginError("too_many_calls", `more than ${caps.random} bytes of random numbers`);
  }

  /** known returns a value of the clock or a random number, with the same value in a replay. */
  known<T>(make: () => T): T {
    return this.tape ? this.tape.told(0, make) : make();
  }

  hasExport(name: string, command = false): boolean {
    return (command || !/^(_|easel:)/.test(name)) && typeof this.#exports[name] === "function";
  }

  #enter(name: string): number | Promise<number> {
    const f = this.#exports[name] as (...args: number[]) => number | undefined;
    const args = Array.from({ length: f.length }, () => 0); // hs_init takes two null pointers
    if (this.way !== "suspend") return Number(f(...args) ?? 0);
    const { promising } = WebAssembly as unknown as {
      promising: (entry: typeof f) => (...args: number[]) => Promise<number | undefined>;
    };
    return promising(f)(...args).then((status) => Number(status ?? 0));
  }

  #prepare(work: Work): void {
    this.used = 0;
    this.#told = 0;
    this.input = this.whole = work.input;
    this.result = this.headers = empty;
    this.#output.take();
    this.#failure.take();
    this.stderr = "";
    this.lines = work.command ? new StderrLines((line) => this.#logStderr(line)) : undefined;
    this.logs = [];
    this.vars = new Map(work.vars);
    this.preciseClock = work.preciseClock === true;
    this.arena.reset();
    this.out = { at: 0, length: 0 };
    this.errorAt = this.status = this.#emits = this.#random = this.#hostCalls = this.#pieces = this.#logCalls = 0;
    this.#budget = Math.min(this.setting.limits.fuel, work.fuel);
    this.#deadline = performance.now() + work.timeout;
    this.#allowance = Math.min(meter.interval, this.#budget);
    this.#global(meter.fuel).value = this.#allowance;
    this.#global(meter.refused).value = 0;
  }

  #global(name: string): WebAssembly.Global {
    return this.#exports[name] as WebAssembly.Global;
  }

  // Pieces have their own counter, because a large body has more of them than a plugin may make
  // requests.
  #count(piece: boolean): void {
    if (piece && ++this.#pieces > caps.pieces)
      throw new PluginError("too_many_calls", `more than ${caps.pieces} pieces of streams`);
    if (!piece && ++this.#hostCalls > caps.hostCalls)
      throw new PluginError("too_many_calls", `more than ${caps.hostCalls} calls of the host`);
  }

  // The meter calls it with the counter and gets the next allowance.
  tick(counter: number): number {
    if (counter === meter.overflow)
      throw new PluginError("stack_overflow", "endless recursion, or one deeper than the host has stack for");
    this.used += this.#allowance - counter;
    this.#allowance = counter; // what is left if a check below stops the call
    if (this.used > this.#budget)
      throw new PluginError("out_of_fuel", `used ${this.used} units of fuel, allowed are ${this.#budget}`);
    this.#check();
    this.#allowance = Math.min(meter.interval, this.#budget - this.used);
    return this.#allowance;
  }

  #check(): void {
    const now = performance.now();
    if (now > this.#deadline) throw overdue(this.setting);
    if (this.#told > 0 && now - this.#told > caps.grace) throw new PluginError("cancelled", "the caller gave up");
  }

  #cancelled(): boolean {
    return this.#told > 0 || this.world.cancelled();
  }

  #note(over: boolean): boolean {
    if (over && this.#told === 0) this.#told = performance.now();
    return over;
  }

  #bound(what: string, size: number, cap = Infinity): void {
    const most = Math.min(this.setting.limits.output_kb * 1024, cap);
    if (size > most)
      throw new PluginError("output_too_large", `${what} of at least ${size} bytes, allowed are ${most}`);
  }

  #takeOutput(): Uint8Array {
    const { at, length } = this.out;
    if (length === 0) return this.#output.take();
    const bytes = this.arena.span(at, length);
    if (!bytes) throw new PluginError("trap", `output_set names ${length} bytes at ${at}, outside kernel memory`);
    this.#bound("output", length);
    return bytes.slice();
  }

  #done(more: Partial<Done>): Done {
    this.used += this.#allowance - (this.#global(meter.fuel).value as number);
    this.#allowance = this.#global(meter.fuel).value as number;
    return {
      fuel: this.used,
      memory: this.memory?.buffer.byteLength ?? 0,
      logs: this.logs,
      vars: this.vars,
      fault: false,
      ...more,
    };
  }

  // Errors that are neither a fault of the plugin nor found by the host are rethrown.
  #fault(err: unknown): PluginError {
    const grewTooFar = this.#exports !== undefined && this.#global(meter.refused).value !== 0;
    const failure = decoder.decode(this.#failure.take().subarray(0, caps.stderr));
    return faultOf(err, { stderr: this.stderr, failure, grewTooFar, memory: this.setting.limits.memory_mb });
  }
}

// isRead recognises a request for a piece of a body, which is short; others are parsed where they
// are handled. A replay checks each earlier request again, so most are not parsed here.
function isRead(request: Uint8Array): boolean {
  if (request.length > 1 << 10 || !mayRead(request)) return false;
  try {
    return (JSON.parse(decoder.decode(request)) as { op?: unknown } | null)?.op === "http.read";
  } catch {
    return false;
  }
}

const read = new TextEncoder().encode("http.read");
const backslash = 0x5c; // an escape can spell any name

function mayRead(request: Uint8Array): boolean {
  for (let at = request.indexOf(read[0]!); at >= 0; at = request.indexOf(read[0]!, at + 1))
    if (read.every((byte, i) => request[at + i] === byte)) return true;
  return request.includes(backslash);
}

/**
 * encode writes a response of call, byte for byte as the server does: the same plugin uses the same
 * fuel on it.
 */
export function encode(answer: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(answer));
}

/** overdue is the error for a deadline that has passed. */
export function overdue(setting: Setting): PluginError {
  return new PluginError("timeout", "did not finish in time", { retryable: setting.idempotent });
}

/** late rejects when the deadline passes before the promise settles. */
export function late<T>(promise: Promise<T>, deadline: number, setting: Setting): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(overdue(setting)), Math.max(0, deadline - performance.now()) + 1);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
