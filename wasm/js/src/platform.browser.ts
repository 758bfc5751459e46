// Starts modules in a page or one of its Workers.

import type { Connect, EngineOptions } from "./engine.ts";
import { EngineError } from "./errors.ts";
import { link, type Line } from "./link.ts";
import { compileAny, wasmStarter } from "./wasm.ts";
import type { FromWorker } from "./worker.ts";

/** platform is how a page reaches a module: in a Worker, or in this thread. */
export function platform(options: EngineOptions): Connect {
  const runtime = String(options.runtime ?? new URL("./wasm_exec.js", import.meta.url));
  const wasm = options.wasm ?? new URL("./engine.wasm", import.meta.url);
  if (options.worker === false) {
    return async (host, lost) => {
      const module = await wasmStarter(compileAny)({ wasm, runtime }, host, (why) => lost(new EngineError("crashed", why)));
      return { module, end: () => module.close(0) };
    };
  }
  const script = typeof options.worker === "object" || typeof options.worker === "string"
    ? options.worker : new URL("./worker.js", import.meta.url);
  return async (host, lost) => {
    const source = wasm instanceof Response ? await compileAny(wasm) : wasm instanceof URL ? wasm.href : wasm;
    return link(() => spawn(script), { wasm: source, runtime, watchdog: options.watchdog ?? 10_000 })(host, lost);
  };
}

function spawn(script: URL | string): Line {
  const worker = new Worker(script, { type: "module", name: "easel engine" });
  return {
    post: (message, transfer) => worker.postMessage(message, transfer ?? []),
    listen: (receive, broken) => {
      worker.onmessage = (event: MessageEvent<FromWorker>) => receive(event.data);
      worker.onerror = (event) => broken(event.message || "its script did not load");
      worker.onmessageerror = () => broken("a message could not be read");
    },
    end: () => worker.terminate(),
  };
}
