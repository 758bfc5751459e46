// Determines why a plugin failed, as a code of the contract.

import { PluginError } from "../error.ts";

/** Exit is thrown by proc_exit and has its status. */
export class Exit {
  readonly status: number;

  constructor(status: number) {
    this.status = status;
  }
}

/** Traces are hints for the cause of a failure. */
export interface Traces {
  stderr: string;
  /** The error that the plugin wrote before it failed. */
  failure: string;
  /** Its memory could not grow. */
  grewTooFar: boolean;
  /** Its memory limit in MB. */
  memory: number;
}

/** faultOf returns a fault with its code. Other errors are rethrown. */
export function faultOf(err: unknown, { stderr, failure, grewTooFar, memory }: Traces): PluginError {
  // The message is the plugin's stderr, up to the stack trace of its language.
  const told = (code: string, otherwise: string): PluginError =>
    new PluginError(code, stderr.trim().split("\n\ngoroutine ")[0] || otherwise);
  if (err instanceof PluginError) return err;
  if (err instanceof Exit) return told("exit", `the plugin called exit with status ${err.status}`);
  // Engines throw different errors when a stack overflows.
  if (err instanceof Error && /call stack|recursion/i.test(err.message) && !(err instanceof WebAssembly.RuntimeError)) {
    return new PluginError("stack_overflow", "endless recursion" + top(err));
  }
  if (!(err instanceof WebAssembly.RuntimeError || err instanceof RangeError)) throw err;
  if (grewTooFar || stderr.includes("out of memory"))
    return new PluginError("oom", `wanted more memory than ${memory} MB${top(err)}`);
  if (failure) return new PluginError("panic", failure);
  return stderr ? told("panic", err.message) : new PluginError("trap", reason(err.message) + top(err));
}

// Traps in the wording of the server.
const words: [RegExp, string][] = [
  [/memory access|out of bounds memory/i, "out of bounds memory access"],
  [/divide by zero|remainder by zero/i, "integer divide by zero"],
  [/table index|table access|table out of bounds/i, "invalid table access"],
  [/signature mismatch|null function/i, "indirect call type mismatch"],
  [/unrepresentable|overflow/i, "integer overflow"],
];

function reason(message: string): string {
  return words.find(([pattern]) => pattern.test(message))?.[1] ?? message;
}

/** top returns the name of the function on top of a stack trace, if it has one. */
function top(err: Error): string {
  const name =
    /^\s+at (\S+) \(wasm:/m.exec(err.stack ?? "")?.[1] ??
    /^(?:\S*\.wasm\.)?([^@\n]+)@\S*wasm-function/m.exec(err.stack ?? "")?.[1];
  return name && !/wasm-function|^</.test(name) ? ` in ${name}` : "";
}
