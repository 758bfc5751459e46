// Runs one script of a Code node inside QuickJS: the language, a console, setTimeout, and nothing
// else. Time, memory, stack and output are limited. The global scope of a script and the conversion
// of its result are as on the server.

import {
  Scope,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSWASMModule,
  type VmCallResult,
} from "quickjs-emscripten-core";
import { EngineError } from "../errors.ts";
import type { CodeAnswer, CodeRequest } from "../ports.ts";
import { exporter } from "./export.ts";
import { Timers } from "./timers.ts";

const page = 64 << 10;
const own = 256; // pages QuickJS itself begins with

/**
 * memoryOf creates the memory of a QuickJS whose scripts may use this number of bytes. Its
 * own memory limit ignores the size of an allocation in this build, so the growth of the
 * WebAssembly memory is limited.
 */
export function memoryOf(bytes: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: own, maximum: own + Math.max(1, Math.ceil(bytes / page)) });
}

/**
 * Limits of a script whose request names none: milliseconds, bytes, bytes, characters, characters.
 * With this stack a function can call itself about 700 times; a larger one exceeds the half
 * megabyte that a Worker of Chromium has.
 */
export const limits = { timeout: 10_000, memory: 64 << 20, stack: 128 << 10, output: 8 << 20, script: 256 << 10 };

type Answer = Required<Pick<CodeAnswer, "result" | "stdout" | "stderr">>;

/** Modules whose last script was interrupted in the middle of a step. They are not used again. */
export const spoilt = new WeakSet<QuickJSWASMModule>();

/**
 * runScript calls main of a script with the arguments as one object and waits for it if it is
 * async. An exception of the script is in stderr; an EngineError means that the script was refused
 * or exceeded a limit.
 */
export async function runScript(quickjs: QuickJSWASMModule, request: CodeRequest): Promise<Answer> {
  if (!/^(javascript|nodejs|js)$/.test(request.lang)) {
    throw new EngineError("unsupported", `scripts in ${request.lang} need a server; in a page only javascript runs`);
  }
  if (request.script.length > limits.script) {
    throw new EngineError(
      "limit_reached",
      `a script of ${request.script.length} characters: at most ${limits.script} are accepted`,
    );
  }
  const machine = new Machine(quickjs, request);
  try {
    return await machine.run();
  } catch (err) {
    if (!(err instanceof EngineError)) spoilt.add(quickjs); // out of memory, or out of the thread's own stack
    if (err instanceof OutOfMemory) throw err.cause;
    if (err instanceof RangeError) return machine.threw(`RangeError: ${err.message}`);
    throw err;
  } finally {
    if (!spoilt.has(quickjs)) machine.end();
  }
}

/** Thrown wraps an exception of a script until it is converted to text. */
class Thrown extends Error {}

class OutOfMemory extends Error {}

class Machine {
  readonly #vm: QuickJSContext;
  readonly #held = new Scope(); // what the script's end lets go
  readonly #request: CodeRequest;
  readonly #timeout: number;
  readonly #deadline: number;
  readonly #timers: Timers;
  readonly #out = new Printer();
  readonly #errors = new Printer();
  #stopped: EngineError | undefined;

  constructor(quickjs: QuickJSWASMModule, request: CodeRequest) {
    this.#request = request;
    this.#timeout = request.timeout ?? limits.timeout;
    this.#deadline = Date.now() + this.#timeout;
    const runtime = quickjs.newRuntime();
    runtime.setMaxStackSize(limits.stack);
    runtime.setInterruptHandler(() => {
      if (Date.now() > this.#deadline) this.#tooLong();
      return this.#stopped !== undefined;
    });
    this.#vm = runtime.newContext();
    this.#timers = new Timers(this.#vm);
  }

  async run(): Promise<Answer> {
    const vm = this.#vm;
    try {
      const exports = this.#value(vm.evalCode(exporter(limits.output), "export.js"));
      const [write, show] = [
        this.#held.manage(vm.getProp(exports, "write")),
        this.#held.manage(vm.getProp(exports, "show")),
      ];
      this.#prepare(show);
      const args = this.#value(
        vm.evalCode(`JSON.parse(${JSON.stringify(JSON.stringify(this.#request.arguments ?? {}))})`, "arguments.js"),
      );
      this.#value(vm.evalCode(this.#request.script, "script.js", { type: "global" }));
      const main = this.#value(vm.evalCode(entry, "script.js"));
      if (vm.typeof(main) !== "function") return this.threw("the script defines no function main(args)");
      const returned = this.#value(vm.callFunction(main, vm.undefined, args));
      const settled = await this.#settle(returned);
      const text = this.#exported(write, settled);
      return { result: JSON.parse(text) as unknown, stdout: this.#out.text, stderr: this.#errors.text };
    } catch (err) {
      if (err instanceof Thrown) return this.threw(err.message);
      throw err;
    }
  }

  /** threw returns the answer of a script that threw an exception. */
  threw(text: string): Answer {
    const hint = /^SyntaxError/.test(text) && /^\s*(import|export)\b/m.test(this.#request.script)
      ? " (import and export are not available: define function main(args) or set module.exports)" : "";
    return { result: null, stdout: this.#out.text, stderr: this.#errors.text + text + hint + "\n" };
  }

  /** end releases the interpreter. */
  end(): void {
    this.#timers.dispose();
    this.#held.dispose();
    const { runtime } = this.#vm;
    this.#vm.dispose();
    runtime.dispose();
  }

  // The script has console, timers, module, and a require that fails with an explanation.
  #prepare(show: QuickJSHandle): void {
    const vm = this.#vm;
    const global = (name: string, value: QuickJSHandle): void => vm.setProp(vm.global, name, this.#held.manage(value));
    const printer = (to: Printer): QuickJSHandle =>
      vm.newFunction("print", (...args) => to.line(args.map((arg) => this.#shown(show, arg)).join(" ")));
    const console = vm.newObject();
    for (const [names, to] of [[["log", "info", "debug"], this.#out], [["warn", "error"], this.#errors]] as const) {
      for (const name of names) vm.setProp(console, name, this.#held.manage(printer(to)));
    }
    global("console", console);
    global("setTimeout", this.#timers.set());
    global("clearTimeout", this.#timers.clear());
    global("require", vm.newFunction("require", (name) => {
      throw new Error(
        `require(${vm.getString(name)}): scripts run without modules; only the language, console and setTimeout are ` +
        `there`,
      );
    }));
    this.#value(vm.evalCode(`globalThis.module = { exports: {} }; globalThis.exports = module.exports;`, "module.js"));
  }

  #shown(show: QuickJSHandle, value: QuickJSHandle): string {
    return this.#vm
      .unwrapResult(this.#vm.callFunction(show, this.#vm.undefined, value))
      .consume((text) => this.#vm.getString(text));
  }

  // settle runs timers until a promise is settled.
  async #settle(returned: QuickJSHandle): Promise<QuickJSHandle> {
    const vm = this.#vm;
    for (;;) {
      this.#work();
      const state = vm.getPromiseState(returned);
      if (state.type === "fulfilled") return this.#held.manage(state.value);
      if (state.type === "rejected") this.#throw(state.error);
      const next = this.#timers.next();
      if (!next) throw new EngineError("code", "the promise that main returned is never settled");
      if (next.at > this.#deadline) {
        this.#tooLong();
        throw this.#stopped as EngineError;
      }
      await new Promise((resolve) => setTimeout(resolve, next.at - Date.now()));
      this.#value(next.run());
    }
  }

  // work runs pending jobs of promises. An interrupted one stays pending.
  #work(): void {
    const { runtime } = this.#vm;
    while (runtime.hasPendingJob()) {
      const jobs = runtime.executePendingJobs(1000);
      if (jobs.error) this.#throw(jobs.error);
      if (Date.now() > this.#deadline) this.#tooLong();
      if (this.#stopped) throw this.#stopped;
    }
  }

  #exported(write: QuickJSHandle, value: QuickJSHandle): string {
    const vm = this.#vm;
    const called = vm.callFunction(write, vm.undefined, value);
    if (called.error && vm.typeof(called.error) === "string")
      throw new EngineError("limit_reached", "script: " + called.error.consume((text) => vm.getString(text)));
    return vm.getString(this.#value(called));
  }

  #value(called: VmCallResult<QuickJSHandle>): QuickJSHandle {
    if (called.error) this.#throw(called.error);
    return this.#held.manage(called.value);
  }

  #throw(error: QuickJSHandle): never {
    const text = this.#text(this.#held.manage(error));
    if (this.#stopped) throw this.#stopped;
    if (/^InternalError: out of memory/.test(text)) {
      const most = (this.#request.memory ?? limits.memory) >> 20;
      throw new OutOfMemory(text, { cause: new EngineError("limit_reached", `the script holds more than ${most} MB`) });
    }
    throw new Thrown(text);
  }

  // text returns the exception as text, with its stack if it is an Error.
  #text(error: QuickJSHandle): string {
    const vm = this.#vm;
    if (vm.typeof(error) !== "object") return vm.getString(error);
    const part = (name: string): string =>
      vm.getProp(error, name).consume((value) => (vm.typeof(value) === "undefined" ? "" : vm.getString(value)));
    const [name, message, stack] = [part("name"), part("message"), part("stack")];
    if (name === "" && stack === "") return vm.getString(error);
    return `${name || "Error"}: ${message}\n${stack}`
      .trimEnd()
      .replace(/^InternalError: (stack overflow|too much recursion)/, "RangeError: $1");
  }

  #tooLong(): void {
    this.#stopped ??= new EngineError("timeout", `the script ran longer than ${this.#timeout} ms`);
  }
}

// main is a function of the script, module.exports.main, or module.exports itself.
const entry = `typeof main === "function" ? main : typeof module.exports === "function" ? module.exports : ` +
  `module.exports && module.exports.main`;

/** Printer collects output, up to a limit. */
class Printer {
  text = "";
  #cut = false;

  line(text: string): void {
    if (this.#cut) return;
    this.#cut = this.text.length + text.length >= limits.output;
    this.text += this.#cut ? "[output cut]\n" : text + "\n";
  }
}
