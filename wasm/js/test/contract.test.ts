// The contract of scripts in JavaScript, in the sandbox of the page. The same cases run in the
// server's interpreter and, as Python, in CPython and Pyodide.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import variant from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant, newVariant } from "quickjs-emscripten-core";
import { memoryOf, runScript } from "../src/code/sandbox.ts";

interface Case {
  name: string;
  javascript?: string;
  arguments?: Record<string, unknown>;
  result?: unknown;
  stdout?: string;
  stderr?: string;
  stderr_has?: string[];
  limit?: string;
}

const contract = new URL("../../../host/internal/code/testdata/contract.json", import.meta.url);
const cases = JSON.parse(readFileSync(contract, "utf8")) as Case[];

for (const { name, javascript: script, arguments: args, result, stdout, stderr, stderr_has: has, limit } of cases) {
  if (!script) continue;
  test(name, async () => {
    const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory: memoryOf(64 << 20) }));
    const running = runScript(quickjs, {
      lang: "javascript", script, arguments: args ?? {}, timeout: 120_000, // for busy machines
    });
    if (limit) {
      await assert.rejects(running, { code: "limit_reached", message: new RegExp(limit) });
      return;
    }
    const got = await running;
    // The engine replaces lone surrogates when it reads JSON.
    const wellFormed = (_: string, v: unknown): unknown => (typeof v === "string" ? Buffer.from(v).toString() : v);
    assert.equal(JSON.stringify(got.result, wellFormed), JSON.stringify(result));
    assert.equal(got.stdout, stdout ?? "");
    if (!has) assert.equal(got.stderr, stderr ?? "");
    for (const part of has ?? []) assert.ok(got.stderr.includes(part), got.stderr);
  });
}
