// The clocks of plugins: coarse, unless the permission for precise ones was granted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../src/client.ts";
import { platform } from "../src/platform.node.ts";
import type { RunSide } from "../src/plugin/desk.ts";
import { inline } from "../src/plugin/inline.ts";
import type { Manifest } from "../src/plugin/manifest.ts";
import { Plugin, type CallRequest, type LoadOptions } from "../src/plugin/plugin.ts";
import { examineWith } from "../src/plugin/shelf.ts";
import { build } from "./module.ts";
import { make, pack } from "./plugins.ts";

// clocks returns the resolution of both clocks, and their time.
const clocks = `(module (import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
		(import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
		(import "wasi_snapshot_preview1" "clock_res_get" (func $res (param i32 i32) (result i32)))
		(memory (export "memory") 1)
		(func (export "easel_invoke") (result i32)
			i32.const 0 i32.const 0 call $res drop i32.const 1 i32.const 8 call $res drop
			i32.const 0 i64.const 0 i32.const 16 call $clock drop i32.const 1 i64.const 0 i32.const 24 call $clock drop
			i32.const 0 i32.const 32 call $output_write i32.const 0))`;

test("the monotonic clock is precise with the permission only", async () => {
  const built = build();
  const guests = make({ wat: { clocks } });
  const client = new Client();
  const start = platform({ wasm: built.wasm, runtime: built.runtime, worker: false });
  const connection = await start(client, (err) => client.fail(err));
  client.attach(connection.module);
  const examine = examineWith((request, body) => client.request(request, body));
  const open: Plugin[] = [];
  const load = async (fields: Partial<Manifest>, options: LoadOptions = { grant: "asked" }): Promise<Plugin> => {
    const plugin = await Plugin.load(pack(guests["clocks"]!, fields), examine, inline, options);
    open.push(plugin);
    return plugin;
  };
  const precise = { precise: true, reason: "measures" };
  const asks = await load({ permissions: { clock: precise } });
  const read = async (plugin: Plugin, request: Partial<CallRequest>): Promise<bigint[]> =>
    [...new BigUint64Array((await plugin.call({ input: "", ...request })).output!.slice().buffer)];
  const times = async (plugin: Plugin, request: Partial<CallRequest> = {}): Promise<bigint[][]> => {
    const all = [];
    for (let n = 0; n < 8; n++) all.push(await read(plugin, request));
    return all;
  };
  const fine = (all: bigint[][], at: number): boolean => all.some((each) => each[at]! % 1_000_000n !== 0n);
  const side: RunSide = async () => ({ ok: {} });
  const granted = await times(asks, { side });
  assert.deepEqual(granted[0]!.slice(0, 2), [1_000_000n, 1000n]);
  assert.ok(fine(granted, 3), "the monotonic clock");
  assert.ok(!fine(granted, 2), "the time of day");
  const without: [string, bigint[][]][] = [
    ["a check, which has no permissions", await times(asks)],
    ["not granted in this call", await times(asks, { side, grant: {} })],
    ["not granted", await times(await load({ permissions: { clock: precise } }, {}), { side })],
    ["not asked for", await times(await load({}), { side })],
  ];
  for (const [name, all] of without) {
    assert.deepEqual(all[0]!.slice(0, 2), [1_000_000n, 1_000_000n], name);
    assert.ok(!fine(all, 2) && !fine(all, 3), name);
  }
  for (const plugin of open) plugin.close();
  connection.end();
  built.remove();
});
