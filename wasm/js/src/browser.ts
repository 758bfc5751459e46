// Entry for pages and their Workers, and for other runtimes that look like one.

import { Engine, type Connect, type EngineOptions } from "./engine.ts";
import { EngineError } from "./errors.ts";
import { link, type Line } from "./link.ts";
import { compileAny, wasmStarter } from "./wasm.ts";
import type { FromWorker } from "./worker.ts";

export * from "./index.ts";

/** createEngine starts the engine, in a Worker unless told otherwise. */
export function createEngine(options: EngineOptions = {}): Promise<Engine> {
  return Engine.start(platform, options);
}

function platform(options: EngineOptions): Connect {
  const runtime = String(options.runtime ?? new URL("./wasm_exec.js", import.meta.url));
  const wasm = options.wasm ?? new URL("./engine.wasm", import.meta.url);
  if (options.worker === false) {
    return async (host, lost) => {
      const module = await wasmStarter(compileAny)({ wasm, runtime }, host, (why) => lost(new EngineError("init", why)));
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
