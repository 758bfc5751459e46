// Plugins in headless Chromium, in Workers, without cross-origin isolation and under a strict
// policy: every fault in both ways of waiting, and the example canvas.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { guest, imports } from "../guests.ts";
import { build, type Built } from "../module.ts";
import { faults, limits, patient, text } from "../plugin.faults.ts";
import { floods, type Flood } from "../plugin.floods.ts";
import { chain, fountain, streams, type Fountain } from "../plugin.streams.ts";
import { goldens, make, pack } from "../plugins.ts";
import type { Plugins } from "./plugin.page.ts";
import { missing, policy, raise, type Stage } from "./stage.ts";

declare const plugins: Plugins;

interface Called {
  output: string;
  code?: string;
  message?: string;
  fuel: number;
  emits: number;
  took: number;
}

describe("plugins in Chromium", { skip: missing, timeout: 1_200_000 }, () => {
  let built: Built;
  let stage: Stage;
  let page: Page;
  let complaints: string[];
  let folder: string;
  let service: Server;
  let address: string;
  let water: Fountain;
  before(async () => {
    built = build();
    service = createServer((request, response) => {
      response.setHeader("access-control-allow-origin", "*");
      if (request.url === "/away") return response.writeHead(302, { location: "http://localhost:1/" }).end();
      if (request.url === "/slow") return;
      response.end("Grüße");
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => service.once("listening", resolve));
    address = `127.0.0.1:${(service.address() as AddressInfo).port}`;
    water = await fountain();
    const http = { http: { hosts: [address, water.address], private: true, reason: "asks" } };
    const fetching = (path: string): string =>
      guest(`call {"op":"http.fetch","args":{"url":"http://${address}${path}"}}`);
    const made = make({
      wat: {
        ...Object.fromEntries(Object.entries(faults).map(([name, fault]) => [name, text(fault)])),
        ...floods,
        chain,
        "server only": guest(`say "x"`),
        counted: `(module (func (export "easel_invoke") (result i32) (local $i i32)
			i32.const 25000 local.set $i loop $l local.get $i i32.const 1 i32.sub local.tee $i br_if $l end i32.const 0))`,
        echo: `(module${imports}(func (export "easel_invoke") (result i32) (local $n i32)
			call $input_len local.set $n local.get $n i32.const 65535 i32.add i32.const 16 i32.shr_u memory.size i32.sub local.tee $n
			i32.const 0 i32.gt_s if local.get $n memory.grow drop end
			call $input_len local.set $n i32.const 0 i32.const 0 local.get $n call $input_read call $output_write i32.const 0))`,
        talks: guest(
          "emit 1 one ",
          `call {"op":"sleep","args":{"ms":1}}`,
          "emit 1 two",
          `call {"op":"kv.get","args":{"key":"a"}}`,
          "say !",
        ),
        // it ignores the result of emit
        spins: `(module${imports}(data (i32.const 0) "{}") (func (export "easel_invoke") (result i32)
			i32.const 3 i32.const 0 i32.const 2 call $emit drop loop $l br $l end i32.const 0))`,
        fetches: fetching("/"),
        away: fetching("/away"),
        slow: fetching("/slow"),
        elsewhere: guest(`call {"op":"http.fetch","args":{"url":"http://other.example/"}}`),
      },
      examples: ["typewriter"],
    });
    folder = mkdtempSync(join(tmpdir(), "easel-plugins-"));
    const files: Record<string, string> = { "engine.wasm": built.wasm, "wasm_exec.js": fileURLToPath(built.runtime) };
    for (const [name, wasm] of Object.entries(made)) {
      if (name.endsWith(".metered")) continue;
      const file = join(folder, `${Object.keys(files).length}.wasm`);
      const fields =
        name in faults
          ? { limits }
          : name === "server only"
            ? { preview: "server" as const }
            : /fetches|away|slow|elsewhere|chain/.test(name)
              ? { permissions: http }
              : name === "spins"
                ? { limits: { timeout_ms: patient } }
                : {};
      writeFileSync(file, name === "typewriter" ? wasm : pack(wasm, fields));
      files[name] = files[encodeURIComponent(name)] = file;
    }
    stage = await raise(["plugin.page.ts", "../../src/worker.browser.ts", "../../src/plugin/kernel.browser.ts"], files);
    ({ page, faults: complaints } = await stage.open(
      `?csp=${encodeURIComponent(`${policy}; connect-src 'self' http://${address} http://${water.address}`)}`,
    ));
  });
  after(async () => {
    await stage?.close();
    built?.remove();
    service?.closeAllConnections();
    service?.close();
    water?.close();
    if (folder) rmSync(folder, { recursive: true });
  });

  const call = async (
    name: string,
    way: "suspend" | "replay",
    calls: object[] = [{}],
    options: { cancelAfter?: number } = {},
  ): Promise<Called[]> =>
    page.evaluate(
      ([name, way, calls, options]) =>
        plugins.call(name as string, way as "replay", calls as object[], options as object),
      [name, way, calls, options] as const,
    ) as Promise<Called[]>;

  test("the page is not isolated", async () => {
    const place = await page.evaluate(() => plugins.place()) as { isolated: boolean; suspending: boolean };
    assert.equal(place.isolated, false);
    assert.equal(place.suspending, true, "this Chromium can put stacks aside; both ways are tested");
  });

  for (const way of ["suspend", "replay"] as const) {
    describe(way === "suspend" ? "with its stack put aside" : "played again", () => {
      for (const name of Object.keys(faults)) {
        test(name, () =>
          page.evaluate(([name, way]) => plugins.fault(name as string, way as "replay", "worker"), [name, way]),
        );
      }

      test("uses the same fuel as on the server", async () => {
        assert.deepEqual((await call("counted", way, [{}, {}])).map(({ fuel }) => fuel), [25_000, 25_000]);
      });

      test("emits, waits and calls the host, the next call like the first", async () => {
        for (const { output, code, emits } of await call("talks", way, [{}, {}])) {
          assert.equal(code, undefined);
          assert.match(output, /^\{"ok":\{\}\}\{"error":\{"code":"denied","message":"kv is not granted".*\}!$/);
          assert.equal(emits, 2);
        }
      });

      test("is stopped when it computes and the caller cancels", async () => {
        const [first, second] = await call("spins", way, [{}, { timeout: 200 }], { cancelAfter: 1 });
        assert.equal(first?.code, "cancelled");
        assert.ok(["cancelled", "timeout"].includes(second?.code ?? ""), JSON.stringify(second));
        assert.ok(first!.took < patient, `${first!.took} ms are less than its own deadline`);
      });

      test("fetches from granted hosts; redirects are refused, because a page cannot see their targets", async () => {
        assert.match((await call("fetches", way))[0]!.output, /"status":200.*"body":"Grüße"/);
        assert.match((await call("away", way))[0]!.output, /denied.*a page cannot see where to/);
        assert.match((await call("elsewhere", way))[0]!.output, /denied.*other.example is not granted/);
        const [slow] = await call("slow", way, [{ timeout: 300 }]);
        assert.equal(slow?.code, "timeout");
      });

      for (const [name, story] of Object.entries(streams)) {
        test(`reads in pieces: ${name}`, () => story(water, async (input) => {
          const [called] = await call("chain", way, [{ input }]);
          assert.equal(called!.code, undefined, called!.message);
          return called!.output;
        }));
      }
    });
  }

  for (const { file, message } of goldens("flood.")) {
    test(`${file}: up to its limit`, () => page.evaluate((flood) => plugins.flood(flood), message as Flood));
  }

  test("in the page's own thread, on request", () =>
    page.evaluate(() => plugins.fault("an endless loop meets the deadline", "replay", "page")));

  test("the example canvas runs", async () => {
    const dsl = JSON.parse(
      readFileSync(new URL("../../../../plugins/examples/canvas.json", import.meta.url), "utf8"),
    ) as { components: Record<string, { obj: { params: Record<string, unknown> } }> };
    dsl.components["Typewriter:0"]!.obj.params["pause_ms"] = 1;
    assert.deepEqual(await page.evaluate((dsl) => plugins.canvas(dsl, "Größe zählt", ["typewriter"]), dsl),
      { status: "succeeded", answer: "You said: Größe zählt", pieces: ["You", " said:", " Größe", " zählt"] });
  });

  test("one that runs on a server only fails its node with the reason", async () => {
    const dsl = { components: {
      begin: { obj: { component_name: "Begin", params: {} }, downstream: ["P"], upstream: [] },
      P: { obj: { component_name: "plugin:sample@1", params: {} }, downstream: ["M"], upstream: ["begin"] },
      M: { obj: { component_name: "Message", params: { content: ["{P@text}"] } }, downstream: [], upstream: ["P"] },
    } };
    const { status, error } = await page.evaluate((dsl) => plugins.canvas(dsl, "x", ["server only"]), dsl);
    assert.deepEqual([status, error?.code, error?.node], ["failed", "unsupported", "P"]);
    assert.match(error!.message, /runs on a server only/);
  });

  test("secrets do not enter a page", async () => {
    assert.match(await page.evaluate(() => plugins.secret()), /^unsupported: plugin: secrets do not belong in a page/);
  });

  test("no script was refused by the policy", () => {
    assert.deepEqual(complaints.filter((text) => !/ERR_|Failed to load resource/.test(text)), []);
  });
});
