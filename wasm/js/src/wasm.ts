// Starts the real engine in this thread; used by both workers and by inline mode.

import { instantiate, type GoRuntime } from "./abi.ts";
import { EngineError } from "./errors.ts";
import type { Starter } from "./worker.ts";

/**
 * wasmStarter starts the engine; `compile` is the platform's function from a source to a module.
 */
export function wasmStarter(compile: (source: unknown) => Promise<WebAssembly.Module>): Starter {
  return async ({ wasm, runtime }, host, exited) => {
    const [module, Go] = await Promise.all([compile(wasm), runtimeAt(runtime)]);
    return instantiate(module, new Go(), host, exited);
  };
}

/** compileAny compiles a module from an address, a response or bytes. */
export async function compileAny(source: unknown): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source as BufferSource);
  const response = source instanceof Response ? source : await fetch(String(source));
  if (!response.ok)
    throw new EngineError("init", `the engine module could not be fetched: ${response.status} ${response.url}`);
  // Streaming fails if the server sends another type; the bytes are valid.
  if (/^application\/wasm\b/.test(response.headers.get("content-type") ?? "")) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/**
 * compileOnce starts to compile a module at its first use, asynchronously in this thread,
 * while a worker starts; further starts get the same one. Where this thread may not compile, the
 * address is sent to the worker, which compiles it or reports the error.
 */
export function compileOnce(
  compile: (source: unknown) => Promise<WebAssembly.Module>,
  wasm: unknown,
): () => Promise<unknown> {
  const address = wasm instanceof URL ? wasm.href : typeof wasm === "string" ? wasm : undefined;
  let compiled: Promise<unknown> | undefined;
  return () =>
    (compiled ??= compile(address ?? wasm).catch((err: unknown) => {
      compiled = undefined;
      if (address === undefined) throw err;
      return address;
    }));
}

// Go's wasm_exec.js is a classic script that defines a global class.
async function runtimeAt(address: string): Promise<new () => GoRuntime> {
  await import(/* @vite-ignore */ address);
  const { Go } = globalThis as { Go?: new () => GoRuntime };
  if (!Go) throw new EngineError("init", `${address} is not Go's wasm_exec.js`);
  return Go;
}
