// WASI programs as plugins, in both ways to wait: the programs of the Go host's TestCommandStreams,
// with the same results.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Client } from "../src/client.ts";
import { platform } from "../src/platform.node.ts";
import { inline } from "../src/plugin/inline.ts";
import { bestWay, type Way } from "../src/plugin/kernel/wait.ts";
import type { Manifest } from "../src/plugin/manifest.ts";
import { Plugin } from "../src/plugin/plugin.ts";
import { examineWith } from "../src/plugin/shelf.ts";
import { build } from "./module.ts";
import { make, pack } from "./plugins.ts";

interface Program { name: string; text: string; input: string; output: string; code: string }

const noise = `(module (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 2) (data (i32.const 100) "line \\1b]0;x\\0a")
  (func (export "_start") (local $i i32)
    i32.const 0 i32.const 100 i32.store i32.const 4 i32.const 11 i32.store
    loop $l i32.const 2 i32.const 0 i32.const 1 i32.const 8 call $write drop
      local.get $i i32.const 1 i32.add local.tee $i i32.const 20000 i32.lt_u br_if $l end
    i32.const 1000 i32.const 70000 i32.store8 i32.const 4 i32.const 60000 i32.store
    i32.const 2 i32.const 0 i32.const 1 i32.const 8 call $write drop
    i32.const 1 call $exit))`;
const flood = `(module (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "_start") i32.const 4 i32.const 4096 i32.store
    loop $l i32.const 1 i32.const 0 i32.const 1 i32.const 8 call $write drop br $l end))`;

const command: Partial<Manifest> = { entry: { export: "_start" } };

describe("a program as a plugin", { timeout: 600_000 }, () => {
  const built = build();
  after(() => built.remove());
  const guests = make({ programs: true, wat: { noise, flood } });
  const programs = JSON.parse(Buffer.from(guests["programs.json"]!).toString()) as Program[];
  const load = async (name: string, way: Way, fields: Partial<Manifest> = command): Promise<Plugin> => {
    const client = new Client();
    const connection = await platform({ wasm: built.wasm, runtime: built.runtime, worker: false })(client, (err) =>
      client.fail(err));
    client.attach(connection.module);
    const examine = examineWith((request, body) => client.request(request, body));
    return Plugin.load(pack(guests[name]!, fields), examine, inline, { grant: "asked", way });
  };
  for (const way of new Set<Way>(["replay", bestWay()])) {
    for (const { name, input, output, code } of programs) {
      test(`${name}, ${way}`, async () => {
        const plugin = await load(name, way);
        for (let n = 0; n < 2; n++) {
          const outcome = await plugin.call({ input, side: async () => ({ ok: {} }) });
          assert.equal(outcome.error?.code ?? "", code, outcome.error?.message);
          if (code) assert.ok(outcome.error!.message.includes(output), outcome.error!.message);
          else assert.equal(new TextDecoder().decode(outcome.output), output);
        }
        plugin.close();
      });
    }
    test(`stderr is bounded, ${way}`, async () => {
      const plugin = await load("noise", way);
      const { error, logs } = await plugin.call({ input: "" });
      assert.equal(error?.code, "exit");
      assert.ok(error!.message.length <= 2 << 10, `${error!.message.length} characters`);
      assert.equal(logs.length, 500);
      assert.deepEqual(logs[0], { level: "info", text: "line <U+001B>]0;x" });
      plugin.close();
    });
    test(`stdout is bounded, ${way}`, async () => {
      const plugin = await load("flood", way);
      assert.equal((await plugin.call({ input: "" })).error?.code, "output_too_large");
      plugin.close();
    });
  }
  test("only what the manifest names as a command is called by the name _start", async () => {
    const run = { entry: { export: "run" } };
    await assert.rejects(load("returns", bestWay(), run), /no function without arguments is exported by that name/);
    await assert.rejects(load("returns", bestWay(), { ...command, state: "run" }), /a command has no state/);
  });
});
