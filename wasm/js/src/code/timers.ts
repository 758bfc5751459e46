// The pending setTimeout calls of a script, run one by one while main's promise is pending.

import type { QuickJSContext, QuickJSHandle, VmCallResult } from "quickjs-emscripten-core";

interface Timer {
  id: number;
  /** Milliseconds since 1970. */
  at: number;
  call: QuickJSHandle;
  args: QuickJSHandle[];
}

/** Timers belong to one script. */
export class Timers {
  readonly #vm: QuickJSContext;
  #pending: Timer[] = [];
  #last = 0;

  constructor(vm: QuickJSContext) {
    this.#vm = vm;
  }

  /** set returns the script's setTimeout(f, ms, ...args). */
  set(): QuickJSHandle {
    const vm = this.#vm;
    return vm.newFunction("setTimeout", (call, ms, ...args) => {
      if (!call || vm.typeof(call) !== "function") {
        throw new TypeError("setTimeout: the first argument is not a function");
      }
      const wait = ms ? Math.max(0, Math.trunc(Number(vm.getNumber(ms)) || 0)) : 0;
      const id = ++this.#last;
      this.#pending.push({ id, at: Date.now() + wait, call: call.dup(), args: args.map((arg) => arg.dup()) });
      return vm.newNumber(id);
    });
  }

  /** clear returns the script's clearTimeout(id). */
  clear(): QuickJSHandle {
    const vm = this.#vm;
    return vm.newFunction("clearTimeout", (id) => {
      const given = id && vm.typeof(id) === "number" ? vm.getNumber(id) : 0;
      for (const timer of this.#pending.filter((each) => each.id === given)) this.#drop(timer);
    });
  }

  /** next returns the earliest timer. */
  next(): { at: number; run(): VmCallResult<QuickJSHandle> } | undefined {
    const [first] = this.#pending.toSorted((a, b) => a.at - b.at || a.id - b.id);
    if (!first) return undefined;
    return {
      at: first.at,
      run: () => {
        const called = this.#vm.callFunction(first.call, this.#vm.undefined, ...first.args);
        this.#drop(first);
        return called;
      },
    };
  }

  dispose(): void {
    for (const timer of this.#pending) this.#drop(timer);
  }

  #drop(timer: Timer): void {
    this.#pending = this.#pending.filter((each) => each !== timer);
    for (const handle of [timer.call, ...timer.args]) handle.dispose();
  }
}
