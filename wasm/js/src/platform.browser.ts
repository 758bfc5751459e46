// Starts modules in a page or one of its Workers.

import type { EngineOptions } from "./engine.ts";
import { EngineError } from "./errors.ts";
import { link, type Connect, type Line } from "./link.ts";
import type { Shelf } from "./plugin/shelf.ts";
import { compileAny, compileOnce, wasmStarter } from "./wasm.ts";

/** platform starts modules in a page: in a Worker, or in this thread. */
export function platform(options: EngineOptions): Connect {
  const runtime = String(options.runtime ?? new URL("./wasm_exec.js", import.meta.url));
  const { wasm: given = new URL("./engine.wasm", import.meta.url) } = options;
  // the same in a worker, which lies elsewhere
  const wasm = typeof given === "string" ? new URL(given, location.href) : given;
  const source = compileOnce(compileAny, wasm);
  if (options.worker === false) {
    return async (host, lost) => {
      const module = await wasmStarter(compileAny)({ wasm: await source(), runtime }, host, (why) =>
        lost(new EngineError("crashed", why)),
      );
      return { module, end: () => module.close(0) };
    };
  }
  const script = typeof options.worker === "object" || typeof options.worker === "string"
    ? options.worker : new URL("./worker.js", import.meta.url);
  return link(() => spawn(script, "easel engine"), { wasm: source, runtime, watchdog: options.watchdog ?? 10_000 });
}

function spawn<To, From>(script: URL | string, name: string): Line<To, From> {
  const worker = new Worker(script, { type: "module", name });
  return {
    post: (message) => worker.postMessage(message),
    listen: (receive, broken) => {
      worker.onmessage = (event: MessageEvent<From>) => receive(event.data);
      worker.onerror = (event) => broken(event.message || "its script did not load");
      worker.onmessageerror = () => broken("a message could not be read");
    },
    end: () => worker.terminate(),
  };
}

/** plugins runs plugins in a page. Their code is loaded with the first one. */
export async function plugins({ pluginWorker = true, locale }: EngineOptions): Promise<Shelf> {
  const [{ Shelf }, { inline }] = await Promise.all([import("./plugin/shelf.ts"), import("./plugin/inline.ts")]);
  const script = typeof pluginWorker === "boolean" ? new URL("./plugin.js", import.meta.url) : pluginWorker;
  return new Shelf({
    locale, spawn: pluginWorker === false ? inline : () => spawn(script, "easel plugin"), read: bytesOf,
    services: (options) => {
      if (options.secrets)
        throw new EngineError(
          "unsupported",
          "plugin: secrets do not belong in a page; give the plugin a proxy of the host that holds them",
        );
      return options;
    },
  });
}

async function bytesOf(source: unknown): Promise<Uint8Array<ArrayBuffer>> {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (source instanceof Uint8Array) return source.slice() as Uint8Array<ArrayBuffer>;
  const response = source instanceof Response ? source : await fetch(String(source));
  if (!response.ok)
    throw new EngineError("plugin", `plugin: it could not be fetched: ${response.status} ${response.url}`);
  return new Uint8Array(await response.arrayBuffer());
}
