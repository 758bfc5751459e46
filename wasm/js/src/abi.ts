// Binds a WebAssembly instance of the engine to Module and Host.
//
// Data moves as (pointer, length) in the instance's memory. The host writes into a
// buffer from `alloc`; the engine owns that buffer from the call that takes
// it. Arguments of a callback are valid only until the callback returns, so they are
// decoded immediately. Memory may grow in any call and detaches old views, hence a
// new view each time.
//
// Go runs its goroutines only when the scheduler is entered. The module hands out
// one function, the kick, while it starts; each export is followed by a kick, which
// returns when every goroutine is idle.

import { EngineError } from "./errors.ts";
import type { Host, Module } from "./protocol.ts";

interface Exports {
  mem?: WebAssembly.Memory;
  memory?: WebAssembly.Memory;
  alloc(size: number): number;
  load(request: number, ptr: number, len: number): void;
  start(run: number, ptr: number, len: number): void;
  deliver(call: number, ok: number, more: number, ptr: number, len: number): void;
  cancel(run: number, ptr: number, len: number): void;
  close(handle: number): void;
}

/** GoRuntime is the class that Go's wasm_exec.js defines. */
export interface GoRuntime {
  importObject: WebAssembly.Imports;
  run(instance: WebAssembly.Instance): Promise<void>;
  /** Called when the program ends; callers that wait for run are notified later. */
  exit(code: number): void;
  /**
   * The timers it waits for. A timer of a program that has ended throws an error that cannot be
   * caught.
   */
  _scheduledTimeouts?: Map<number, ReturnType<typeof setTimeout>>;
}

/** Boot carries the kick out of a starting module, see PROTOCOL.md. */
interface BootGlobal {
  easel_boot?: (kick: () => void) => void;
}

const needed = ["alloc", "load", "start", "deliver", "cancel", "close"] as const;

/**
 * instantiate starts a compiled engine and returns its entry points.
 * `exited` is called if the Go program ends, which happens only when it crashes.
 */
export async function instantiate(
  module: WebAssembly.Module, go: GoRuntime, host: Host, exited: (why: string) => void,
): Promise<Module> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let memory: WebAssembly.Memory;
  const read = (ptr: number, len: number): string =>
    len === 0 ? "" : decoder.decode(new Uint8Array(memory.buffer, ptr >>> 0, len >>> 0));

  const imports = {
    ...go.importObject,
    easel: {
      emit: (run: number, ptr: number, len: number) => host.emit(run >>> 0, read(ptr, len)),
      call: (run: number, call: number, ptr: number, len: number) => host.call(run >>> 0, call >>> 0, read(ptr, len)),
      done: (id: number, ok: number, ptr: number, len: number) => host.done(id >>> 0, ok !== 0, read(ptr, len)),
    },
  };
  const instance = await WebAssembly.instantiate(module, imports);
  const exports = instance.exports as unknown as Exports;
  const found = exports.mem ?? exports.memory;
  if (!found) throw new EngineError("version", "this is not an easel engine: it exports no memory");
  memory = found;
  for (const name of needed) {
    if (typeof exports[name] !== "function") {
      throw new EngineError("version", `this is not an easel engine, or one of another version: it exports no ${name}`);
    }
  }

  let over = false; // a program that has ended may not be entered
  const exit = go.exit;
  go.exit = (code) => {
    over = true;
    for (const timer of go._scheduledTimeouts?.values() ?? []) clearTimeout(timer);
    exit(code);
  };
  const kick = boot(instance, go, exited);
  const pass = (text: string, into: (ptr: number, len: number) => void): void => {
    if (over) return;
    const bytes = encoder.encode(text);
    const ptr = exports.alloc(bytes.length) >>> 0;
    new Uint8Array(memory.buffer, ptr, bytes.length).set(bytes);
    into(ptr, bytes.length);
    kick();
  };
  return {
    load: (request, text) => pass(text, (p, n) => exports.load(request, p, n)),
    start: (run, text) => pass(text, (p, n) => exports.start(run, p, n)),
    deliver: (call, ok, more, text) => pass(text, (p, n) => exports.deliver(call, ok ? 1 : 0, more ? 1 : 0, p, n)),
    cancel: (run, text) => pass(text, (p, n) => exports.cancel(run, p, n)),
    close: (handle) => {
      if (over) return;
      exports.close(handle);
      kick();
    },
  };
}

// boot runs main up to its first wait. The global exists only during that time, so
// several engines can start on one page.
function boot(instance: WebAssembly.Instance, go: GoRuntime, exited: (why: string) => void): () => void {
  const globals = globalThis as BootGlobal;
  let kick: (() => void) | undefined;
  globals.easel_boot = (given) => { kick = given; };
  try {
    go.run(instance).then(
      () => exited("the engine program ended"),
      (err: unknown) => exited(`the engine program crashed: ${String(err)}`),
    );
  } finally {
    delete globals.easel_boot;
  }
  if (!kick) throw new EngineError("version", "this is not an easel engine: it never called easel_boot");
  return kick;
}
