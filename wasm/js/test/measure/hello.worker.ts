// Runs hello.wasm in the simplest way, and notifies the page of its first output.

type Go = { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };

console.log = (text: unknown) => postMessage(text);
await import(/* @vite-ignore */ new URL("wasm_exec.js", location.href).href);
const go = new (globalThis as unknown as { Go: new () => Go }).Go();
const { instance } = await WebAssembly.instantiateStreaming(fetch("hello.wasm"), go.importObject);
await go.run(instance);

export {};
