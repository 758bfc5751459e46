// Plugins of the page: their requested permissions in the form for people.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine, PluginProxy, PluginSource } from "@easel/engine";
import { absent, localHosts, Plugins, type PluginEntry } from "../run/plugins.ts";

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

test("plugins of a canvas that the page does not have are named once, without their components", () => {
  const entry = { name: "weather", version: "1.2.0" } as PluginEntry;
  const used = [
    "weather@1", "weather.forecast@1.2", "weather@1.2.0", "weather", "weather@12", "shop.prices@2.1.0", "shop",
  ];
  assert.deepEqual(absent([entry], used), ["weather@12", "shop@2.1.0", "shop"]);
  assert.deepEqual(absent([], ["shop.prices@2", "shop.sales@2"]), ["shop@2"]);
});

test("plugins of the host are loaded by name, and their requests are sent by the host", async () => {
  const sources: PluginSource[] = [];
  const engine = {
    pluginManifest: () => Promise.resolve({
      name: "shop", version: "1.4.0", description: "",
      permissions: { http: { hosts: ["shop.example"], reason: "Reads." } },
    }),
    use: ([source]: PluginSource[]) => { sources.push(source!); return Promise.resolve(); },
  } as unknown as Engine;
  const plugins = new Plugins(Promise.resolve(engine), {} as ConstructorParameters<typeof Plugins>[1], () => undefined);
  const asked: unknown[][] = [];
  const ask = (method: string, path: string, body?: unknown): Promise<Response> => {
    asked.push([method, path, ...(body === undefined ? [] : [body])]);
    if (path.includes("gone")) return Promise.reject(new Error("gone: not installed"));
    if (method === "GET") return Promise.resolve(new Response(new Uint8Array(8)));
    return Promise.resolve(Response.json({ status: 201, headers: { "X-A": "b" }, body_base64: btoa("\xc3\xa5") }));
  };
  await plugins.fetch(["shop@1"], ask);
  assert.deepEqual(plugins.asking.get(), ["shop"]);
  plugins.asking.set([]);
  assert.deepEqual(asked, [["GET", "/api/v2/plugins/shop%401/file"]]);
  assert.equal("grant" in (sources[0] as object), false, "nothing is allowed before the person allows it");
  await plugins.allow("shop", ["http"]);
  const { proxy, grant } = sources[1] as { proxy: PluginProxy; grant: unknown };
  assert.deepEqual(grant, { http: { hosts: ["shop.example"], reason: "Reads." } });
  const answer = await proxy({
    plugin: "shop", version: "1.4.0", method: "POST", url: "https://shop.example/", headers: { a: "b" },
    body: new TextEncoder().encode("\u00e5"), secretMark: "m",
  }, { signal: new AbortController().signal });
  assert.deepEqual([answer.status, answer.headers.get("x-a"), await answer.text()], [201, "b", "\u00e5"]);
  assert.deepEqual(asked[1], ["POST", "/api/v2/plugins/shop%401.4.0/fetch", {
    method: "POST", url: "https://shop.example/", headers: { a: "b" }, body_base64: btoa("\xc3\xa5"), secret_mark: "m",
  }]);
  await plugins.fetch(["gone", "shop@1"], ask);
  assert.deepEqual(plugins.asking.get(), []);
  assert.equal(plugins.fault.get()?.name, "gone");
});
