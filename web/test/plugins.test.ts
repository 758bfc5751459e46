// Plugins of the page: what each asks for, as people read it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "@easel/engine";
import { localHosts, Plugins } from "../run/plugins.ts";

test("the bounds of permissions are shown in short, and local hosts are named", async () => {
  const permissions = {
    http: { hosts: ["api.example", "*.shop.example"], methods: ["GET"], private: true, reason: "Reads prices." },
    secrets: { SHOP_KEY: { hosts: ["api.example"], reason: "Signs in." } },
    kv: { bytes: 1024, reason: "Remembers." },
    clock: { precise: true, reason: "Measures." },
  };
  const engine = {
    pluginManifest: () => Promise.resolve({ name: "shop", version: "1.0.0", description: "", permissions }),
    use: () => Promise.resolve(),
  } as unknown as Engine;
  const plugins = new Plugins(Promise.resolve(engine), {} as ConstructorParameters<typeof Plugins>[1], () => undefined);
  await plugins.add(new File([new Uint8Array(8)], "shop.wasm"));
  assert.equal(plugins.fault.get(), undefined);
  assert.deepEqual(plugins.list.get()[0]?.asks.map(({ part, bounds, reason }) => [part, bounds, reason]), [
    ["http", "api.example, *.shop.example · methods GET · private", "Reads prices."],
    ["secrets", "SHOP_KEY api.example", "Signs in."],
    ["kv", "bytes 1024", "Remembers."],
    ["clock", "precise", "Measures."],
  ]);
  const local = (...used: string[]): string[] => localHosts(plugins.list.get(), used);
  assert.deepEqual(local("shop@1"), [], "before anything is allowed");
  await plugins.allow("shop", ["http"]);
  assert.deepEqual(local("shop@1"), ["api.example", "*.shop.example"]);
  assert.deepEqual([local("shop.prices@1").length, local("shopping@1")], [2, []]);
});
