// The limits of operations in one call, the same on every host: guests that repeat an operation as
// often as their arguments say, compared with the golden messages of kind flood.

import type { Plugin } from "../src/plugin/plugin.ts";
import { same } from "./claims.ts";
import { imports } from "./guests.ts";

/** Flood is a golden message of the contract. */
export interface Flood {
  step: "emit" | "log" | "call";
  request?: unknown;
  allowed: number;
  error: { code: string; message: string; retryable: boolean };
}

// The input is the number of repetitions, as four bytes, and the request of a call.
const text = (
  step: string,
): string => `(module${imports}(func (export "easel_invoke") (result i32) (local $i i32) (local $n i32)
	i32.const 0 i32.const 30000 call $input_read i32.const 4 i32.sub local.set $n i32.const 0 i32.load local.set $i
	loop $l ${step} local.get $i i32.const 1 i32.sub local.tee $i br_if $l end i32.const 0))`;

/** floods are the guests by name; "flood " and the step is the name of each. */
export const floods: Record<string, string> = {
  "flood emit": text("i32.const 1 i32.const 0 i32.const 1 call $emit drop"),
  "flood log": text("i32.const 2 i32.const 0 i32.const 1 call $log"),
  "flood call": text("i32.const 0 i32.const 4 local.get $n call $call drop"),
};

/**
 * drown makes as many steps as are allowed, and expects that one more is the fault in the golden
 * message.
 */
export async function drown(plugin: Plugin, flood: Flood): Promise<void> {
  same((await wade(plugin, flood, flood.allowed)).error, undefined, "as often as allowed");
  same((await wade(plugin, flood, flood.allowed + 1)).error, flood.error, "once more");
}

/** wade makes this number of steps. */
export function wade(plugin: Plugin, { request }: Flood, times: number): ReturnType<Plugin["call"]> {
  const asked = new TextEncoder().encode(request === undefined ? "" : JSON.stringify(request));
  const input = new Uint8Array(4 + asked.length);
  new DataView(input.buffer).setUint32(0, times, true);
  input.set(asked, 4);
  return plugin.call({ input, side: async () => ({ ok: {} }) });
}
