// Starts modules in Node.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { EngineOptions } from "./engine.ts";
import { EngineError } from "./errors.ts";
import { link, type Connect, type Line } from "./link.ts";
import type { Shelf } from "./plugin/shelf.ts";
import { compileAny, compileOnce, wasmStarter } from "./wasm.ts";

/** compile reads files itself, because Node's fetch does not. */
export async function compile(source: unknown): Promise<WebAssembly.Module> {
  const address = source instanceof URL ? source.href : source;
  if (typeof address !== "string" || /^https?:/.test(address)) return compileAny(address);
  return WebAssembly.compile(await readFile(address.startsWith("file:") ? fileURLToPath(address) : address));
}

/** platform starts modules in Node: in a worker thread, or in this one. */
export function platform(options: EngineOptions): Connect {
  const runtime = String(options.runtime ?? new URL("./wasm_exec.js", import.meta.url));
  const wasm = options.wasm ?? new URL("./engine.wasm", import.meta.url);
  const source = compileOnce(compile, wasm);
  if (options.worker === false) {
    return async (host, lost) => {
      const module = await wasmStarter(compile)({ wasm: await source(), runtime }, host, (why) =>
        lost(new EngineError("crashed", why)),
      );
      return { module, end: () => module.close(0) };
    };
  }
  const script = typeof options.worker === "object" || typeof options.worker === "string"
    ? new URL(options.worker, import.meta.url) : new URL("./worker.node.js", import.meta.url);
  return link(() => spawn(script), { wasm: source, runtime, watchdog: options.watchdog ?? 10_000 });
}

function spawn<To, From>(script: URL): Line<To, From> {
  const worker = new Worker(script);
  return {
    post: (message) => worker.postMessage(message),
    listen: (receive, broken) => {
      worker.on("message", (message: From) => receive(message));
      worker.on("error", (err: Error) => broken(err.message));
      worker.on("exit", (code) => { if (code !== 0) broken(`it ended with code ${code}`); });
    },
    hold: (busy) => (busy ? worker.ref() : worker.unref()),
    end: () => void worker.terminate(),
  };
}

/** plugins runs plugins in Node. Their code is loaded with the first one. */
export async function plugins({ pluginWorker = true, locale }: EngineOptions): Promise<Shelf> {
  const [{ Shelf }, { inline }, { dial }] = await Promise.all([
    import("./plugin/shelf.ts"),
    import("./plugin/inline.ts"),
    import("./plugin/dial.node.ts"),
  ]);
  const script =
    typeof pluginWorker === "boolean"
      ? new URL("./plugin.node.js", import.meta.url)
      : new URL(pluginWorker, import.meta.url);
  return new Shelf({
    locale, server: true, spawn: pluginWorker === false ? inline : () => spawn(script), read: bytesOf,
    services: (options) => ({ ...options, dial }),
  });
}

async function bytesOf(source: unknown): Promise<Uint8Array<ArrayBuffer>> {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (source instanceof Uint8Array) return new Uint8Array(source);
  const address = String(source);
  if (!(source instanceof Response) && !/^https?:/.test(address))
    return new Uint8Array(await readFile(address.startsWith("file:") ? fileURLToPath(address) : address));
  const response = source instanceof Response ? source : await fetch(address);
  if (!response.ok)
    throw new EngineError("plugin", `plugin: it could not be fetched: ${response.status} ${response.url}`);
  return new Uint8Array(await response.arrayBuffer());
}
