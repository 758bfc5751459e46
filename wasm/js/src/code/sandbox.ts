// Runs one script of a Code node inside QuickJS: no page, no network, no clock but
// the language's own. Time, memory and stack are limited.

import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from "quickjs-emscripten-core";
import { EngineError } from "../errors.ts";
import type { CodeRequest } from "../ports.ts";

const page = 64 << 10;
const own = 256; // pages QuickJS itself begins with

/**
 * memoryOf makes the memory of a QuickJS whose scripts may use so many bytes. Its
 * own memory limit does not see how large an allocation is in this build, so the
 * wasm memory is what cannot grow.
 */
export function memoryOf(bytes: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: own, maximum: own + Math.max(1, Math.ceil(bytes / page)) });
}

/** Limits of a script whose request names none. */
export const limits = { timeout: 10_000, memory: 64 << 20, stack: 128 << 10, output: 1 << 20 };

/**
 * runScript calls the script's `main` with the arguments as one object, waits for
 * it if it is async, and gives what it returned, as JSON would carry it.
 */
export function runScript(quickjs: QuickJSWASMModule, request: CodeRequest): { result: unknown; stdout: string } {
  if (!/^(javascript|nodejs|js)$/.test(request.lang)) {
    throw new EngineError("unsupported", `scripts in ${request.lang} need a server; in a page only javascript runs`);
  }
  const timeout = request.timeout ?? limits.timeout;
  const deadline = Date.now() + timeout;
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(limits.stack);
  let stopped: EngineError | undefined;
  runtime.setInterruptHandler(() => {
    if (Date.now() > deadline) stopped = new EngineError("timeout", `the script ran longer than ${timeout} ms`);
    return stopped !== undefined;
  });
  const vm = runtime.newContext();
  try {
    const print = capture(vm);
    const called = vm.evalCode(wrap(request), "script.js");
    const promise = open(vm, called, () => stopped);
    const settled = vm.runtime.executePendingJobs();
    if (settled.error) throw failure(vm, settled.error, stopped);
    const state = vm.getPromiseState(promise);
    promise.dispose();
    if (state.type === "pending") throw new EngineError("code", "main returned a promise that nothing settles");
    if (state.type === "rejected") throw failure(vm, state.error, stopped);
    const text = vm.getString(state.value);
    state.value.dispose();
    return { result: text === "" ? null : (JSON.parse(text) as unknown), stdout: print() };
  } catch (err) {
    // The thread's own stack may end before the script's does.
    throw err instanceof RangeError ? new EngineError("code", "RangeError: " + err.message) : err;
  } finally {
    // A context that ran out of memory may refuse to be taken apart; its module is dropped with the worker.
    try {
      vm.dispose();
      runtime.dispose();
    } catch { /* see above */ }
  }
}

function wrap(request: CodeRequest): string {
  const args = JSON.stringify(JSON.stringify(request.arguments ?? {}));
  return `${request.script}
;(async () => {
  if (typeof main !== "function") throw new Error("the script defines no function main");
  const result = await main(JSON.parse(${args}));
  return result === undefined ? "" : JSON.stringify(result) ?? "";
})()`;
}

function open(vm: QuickJSContext, called: ReturnType<QuickJSContext["evalCode"]>, stopped: () => EngineError | undefined): QuickJSHandle {
  if (called.error) throw failure(vm, called.error, stopped());
  return called.value;
}

function failure(vm: QuickJSContext, error: QuickJSHandle, stopped: EngineError | undefined): EngineError {
  const thrown = vm.dump(error) as { name?: string; message?: string; stack?: string } | string;
  error.dispose();
  if (stopped) return stopped;
  if (typeof thrown === "string") return new EngineError("code", thrown);
  return new EngineError("code", `${thrown?.name ?? "Error"}: ${thrown?.message ?? "unknown"}`);
}

// capture gives the script a console and returns what it printed.
function capture(vm: QuickJSContext): () => string {
  let printed = "";
  const write = vm.newFunction("log", (...args) => {
    if (printed.length > limits.output) return;
    printed += args.map((arg) => {
      const value: unknown = vm.dump(arg);
      return typeof value === "string" ? value : JSON.stringify(value);
    }).join(" ") + "\n";
  });
  const console = vm.newObject();
  for (const name of ["log", "info", "warn", "error"]) vm.setProp(console, name, write);
  vm.setProp(vm.global, "console", console);
  console.dispose();
  write.dispose();
  return () => printed;
}
