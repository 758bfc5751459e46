// Scripts of Code nodes in QuickJS, in this thread. The language itself is
// compared with the server's interpreter in language.test.ts.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import variant from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule } from "quickjs-emscripten-core";
import { limits, memoryOf, runScript, spoilt } from "../src/code/sandbox.ts";

const load = (bytes: number): Promise<QuickJSWASMModule> =>
  newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory: memoryOf(bytes) }));

let quickjs: QuickJSWASMModule;
before(async () => { quickjs = await load(8 << 20); });

const run = (script: string, args: Record<string, unknown> = {}, more = {}) =>
  runScript(quickjs, { lang: "javascript", script, arguments: args, ...more });

test("main gets the arguments as one object and returns JSON", async () => {
  assert.deepEqual(
    (await run("function main({ a, b }) { return { sum: a + b, list: [a, b] } }", { a: 1, b: 2 })).result,
    { sum: 3, list: [1, 2] },
  );
});

test("a script without a result returns null, with its output", async () => {
  assert.deepEqual(await run("function main() { console.log('a', { b: 1 }); console.warn('w') }"), {
    result: null,
    stdout: 'a {"b": 1}\n',
    stderr: "w\n",
  });
});

test("text in arguments is data, never script", async () => {
  const odd = "`${1}` </script> \\ ' \" \u2028";
  assert.equal((await run("const main = (a) => a.x", { x: odd })).result, odd);
});

test("an exception has a message and a line", async () => {
  const { result, stderr } = await run("function main() {\n  return none.x\n}");
  assert.equal(result, null);
  assert.match(stderr, /^ReferenceError: .*none.*\n.*main.*script\.js:2/s);
});

test("promises that never settle or settle too late are reported", async () => {
  await assert.rejects(run("const main = () => new Promise(() => {})"), { code: "code", message: /never settled/ });
  await assert.rejects(run("const main = () => new Promise(r => setTimeout(r, 1e6))", {}, { timeout: 100 }), {
    code: "timeout",
  });
});

test("an endless loop ends at the limit", async () => {
  const began = Date.now();
  await assert.rejects(run("function main() { for (;;); }", {}, { timeout: 100 }), {
    code: "timeout",
    message: /100 ms/,
  });
  await assert.rejects(run("for (;;);", {}, { timeout: 100 }), { code: "timeout" });
  await assert.rejects(run("const main = () => { try { for (;;); } catch { for (;;); } }", {}, { timeout: 100 }), {
    code: "timeout",
  });
  await assert.rejects(run("async function main() { for (;;) await null }", {}, { timeout: 100 }), { code: "timeout" });
  assert.ok(Date.now() - began < 60_000);
});

test("memory is limited, and the next script runs in a fresh interpreter", async () => {
  const small = await load(4 << 20);
  const full = (script: string) =>
    runScript(small, { lang: "javascript", script, arguments: {}, timeout: 60_000, memory: 4 << 20 });
  await assert.rejects(full("function main() { const a = []; for (;;) a.push('x'.repeat(1e5) + a.length) }"), {
    code: "limit_reached",
    message: /more than 4 MB/,
  });
  assert.ok(spoilt.has(small));
  const deep = await load(8 << 20);
  assert.match(
    (await runScript(deep, { lang: "js", script: "const main = () => eval('('.repeat(1e5))", arguments: {} })).stderr,
    /^(RangeError|SyntaxError)/,
  );
});

test("an interpreter is reused without state of earlier scripts", async () => {
  const script = `async function main({ n }) {
    const held = "y".repeat(20000), x = {}; x.self = x;
    await new Promise((resolve) => setTimeout(resolve, 0, held));
    setTimeout(() => held, 1e6);
    console.log({ n });
    if (n % 3 === 0) throw new Error(held);
    return n % 3 === 1 ? x : { n, held };
  }`;
  let memory = 0;
  for (let n = 0; n < 600; n++) {
    await run(script, { n }).catch((err: { code: string }) => assert.equal(err.code, "limit_reached"));
    if (n === 100) memory = quickjs.getWasmMemory().buffer.byteLength;
  }
  assert.equal(quickjs.getWasmMemory().buffer.byteLength, memory);
});

test("output and scripts are limited", async () => {
  const { stdout } = await run("function main() { for (let i = 0; i < 100; i++) console.log('x'.repeat(100000)) }");
  assert.ok(stdout.length <= limits.output + 20 && stdout.endsWith("[output cut]\n"));
  await assert.rejects(run("const main = () => 'x'.repeat(9e6)"), {
    code: "limit_reached",
    message: /larger than it may be/,
  });
  await assert.rejects(run("//" + "x".repeat(300_000)), { code: "limit_reached", message: /262144/ });
});

test("there is no page, no network and no module loader", async () => {
  assert.deepEqual(
    (
      await run(
        "function main() { return [typeof fetch, typeof document, typeof process, typeof postMessage, typeof " +
        "WebAssembly] }",
      )
    ).result,
    Array(5).fill("undefined"),
  );
  assert.match((await run("async function main() { return (await import('fs')).x }")).stderr, /\S/);
  assert.match((await run("const fs = require('fs')")).stderr, /scripts run without modules/);
});

test("a script cannot change the conversion of its result", async () => {
  const script =
    "JSON.stringify = JSON.parse = () => 'forged'; Object.keys = () => []; Array.isArray = () => true; String = () " +
    "=> 'forged'; const main = () => { console.log({ a: 1 }); return { a: [1, 2n] } }";
  assert.deepEqual(await run(script), { result: { a: [1, "2"] }, stdout: '{"a": 1}\n', stderr: "" });
});

test("python is refused with the reason", async () => {
  await assert.rejects(runScript(quickjs, { lang: "python", script: "", arguments: {} }), {
    code: "unsupported",
    message: /server/,
  });
});
