// Removes from a Worker what a script must not use. Pyodide exposes the whole global scope of its
// Worker to Python, so a script could send requests with the cookies of the page and read its
// storage.

// The names that remain: the language, and what Pyodide uses while it runs.
const kept = new Set(`
  Object Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp
  Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError
  globalThis JSON Math Intl ArrayBuffer SharedArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array
  Uint32Array Int32Array Float16Array Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array
  DataView Map BigInt Set Iterator WeakMap WeakSet WeakRef FinalizationRegistry Proxy Reflect DisposableStack
  AsyncDisposableStack decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite
  isNaN WebAssembly TextEncoder TextDecoder crypto Crypto performance Performance console queueMicrotask
  clearTimeout clearInterval AbortController AbortSignal Event EventTarget MessageEvent DOMException self
  constructor addEventListener removeEventListener dispatchEvent onmessage
`.trim().split(/\s+/));

const refuse = (name: string) => (): never => { throw new TypeError(`${name} is not available to scripts`); };

/** lockDown removes everything else from this Worker. Afterwards no function compiles text. */
export function lockDown(): void {
  const later = globalThis.setTimeout.bind(globalThis);
  const above = (scope: object): object | null => Object.getPrototypeOf(scope) as object | null;
  for (let scope: object | null = globalThis; scope && scope !== Object.prototype; scope = above(scope)) {
    for (const name of Reflect.ownKeys(scope)) {
      if (typeof name === "string" && !kept.has(name)) remove(scope, name);
    }
  }
  // The timer accepts functions only: a string would be compiled.
  const setTimeout = (run: unknown, wait?: number, ...args: unknown[]): number => {
    if (typeof run !== "function") throw new TypeError("setTimeout needs a function");
    return later(run as (...args: unknown[]) => void, wait, ...args) as unknown as number;
  };
  Object.defineProperty(globalThis, "setTimeout", { value: setTimeout });
  // Every function has a reference to the constructor of its kind.
  for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    const value = refuse("Function");
    Object.defineProperty(above(sample), "constructor", { value, writable: false, configurable: false });
  }
}

function remove(scope: object, name: string): void {
  if (Reflect.deleteProperty(scope, name) && !(name in globalThis)) return;
  if (typeof Reflect.getOwnPropertyDescriptor(scope, name)?.value === "number") return; // a constant
  if (!Reflect.defineProperty(scope, name, { value: undefined, writable: false, configurable: false })) {
    throw new Error(`this browser does not let go of ${name}, so Python scripts cannot run in it`);
  }
}

/** limitMemory makes a WebAssembly memory refuse to grow beyond this number of bytes. */
export function limitMemory(bytes: number): void {
  const pages = Math.ceil(bytes / (64 << 10));
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function (delta: number): number {
    const wanted = this.buffer.byteLength / (64 << 10) + Number(delta);
    if (wanted > pages) throw new RangeError("the memory of the script is used up");
    return grow.call(this, delta);
  };
}
