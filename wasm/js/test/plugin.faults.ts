// Faults of plugins and their errors, the same on every host: each fault
// has its own code, within the deadline, and the next call works. The twin of
// TestCallFaults of the Go host.

import type { Plugin } from "../src/plugin/plugin.ts";
import { holds, same } from "./claims.ts";
import { imports } from "./guests.ts";

/** Fault is one guest and the error expected for it. */
export interface Fault {
  code: string; // body of easel_invoke
  want: string;
  message: string;
  fuel?: number;
}

/** patient is a time limit that no call of a test reaches, also on a busy machine. Milliseconds. */
export const patient = 600_000;

export const limits = { timeout_ms: patient, memory_mb: 4, output_kb: 64, fuel: 2 ** 40 };

export const faults: Record<string, Fault> = {
  "an endless loop meets the deadline": { code: "loop $l br $l end i32.const 0", want: "timeout", message: "in time" },
  "an endless loop runs out of fuel": {
    code: "loop $l br $l end i32.const 0",
    want: "out_of_fuel",
    message: "allowed are 24999",
    fuel: 24_999,
  },
  "endless recursion": {
    code: "i64.const 1 i64.const 2 i64.const 3 i64.const 4 call $deep drop i32.const 0",
    want: "stack_overflow",
    message: "recursion",
  },
  "recursion that takes little of the real stack and much of the counted one": {
    code: "call $wide i32.const 0",
    want: "stack_overflow",
    message: "than the host has stack for",
  },
  "a memory bomb": {
    code: "loop $l i32.const 16 memory.grow i32.const -1 i32.eq if unreachable end br $l end i32.const 0",
    want: "oom",
    message: "4 MB",
  },
  "output without end": {
    code: "loop $l i32.const 0 i32.const 65536 call $output_write br $l end i32.const 0",
    want: "output_too_large",
    message: "output",
  },
  "an error without end": {
    code: "loop $l i32.const 0 i32.const 65536 call $error_write br $l end i32.const 0",
    want: "output_too_large",
    message: "error",
  },
  "output without end, byte by byte": {
    code: "loop $l i32.const 0 i32.const 1 call $output_write br $l end i32.const 0",
    want: "output_too_large",
    message: "output",
  },
  "emits without end": {
    code: "loop $l i32.const 1 i32.const 0 i32.const 1 call $emit drop br $l end i32.const 0",
    want: "too_many_calls",
    message: "emits",
  },
  "host calls without end": {
    code: "loop $l i32.const 0 i32.const 100 i32.const 3 call $call drop br $l end i32.const 0",
    want: "too_many_calls",
    message: "calls",
  },
  "a panic keeps its message": {
    code: "i32.const 2 i32.const 0 i32.const 1 i32.const 50 call $fd_write drop unreachable",
    want: "panic",
    message: "boom!",
  },
  "an error that is written before a trap is its message": {
    code: "i32.const 100 i32.const 11 call $error_write unreachable",
    want: "panic",
    message: "not so fast",
  },
  "an exit keeps its status": { code: "i32.const 3 call $exit i32.const 0", want: "exit", message: "status 3" },
  "a trap names itself": { code: "unreachable", want: "trap", message: "unreachable" },
  "a division by zero": { code: "i32.const 1 i32.const 0 i32.div_u", want: "trap", message: "divide by zero" },
  "a pointer outside the memory": {
    code: "i32.const 65535 i32.const 9 call $output_write i32.const 0",
    want: "trap",
    message: "output_write: 9 bytes at 65535",
  },
  "an error of the plugin": {
    code: "i32.const 100 i32.const 11 call $error_write i32.const 1",
    want: "internal",
    message: "not so fast",
  },
  "an error without words": { code: "i32.const 7", want: "internal", message: "returned 7" },
};

/** text returns the module around a fault, with an export `fine` that works. */
export function text(fault: Fault): string {
  const wide = fault.code.includes("$wide") ? `(func $wide ${"nop ".repeat(50_000)} call $wide)` : "";
  return `(module${imports}(data (i32.const 0) "\\08\\00\\00\\00\\05\\00\\00\\00boom!") (data (i32.const 100) "not so fast")
	(func $deep (param i64 i64 i64 i64) (result i64) local.get 0 i64.const 1 i64.add local.get 1 local.get 2 local.get 3 call $deep
		local.get 1 i64.add local.get 2 i64.mul local.get 3 i64.xor)
	${wide}
	(func (export "fine") (result i32) i32.const 100 i32.const 3 call $output_write i32.const 0)
	(func (export "easel_invoke") (result i32) ${fault.code}))`;
}

/**
 * attack makes the call and expects the error of the fault, in time, and that the next call
 * succeeds.
 */
export async function attack(plugin: Plugin, fault: Fault): Promise<void> {
  const timeout = fault.want === "timeout" ? 300 : patient;
  const began = performance.now();
  const outcome = await plugin.call({ input: "", timeout, fuel: fault.fuel, side: async () => ({ ok: {} }) });
  const took = performance.now() - began;
  same(outcome.error?.code, fault.want, outcome.error?.message);
  holds(outcome.error?.message.includes(fault.message), `${outcome.error?.message} has ${fault.message}`);
  same(outcome.output, undefined, "output");
  holds(took < patient, `${took} ms are in time`);
  const next = await plugin.call({ export: "fine", input: "" });
  same([next.error?.message, new TextDecoder().decode(next.output)], [undefined, "not"], "the next call");
}
