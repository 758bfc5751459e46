// Scripts of Code nodes in QuickJS, straight in this thread.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import variant from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule } from "quickjs-emscripten-core";
import { memoryOf, runScript } from "../src/code/sandbox.ts";

let quickjs: QuickJSWASMModule;
before(async () => {
  quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory: memoryOf(8 << 20) }));
});

const run = (script: string, args: Record<string, unknown> = {}, more = {}) =>
  runScript(quickjs, { lang: "javascript", script, arguments: args, ...more });

test("main gets the arguments as one object and returns JSON", () => {
  assert.deepEqual(run("function main({ a, b }) { return { sum: a + b, list: [a, b] } }", { a: 1, b: 2 }).result, { sum: 3, list: [1, 2] });
});

test("an async main is awaited", () => {
  assert.equal(run("async function main() { await null; return 'late' }").result, "late");
});

test("nothing returned is null, and what is printed comes along", () => {
  assert.deepEqual(run("function main() { console.log('a', { b: 1 }) }"), { result: null, stdout: 'a {"b":1}\n' });
});

test("text in arguments is data, never script", () => {
  assert.equal(run("const main = (a) => a.x", { x: "`${1}` </script> \\ ' \" \u2028" }).result, "`${1}` </script> \\ ' \" \u2028");
});

test("an exception names itself", () => {
  assert.throws(() => run("function main() { null.x }"), { code: "code", message: /TypeError/ });
  assert.throws(() => run("function main( {"), { code: "code", message: /SyntaxError/ });
  assert.throws(() => run("let x = 1"), { code: "code", message: /no function main/ });
});

test("a promise that nothing settles is told", () => {
  assert.throws(() => run("const main = () => new Promise(() => {})"), { message: /nothing settles/ });
});

test("an endless loop ends at the limit", () => {
  const began = Date.now();
  assert.throws(() => run("function main() { for (;;); }", {}, { timeout: 100 }), { code: "timeout" });
  assert.ok(Date.now() - began < 3000);
});

test("memory and stack are limited", () => {
  assert.throws(() => run("function main() { const a = []; for (;;) a.push('x'.repeat(1e5) + a.length) }", {}, { timeout: 30_000 }), { code: "code", message: /memory/ });
  assert.throws(() => run("function main() { return main() + 1 }"), { code: "code" });
});

test("there is no page, no network and no module loader", () => {
  assert.deepEqual(run("function main() { return [typeof fetch, typeof document, typeof process, typeof require] }").result,
    ["undefined", "undefined", "undefined", "undefined"]);
  assert.throws(() => run("async function main() { return (await import('fs')).x }"), { code: "code" });
});

test("python is refused with the reason", () => {
  assert.throws(() => runScript(quickjs, { lang: "python", script: "", arguments: {} }), { code: "unsupported", message: /server/ });
});
