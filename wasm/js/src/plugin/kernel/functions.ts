// The functions that a plugin may import, by namespace.

import { meter } from "../abi.ts";
import { bulk } from "./bulk.ts";
import { extism, user } from "./extism.ts";
import type { Guest } from "./guest.ts";
import { notify } from "./notify.ts";
import { wasi } from "./wasi.ts";

/**
 * functions returns those of one instance. With the way suspend, those that wait suspend the stack
 * of the module.
 */
export function functions(guest: Guest): WebAssembly.Imports {
  const waits = (all: Record<string, Function>, waiting: string[]): Record<string, Function> => {
    if (guest.way !== "suspend") return all;
    const { Suspending } = WebAssembly as unknown as { Suspending: new (f: Function) => Function };
    return Object.fromEntries(
      Object.entries(all).map(([name, f]) => [name, waiting.includes(name) ? new Suspending(f) : f]),
    );
  };
  return {
    [meter.module]: { [meter.tick]: (counter: number) => guest.tick(counter) },
    "easel:host/v1": waits(bulk(guest), ["emit", "call"]),
    "extism:host/env": waits(extism(guest), ["http_request"]),
    "extism:host/user": waits({ ...user(guest), ...notify(guest) }, ["easel_emit", "easel_call", "notify_progress"]),
    wasi_snapshot_preview1: waits(wasi(guest), ["poll_oneoff"]),
  } as unknown as WebAssembly.Imports;
}
