// The kernel and its owner with honest, faulty and hostile guests: the
// twin of the Go host's tests. Files are examined by the engine module.

import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { after, before, describe, test } from "node:test";
import { Client } from "../src/client.ts";
import { platform } from "../src/platform.node.ts";
import { dial } from "../src/plugin/dial.node.ts";
import { readEmission, type Emission, type RunSide } from "../src/plugin/desk.ts";
import { guestError } from "../src/plugin/error.ts";
import type { FromKernel, Outcome } from "../src/plugin/kernel/serve.ts";
import { bestWay } from "../src/plugin/kernel/wait.ts";
import type { Manifest } from "../src/plugin/manifest.ts";
import { Plugin, type CallRequest, type LoadOptions, type Examine } from "../src/plugin/plugin.ts";
import { inline } from "../src/plugin/inline.ts";
import type { KernelLine, Spawn } from "../src/plugin/runner.ts";
import { examineWith } from "../src/plugin/shelf.ts";
import { build, type Built } from "./module.ts";
import { attack, faults, limits, patient, text } from "./plugin.faults.ts";
import { drown, floods, wade, type Flood } from "./plugin.floods.ts";
import { asked, bodyOf, chain, fountain, next, open as opened, streams, type Ask, type Fountain } from "./plugin.streams.ts";
import { guest, imports } from "./guests.ts";
import { MemoryFiles } from "./plugin.files.ts";
import { goldens, make, pack } from "./plugins.ts";

const decoder = new TextDecoder();
const ceiling = { timeout_ms: patient };

function thread(): KernelLine {
  const worker = new Worker(new URL("../src/plugin/kernel.node.ts", import.meta.url));
  return {
    post: (message) => worker.postMessage(message),
    listen: (receive, broken) => {
      worker.on("message", (message: FromKernel) => receive(message));
      worker.on("error", (err) => broken(err.message));
    },
    hold: (busy) => (busy ? worker.ref() : worker.unref()),
    end: () => void worker.terminate(),
  };
}

/** texts are the guests of this file by name; all are assembled together. */
const texts: Record<string, string> = {
  ...Object.fromEntries(Object.entries(faults).map(([name, fault]) => [name, text(fault)])),
  ...floods,
  chain,
  quiet: `(module (func (export "easel_invoke") (result i32) i32.const 0))`,
  spin: `(module (func (export "easel_invoke") (result i32) loop $l br $l end i32.const 0))`,
  echo: `(module${imports}(func (export "easel_invoke") (result i32) (local $n i32)
		call $input_len local.set $n
		local.get $n i32.const 65535 i32.add i32.const 16 i32.shr_u memory.size i32.sub local.tee $n
		i32.const 0 i32.gt_s if local.get $n memory.grow drop end
		call $input_len local.set $n
		i32.const 0 i32.const 0 local.get $n call $input_read call $output_write i32.const 0))`,
  relay: `(module${imports}(data (i32.const 60000) "cancelled") (func (export "easel_invoke") (result i32) (local $n i32)
		i32.const 0 i32.const 0 i32.const 0 i32.const 30000 call $input_read call $call local.tee $n
		i32.const -1 i32.eq if i32.const 60000 i32.const 9 call $output_write
		else i32.const 0 i32.const 0 i32.const 59000 call $result_read call $output_write end i32.const 0))`,
  counted: `(module (func (export "easel_invoke") (result i32) (local $i i32)
		i32.const 25000 local.set $i loop $l local.get $i i32.const 1 i32.sub local.tee $i br_if $l end i32.const 0))`,
  emits: `(module${imports}(data (i32.const 0) "one") (data (i32.const 10) "{\\22pct\\22:150,\\22note\\22:\\22n\\22}") (data (i32.const 50) "{\\22key\\22:\\22text\\22,\\22delta\\22:\\22d\\22}")
		(func (export "easel_invoke") (result i32)
			i32.const 1 i32.const 0 i32.const 3 call $emit drop i32.const 2 i32.const 0 i32.const 2 call $emit drop
			i32.const 3 i32.const 10 i32.const 22 call $emit drop i32.const 4 i32.const 50 i32.const 26 call $emit drop
			i32.const 99 i32.const 0 i32.const 3 call $emit drop i32.const 3 i32.const 0 i32.const 3 call $emit))`,
  logs: `(module${imports}(func (export "easel_invoke") (result i32) (local $i i32) i32.const 2000 local.set $i
		loop $l i32.const 3 i32.const 0 i32.const 60000 call $log local.get $i i32.const 1 i32.sub local.tee $i br_if $l end i32.const 0))`,
  listens: `(module${imports}(data (i32.const 0) "bye") (func (export "easel_invoke") (result i32)
		loop $l i32.const 1 i32.const 0 i32.const 3 call $emit i32.eqz br_if $l end i32.const 0 i32.const 3 call $output_write i32.const 0))`,
  ignores: `(module${imports}(func (export "easel_invoke") (result i32) (local $i i32)
		loop $l i32.const 1 i32.const 0 i32.const 3 call $emit i32.eqz br_if $l end loop $m br $m end i32.const 0))`,
  counter: `(module (import "easel:host/v1" "output_write" (func $output_write (param i32 i32))) (import "easel:host/v1" "call" (func $call (param i32 i32 i32) (result i32)))
		(memory (export "memory") 1) (global $n (mut i32) (i32.const 48)) (data (i32.const 0) "0") (data (i32.const 8) "{\\22op\\22:\\22sleep\\22,\\22args\\22:{\\22ms\\22:1}}")
		(func (export "easel_invoke") (result i32) global.get $n i32.const 1 i32.add global.set $n
			i32.const 0 i32.const 8 i32.const 30 call $call drop
			i32.const 0 global.get $n i32.store8 i32.const 0 i32.const 1 call $output_write i32.const 0))`,
  starts: `(module${imports}(data (i32.const 0) "started") (global $n (mut i32) (i32.const 0))
		(func $start i32.const 2 i32.const 0 i32.const 7 call $log i32.const 7 global.set $n) (start $start)
		(func (export "easel_invoke") (result i32) i32.const 0 global.get $n call $output_write i32.const 0))`,
  "trap in start": `(module (func $s unreachable) (start $s) (func (export "easel_invoke") (result i32) i32.const 0))`,
  "loop in start": `(module (func $s loop $l br $l end) (start $s) (func (export "easel_invoke") (result i32) i32.const 0))`,
  random: `(module${imports}(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
		(data (i32.const 100) "{\\22op\\22:\\22sleep\\22,\\22args\\22:{\\22ms\\22:2}}")
		(func (export "easel_invoke") (result i32)
			i32.const 0 i32.const 8 call $random drop i32.const 0 i64.const 0 i32.const 8 call $clock drop
			i32.const 0 i32.const 100 i32.const 30 call $call drop
			i32.const 1 i64.const 0 i32.const 16 call $clock drop i32.const 16 i32.const 8 call $random drop
			i32.const 0 i32.const 24 call $output_write i32.const 0))`,
  extism: `(module (import "extism:host/env" "input_offset" (func $input (result i64))) (import "extism:host/env" "length" (func $length (param i64) (result i64)))
		(import "extism:host/env" "output_set" (func $output (param i64 i64))) (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
		(import "extism:host/env" "store_u8" (func $store (param i64 i32))) (import "extism:host/env" "var_get" (func $get (param i64) (result i64)))
		(import "extism:host/env" "var_set" (func $set (param i64 i64))) (import "extism:host/env" "load_u8" (func $load (param i64) (result i32)))
		(func (export "easel_invoke") (result i32) (local $in i64) call $input local.tee $in local.get $in call $length call $output i32.const 0)
		(func (export "count") (result i32) (local $k i64) (local $v i64)
			i64.const 1 call $alloc local.tee $k i32.const 107 call $store
			local.get $k call $get local.tee $v i64.eqz if i64.const 1 call $alloc local.tee $v i32.const 48 call $store end
			local.get $v local.get $v call $load i32.const 1 i32.add call $store
			local.get $k local.get $v call $set local.get $v i64.const 1 call $output i32.const 0))`,
  files: `(module${imports}(import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
		(func (export "easel_invoke") (result i32)
			i32.const 0 i32.const 3 i32.const 0 i32.const 100 i32.const 4 i32.const 0 i64.const 0 i64.const 0 i32.const 0 i32.const 200 call $open i32.store8
			i32.const 1 i32.const 9 i32.store8 i32.const 4 i32.const 8 call $environ drop
			i32.const 1 i32.const 4 i32.load i32.store8 i32.const 0 i32.const 2 call $output_write i32.const 0))`,
  "ask twice": guest("say [", `call {"op":"kv.get","args":{"key":"a"}}`, "say ,", `call {"op":"kv.set","args":{"key":"a","value":"b"}}`, "say ,", `call {"op":"kv.get","args":{"key":"a"}}`, "say ]"),
  "tomorrow in the imports": `(module (import "easel:host/v2" "think" (func)))`,
  notifies: `(module (import "extism:host/env" "input_offset" (func $input (result i64)))
		(import "extism:host/user" "notify_progress" (func $progress (param i64)))
		(import "extism:host/user" "notify_logging_message" (func $message (param i64)))
		(import "extism:host/user" "notify_resource_updated" (func $updated (param i64)))
		(import "extism:host/user" "notify_tool_list_changed" (func $tools))
		(func (export "easel_invoke") (result i32) call $input call $updated call $tools i32.const 0)
		(func (export "progress") (result i32) call $input call $progress i32.const 0)
		(func (export "message") (result i32) call $input call $message i32.const 0))`,
  "asks a client": `(module (import "extism:host/user" "create_message" (func (param i64) (result i64))))`,
  "an unknown host function": `(module (import "easel:host/v1" "think" (func)))`,
  "another type": `(module (import "easel:host/v1" "input_len" (func (param i32))))`,
  "a foreign import": `(module (import "env" "abort" (func)))`,
  "an imported memory": `(module (import "easel:host/v1" "m" (memory 1)))`,
  "an import of the meter": `(module (import "easel:meter/v1" "tick" (func (param i32) (result i32))))`,
  "a forged fuel counter": `(module (global (mut i32) (i32.const 0)) (export "easel:fuel" (global 0)))`,
  "too much memory": `(module (memory (export "memory") 2000))`,
  "another invoke": `(module (func (export "easel_invoke") (param i32) (result i32) i32.const 0))`,
};

let built: Built;
let guests: Record<string, Uint8Array<ArrayBuffer>>;
let examine: Examine;
let done: () => void;

before(async () => {
  built = build();
  guests = make({ wat: texts, examples: ["typewriter"] });
  const client = new Client();
  const connection = await platform({ wasm: built.wasm, runtime: built.runtime, worker: false })(client, (err) => client.fail(err));
  client.attach(connection.module);
  examine = examineWith((request, body) => client.request(request, body));
  done = () => connection.end();
}, { timeout: 1_200_000 });
after(() => {
  done();
  built.remove();
});

for (const [place, spawn] of [["in a worker thread", thread], ["in this thread", inline]] as [string, Spawn][]) {
  describe(`a plugin ${place}`, { timeout: 1_200_000 }, () => {
    const open: Plugin[] = [];
    after(() => { for (const plugin of open) plugin.close(); });
    const load = async (name: string, fields: Partial<Manifest> = {}, options: LoadOptions = { grant: "asked" }): Promise<Plugin> => {
      const plugin = await Plugin.load(pack(guests[name]!, fields), examine, spawn, { limits: ceiling, ...options });
      open.push(plugin);
      return plugin;
    };
    const ask = async (plugin: Plugin, input: string | Uint8Array, more: Partial<CallRequest> = {}): Promise<Outcome> =>
      plugin.call({ input, side: async () => ({ ok: {} }), ...more });
    const said = (outcome: Outcome): string => {
      assert.equal(outcome.error, undefined);
      return decoder.decode(outcome.output);
    };

    test("returns its input", async () => {
      const plugin = await load("echo");
      for (const input of [new Uint8Array(0), "hello", "Ålesund 天气", Uint8Array.of(255, 0, 254), new Uint8Array(1 << 20).fill(120)]) {
        const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
        assert.deepEqual((await ask(plugin, input)).output, bytes);
      }
    });

    for (const [name, fault] of Object.entries(faults)) {
      test(name, async () => attack(await load(name, { limits }), fault));
    }

    test("uses the same fuel as on the server, and no more than allowed", async () => {
      const plugin = await load("counted");
      for (let i = 0; i < 3; i++) assert.equal((await ask(plugin, "")).fuel, 25_000);
      assert.equal((await ask(plugin, "", { fuel: 25_000 })).error, undefined, "exactly enough is enough");
      const outcome = await ask(plugin, "", { fuel: 24_999 });
      assert.deepEqual([outcome.error?.code, outcome.fuel], ["out_of_fuel", 25_000]);
    });

    test("emits in order; unknown kinds and invalid JSON are dropped", async () => {
      const got: Emission[] = [];
      await ask(await load("emits"), "", { side: async (op, args) => { assert.equal(op, "emit"); got.push(args as Emission); return { ok: {} }; } });
      assert.deepEqual(got, [{ kind: 1, text: "one" }, { kind: 2, text: "on" }, { kind: 3, pct: 100, note: "n" }, { kind: 4, key: "text", text: "d" }]);
    });

    test("logs up to its limit", async () => {
      const { logs } = await ask(await load("logs"), "");
      assert.equal(logs.length, 500);
      assert.deepEqual([logs[0]?.level, logs[0]?.text.length], ["warn", 2048]);
    });

    test("a slow reader slows it down", async () => {
      let taken = 0;
      const plugin = await load("listens");
      const outcome = await ask(plugin, "", { side: async () => { await new Promise((resolve) => setTimeout(resolve, 1)); return ++taken < 200 ? { ok: {} } : null; } });
      assert.equal(said(outcome), "bye");
      assert.ok(taken >= 200 && taken < 200 + 64 + 1, `${taken} pieces`); // pieces in transit count too
    });

    test("one that checks for cancellation may finish", async () => {
      const plugin = await load("listens");
      let outcome: Outcome | undefined;
      for (let tries = 0; tries < 100 && (!outcome || outcome.error); tries++) { // a busy machine may be slower than the grace period, but not every time
        const stop = new AbortController();
        let taken = 0;
        outcome = await ask(plugin, "", { signal: stop.signal, side: async () => { if (++taken === 3) stop.abort(); return { ok: {} }; } });
      }
      assert.equal(said(outcome!), "bye");
    });

    test("one that ignores a cancel is stopped after the grace period", async () => {
      const { error } = await ask(await load("ignores"), "", { side: async () => null });
      assert.equal(error?.code, "cancelled");
    });

    if (spawn === thread) {
      test("one that does not check is terminated when the caller cancels", async () => {
        const plugin = await load("spin");
        const outcome = await ask(plugin, "", { signal: AbortSignal.timeout(20) });
        assert.equal(outcome.error?.code, "cancelled");
        assert.equal((await ask(plugin, "", { timeout: 100 })).error?.code, "timeout", "the next call runs");
      });

      test("one that computes does not block others", async () => {
        const plugin = await load("spin", { limits: { timeout_ms: 3000 } });
        const quick = await load("quiet");
        const slow = ask(plugin, "");
        assert.equal((await ask(quick, "")).error, undefined);
        assert.equal((await slow).error?.code, "timeout");
      });

      test("calls beyond the number of workers wait", async () => {
        const plugin = await load("relay");
        const nap = (): Promise<Outcome> => ask(plugin, `{"op":"sleep","args":{"ms":5}}`);
        await nap(); // one Worker has started then and serves all if the others start slowly
        const all = await Promise.all(Array.from({ length: 8 }, nap));
        for (const outcome of all) assert.equal(said(outcome), `{"ok":{}}`);
      });
    }

    test("has functions without arguments only", async () => {
      const plugin = await load("extism");
      for (const name of ["missing", "_initialize", "easel:start", "memory"]) assert.equal((await ask(plugin, "", { export: name })).error?.code, "unknown_export");
    });

    test("has no state between calls, or with `state: run` that of its run", async () => {
      const forgetful = await load("counter");
      for (let i = 0; i < 3; i++) assert.equal(said(await ask(forgetful, "", { run: "r" })), "1");
      const keeps = await load("counter", { state: "run" });
      for (const want of ["1", "2", "3"]) assert.equal(said(await ask(keeps, "", { run: "a" })), want);
      assert.equal(said(await ask(keeps, "", { run: "b" })), "1");
      keeps.endRun("a");
      assert.equal(said(await ask(keeps, "", { run: "a" })), "1");
    });

    test("a start function may use the host", async () => {
      const outcome = await ask(await load("starts"), "");
      assert.equal(said(outcome), "started");
    });

    test("a trap and a loop in start are reported", async () => {
      assert.equal((await ask(await load("trap in start"), "")).error?.code, "trap");
      assert.equal((await ask(await load("loop in start"), "", { timeout: 200 })).error?.code, "timeout");
    });

    test("clock and random numbers are the same after a wait", async () => {
      const plugin = await load("random");
      const first = (await ask(plugin, "")).output!;
      const second = (await ask(plugin, "")).output!;
      assert.notDeepEqual(first, second);
      assert.equal(first.length, 24);
    });

    test("sees no files and no environment", async () => {
      assert.deepEqual((await ask(await load("files"), "")).output, Uint8Array.of(8, 0));
    });

    test("Extism's kernel passes bytes, and keeps variables for a run", async () => {
      const plugin = await load("extism");
      assert.equal(said(await ask(plugin, "grüße")), "grüße");
      for (const want of ["1", "2"]) assert.equal(said(await ask(plugin, "", { export: "count", run: "a" })), want);
      assert.equal(said(await ask(plugin, "", { export: "count", run: "b" })), "1");
    });

    test("notifications of hyper-mcp are progress and log lines", async () => {
      const plugin = await load("notifies");
      const got: Emission[] = [];
      const side: RunSide = async (_, args) => { got.push(args as Emission); return { ok: {} }; };
      const send = async (name: string, input: string): Promise<Outcome> => {
        const outcome = await ask(plugin, input, { export: name, side });
        assert.equal(outcome.error, undefined);
        return outcome;
      };
      for (const [input, pct, note] of [
        [`{"progressToken":"t","progress":1,"total":3,"message":"a third"}`, 33, "a third"],
        [`{"progressToken":1,"progress":7}`, 0, ""], [`{"progress":9,"total":3}`, 100, ""],
      ] as const) {
        await send("progress", input);
        assert.deepEqual(got.pop(), { kind: 3, pct, note }, input);
      }
      await send("progress", "{");
      assert.equal(got.length, 0);
      for (const [input, level, text] of [
        [`{"level":"warning","logger":"l","data":"look out"}`, "warn", "look out"],
        [`{"level":"emergency","data":{"a":[1]}}`, "error", `{"a":[1]}`], ["plain", "info", "plain"],
      ] as const) assert.deepEqual((await send("message", input)).logs, [{ level, text }], input);
      assert.deepEqual((await send("easel_invoke", `{"uri":"a"}`)).logs, []);
    });

    test("keys and values are stored, within their quota", async () => {
      const plugin = await load("ask twice", { permissions: { kv: { bytes: 2, reason: "keeps" } } });
      assert.equal(said(await ask(plugin, "")), `[{"ok":{"found":false,"value":""}},{"ok":{}},{"ok":{"found":true,"value":"b"}}]`);
      const relay = await load("relay", { permissions: { kv: { bytes: 2, reason: "keeps" } } });
      assert.match(said(await ask(relay, `{"op":"kv.set","args":{"key":"ab","value":"c"}}`)), /denied.*more than the 2 bytes/);
    });

    test("is refused without permission", async () => {
      const permissions = { llm: { max_calls: 1, reason: "asks" }, variables: { read: ["sys.query"], reason: "reads" } };
      const side: RunSide = async (op, args) => ({ ok: { op, args } });
      const plugin = await load("relay", { permissions });
      for (const [request, want] of [
        [`{"op":"llm.chat","args":{"messages":[{"role":"user","content":"x"}]}}`, /"op":"llm.chat"/],
        [`{"op":"llm.chat","args":{"messages":[]}}`, /invalid_argument.*messages are missing/],
        [`{"op":"var.get","args":{"name":"sys.query"}}`, /"op":"var.get"/],
        [`{"op":"var.get","args":{"name":"env.x"}}`, /denied.*reading variable \\"env.x\\"/],
        [`{"op":"var.set","args":{"name":"sys.query","value":1}}`, /denied.*writing/],
        [`{"op":"kv.get","args":{"key":"a"}}`, /denied.*kv is not granted/],
        [`{"op":"embed","args":{"texts":["a"]}}`, /denied.*embed is not granted/],
        [`{"op":"http.fetch","args":{"url":"http://x.example"}}`, /denied.*http.fetch is not granted/],
        [`{"op":"quantum.compute","args":{}}`, /unsupported.*quantum.compute/],
        [`{"op":"kv.get","args":[]}`, /invalid_argument/],
        [`{`, /invalid_argument.*not readable/],
      ] as [string, RegExp][]) assert.match(said(await ask(plugin, request, { side })), want, request);
      const bare = await load("relay", { permissions }, {});
      assert.match(said(await ask(bare, `{"op":"llm.chat","args":{"messages":[{"role":"user","content":"x"}]}}`, { side })), /denied/, "nothing is granted by itself");
    });

    test("a failed service is an error in the answer", async () => {
      const plugin = await load("relay", { permissions: { embed: { max_calls: 1, reason: "x" } } }, { grant: "asked", embed: () => { throw new Error("out of order"); } });
      assert.equal(said(await ask(plugin, `{"op":"embed","args":{"texts":[]}}`)), `{"error":{"code":"upstream","message":"out of order","retryable":true}}`);
    });

    test("a cancelled call is reported as cancelled", async () => {
      const plugin = await load("relay", { permissions: { llm: { max_calls: 1, reason: "x" } } });
      assert.equal(said(await ask(plugin, `{"op":"llm.chat","args":{"messages":[{}]}}`, { side: async () => null })), "cancelled");
    });

    test("a late answer does not reach the next call", async () => {
      const plugin = await load("relay", { permissions: { llm: { max_calls: 1, reason: "x" } } });
      const request = `{"op":"llm.chat","args":{"messages":[{}]}}`;
      let answerFirst = (): void => undefined;
      const first = new Promise<void>((resolve) => { answerFirst = resolve; });
      const late = await ask(plugin, request, { timeout: 100, side: async () => { await first; return { ok: "first" }; } });
      assert.equal(late.error?.code, "timeout");
      const next = ask(plugin, request, { side: async () => { answerFirst(); await new Promise((resolve) => setTimeout(resolve, 50)); return { ok: "second" }; } });
      assert.equal(said(await next), `{"ok":"second"}`);
    });

    test("closing ends running calls", async () => {
      const plugin = await load("relay");
      const call = ask(plugin, `{"op":"sleep","args":{"ms":20000}}`);
      setTimeout(() => plugin.close(), 50);
      assert.equal((await call).error?.code, "closed");
      assert.equal((await ask(plugin, "")).error?.code, "closed");
    });

    describe("over HTTP", () => {
      let server: Server;
      let address: string;
      let heard: string[] = [];
      before(async () => {
        server = createServer((request, response) => {
          heard.push(`${request.method} ${request.url} ${request.headers["x-key"] ?? ""} ${request.headers["authorization"] ?? ""}`);
          const to = /^\/to\?(.*)$/.exec(request.url ?? "")?.[1];
          if (to) return response.writeHead(302, { location: decodeURIComponent(to) }).end();
          if (request.url === "/round") return response.writeHead(302, { location: "/round" }).end();
          if (request.url === "/slow") return;
          if (request.url === "/binary") return response.end(Buffer.from([255, 0]));
          if (request.url === "/large") return response.end(Buffer.alloc(11 << 20, "x"));
          if (request.url === "/echo") return response.writeHead(200, { "x-echo": request.headers["x-key"] ?? "" }).end(`you sent ${request.headers["x-key"]} ${request.headers["authorization"]}`);
          response.writeHead(200, { "content-type": "text/plain" }).end("Grüße");
        }).listen(0, "127.0.0.1");
        await new Promise((resolve) => server.once("listening", resolve));
        address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      });
      after(() => { server.closeAllConnections(); server.close(); });
      const web = (more: object = {}, options: LoadOptions = {}): Promise<Plugin> => load("relay", {
        permissions: { http: { hosts: [address], private: true, reason: "asks", ...more }, secrets: { KEY: { hosts: [address], reason: "key" } } },
      }, { grant: "asked", dial, secrets: { KEY: "hunter2secret" }, ...options });
      const fetched = async (plugin: Plugin, args: object, more: Partial<CallRequest> = {}): Promise<string> => said(await ask(plugin, JSON.stringify({ op: "http.fetch", args }), { secretMark: "m4rk", ...more }));

      test("fetches from granted hosts", async () => {
        const answer = JSON.parse(await fetched(await web(), { url: `http://${address}/` })) as { ok: { status: number; headers: Record<string, string>; body: string } };
        assert.deepEqual([answer.ok.status, answer.ok.headers["Content-Type"], answer.ok.body], [200, "text/plain", "Grüße"]);
        assert.match(await fetched(await web(), { url: `http://${address}/binary` }), /"body_base64":"\/wA="/);
      });

      test("refuses other hosts, methods, redirects to them and private addresses", async () => {
        const plugin = await web();
        for (const [args, want] of [
          [{ url: "http://other.example/" }, /denied.*host other.example is not granted/],
          [{ url: `http://${address}/`, method: "POST" }, /denied.*method POST/],
          [{ url: `http://${address}/to?http%3A%2F%2Flocalhost%3A1%2F` }, /denied.*host localhost:1 is not granted/],
          [{ url: `http://user@${address}/` }, /invalid_argument/],
          [{ url: "ftp://x" }, /invalid_argument/],
          [{ url: `http://${address}/large` }, /upstream.*more than 10485760 bytes/],
        ] as [object, RegExp][]) assert.match(await fetched(plugin, args), want);
        assert.match(await fetched(plugin, { url: `http://${address}/round` }), /upstream.*more than 5 redirects/);
        assert.match(await fetched(await web({ private: false }), { url: `http://${address}/` }), /denied.*private or special address/);
        assert.match(await fetched(await web({ hosts: ["named.example"], private: false }, { dial: (allow) => dial(allow, ((_: string, __: object, done: Function) => done(null, [{ address: "10.0.0.1", family: 4 }])) as never) }), { url: "http://named.example/" }), /denied.*named.example is a private/);
      });

      test("a slow response ends at the deadline of the call, and the next call succeeds", async () => {
        const plugin = await web();
        const began = performance.now();
        const outcome = await ask(plugin, JSON.stringify({ op: "http.fetch", args: { url: `http://${address}/slow` } }), { timeout: 300 });
        assert.equal(outcome.error?.code, "timeout");
        assert.ok(performance.now() - began < patient, "before the limit of the plugin");
        assert.match(await fetched(plugin, { url: `http://${address}/` }), /Grüße/);
      });

      test("secrets are inserted for their host, and redacted in responses", async () => {
        const plugin = await web();
        const echo = await fetched(plugin, { url: `http://${address}/echo`, headers: { "X-Key": "{{secret:KEY:m4rk}}", Authorization: "Basic {{base64:me:{{secret:KEY:m4rk}}}}" } });
        assert.ok(!echo.includes("hunter2secret") && !echo.includes(Buffer.from("me:hunter2secret").toString("base64")), echo);
        assert.match(heard.at(-1)!, /hunter2secret Basic bWU6aHVudGVyMnNlY3JldA==/);
        assert.match(await fetched(plugin, { url: `http://${address}/`, headers: { "X-Key": "{{secret:OTHER:m4rk}}" } }), /denied.*secret OTHER is not granted/);
        assert.match(await fetched(await web({}, { secrets: {} }), { url: `http://${address}/`, headers: { "X-Key": "{{secret:KEY:m4rk}}" } }), /unauthorized.*not configured/);
      });

      test("a proxy of the host gets the placeholders", async () => {
        let got: unknown;
        const plugin = await web({}, { proxy: async (request) => { got = request; return new Response("by proxy"); } });
        assert.match(await fetched(plugin, { url: `http://${address}/a`, headers: { "X-Key": "{{secret:KEY:m4rk}}" } }), /by proxy/);
        assert.deepEqual(got, { plugin: "sample", version: "1.0.0", method: "GET", url: `http://${address}/a`, headers: { "X-Key": "{{secret:KEY:m4rk}}" }, secretMark: "m4rk" });
      });

      test("a placeholder without the mark of the call is plain text", async () => {
        const plugin = await web();
        const plain = "{{secret:KEY}}{{secret:KEY:}}{{secret:KEY:m}}";
        const headers = { "X-Key": `${plain}{{base64:u:{{secret:KEY}}}}`, Authorization: "{{secret:KEY:m4rk}}" };
        await fetched(plugin, { url: `http://${address}/echo?k=${plain}`, headers });
        assert.ok(heard.at(-1)!.includes(`${plain}{{base64:u:{{secret:KEY}}}} hunter2secret`), heard.at(-1));
        await fetched(plugin, { url: `http://${address}/echo`, headers: { ...headers, Authorization: "{{secret:KEY:}}" } }, { secretMark: "" });
        assert.ok(!heard.at(-1)!.includes("hunter2secret"), heard.at(-1));
      });

      test("the mark of a call is removed from its results", async () => {
        const plugin = await web();
        const said = await fetched(plugin, { url: `http://m4rk.example/{{secret:KEY:m4rk}}` });
        assert.match(said, /denied/);
        assert.ok(!said.includes("m4rk"), said);
      });
    });

    describe("reads in pieces", () => {
      let server: Fountain;
      before(async () => { server = await fountain(); });
      after(() => server.close());
      const reader = async (): Promise<Ask> => {
        const plugin = await load("chain", {
          permissions: { http: { hosts: [server.address], private: true, reason: "reads" }, secrets: { KEY: { hosts: [server.address], reason: "key" } } },
        }, { grant: "asked", dial, secrets: { KEY: "hunter2-hunter2" } });
        return async (lines) => said(await ask(plugin, lines, { secretMark: "m4rk" }));
      };
      for (const [name, story] of Object.entries(streams)) test(name, async () => story(server, await reader()));

      test("a secret in pieces of a response is redacted", async () => {
        const [, ...pieces] = await asked(await reader(), opened(server, "/leak", { "X-Key": "{{secret:KEY:m4rk}}" }), ...Array<object>(40).fill(next()));
        const got = pieces.filter(({ error }) => !error).map(bodyOf).join("");
        assert.equal(got, "before *** after");
      });
    });
  });
}

describe("loading a plugin", { timeout: 1_200_000 }, () => {
  const refused = async (wasm: Uint8Array<ArrayBuffer>, code: string, message: RegExp, options: LoadOptions = {}): Promise<void> => {
    await assert.rejects(Plugin.load(wasm, examine, inline, options), (err: { code: string; message: string }) => {
      assert.equal(err.code, code, err.message);
      assert.match(err.message, message);
      return true;
    });
  };
  for (const [name, code, message] of [
    ["tomorrow in the imports", "abi_mismatch", /easel:host\/v2/],
    ["asks a client", "unsupported", /create_message.*; of this module it offers easel_call, /],
    ["an unknown host function", "unsupported", /think/],
    ["another type", "unsupported", /as \(i32\) -> \(\), it is \(\) -> i32/], ["a foreign import", "unsupported", /env abort/],
    ["an imported memory", "unsupported", /memory/], ["an import of the meter", "forged", /easel:meter\/v1/],
    ["a forged fuel counter", "forged", /easel:fuel/], ["too much memory", "over_limit", /memory/], ["another invoke", "unsupported", /easel_invoke as/],
  ] as [string, string, RegExp][]) test(`refuses ${name}`, () => refused(pack(guests[name]!), code, message));

  test("refuses files that are not plugins", async () => {
    await refused(new TextEncoder().encode("hello"), "malformed", /header/);
    await refused(guests["quiet"]!, "bad_manifest", /easel plugin pack/);
    await refused(pack(guests["quiet"]!).slice(0, 40), "malformed", /cut short/);
    await refused(pack(pack(guests["quiet"]!)), "malformed", /stands twice/);
    await refused(pack(guests["quiet"]!, "{"), "bad_manifest", /not readable/);
    await refused(pack(guests["quiet"]!, { abi: 2 }), "abi_mismatch", /ABI 2/);
    await refused(pack(guests["quiet"]!, { min_host: "9.0" }), "unsupported", /needs host 9.0/, { version: "0.4.2" });
    await refused(pack(guests["quiet"]!, { requires: ["time.travel@1"] }), "unsupported", /time.travel@1/);
    await Plugin.load(pack(guests["quiet"]!, { requires: ["time.travel@1?"] }), examine, inline);
    const one = { name: "now", description: "d" };
    const many = Array.from({ length: 300 }, (_, i) => ({ name: `c${i}`, description: "d" }));
    for (const [components, message] of [
      [many, /at most 64/], [[one, one], /two have the same name/], [[{ ...one, name: "a.b" }], /lower-case letters/],
      [[{ ...one, limits: {} } as typeof one], /limits: belongs to the file/],
    ] as const)
      await refused(pack(guests["quiet"]!, { components: [...components] }), "bad_manifest", message);
    const gone = pack(guests["quiet"]!, { components: [one, { ...one, name: "b", export: "gone" }] });
    await refused(gone, "unsupported", /exports no function gone, which the manifest names for b/);
    await Plugin.load(pack(guests["quiet"]!, { components: [one, { ...one, name: "b" }] }), examine, inline);
  });

  test("random bytes are refused with an error", async () => {
    const honest = pack(guests["echo"]!);
    let seed = 7;
    const random = (below: number): number => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % below;
    for (let i = 0; i < 300; i++) {
      const bytes = honest.slice(0, i % 3 === 0 ? random(honest.length) : honest.length);
      for (let n = random(4); n > 0; n--) bytes[random(bytes.length || 1)] = random(256);
      await Plugin.load(bytes, examine, inline).catch((err: { name: string; code: string }) => {
        assert.equal(err.name, "PluginError", String(err));
        assert.match(err.code, /^(malformed|bad_manifest|unsupported|forged|over_limit|abi_mismatch)$/);
      });
    }
  });
});

describe("the golden messages of the contract", { timeout: 1_200_000 }, () => {
  const golden = goldens();
  let relay: Plugin;
  before(async () => {
    relay = await Plugin.load(pack(guests["relay"]!, {
      permissions: {
        http: { hosts: ["*"], methods: ["*"], reason: "x" }, llm: { max_calls: 99, reason: "x" }, embed: { max_calls: 99, reason: "x" },
        kv: { bytes: 9999, reason: "x" }, variables: { read: ["*"], write: ["*"], reason: "x" },
        files: { read: true, write_bytes: 9999, reason: "x" },
      },
    }), examine, inline, {
      limits: ceiling, grant: "asked", embed: () => [[1]], fetch: async () => new Response("Ålesund,3\n"), files: new MemoryFiles(),
    });
  });
  after(() => relay.close());

  for (const { file, valid, message } of golden) {
    const [kind] = file.split(".");
    const text = JSON.stringify(message);
    switch (kind) {
      case "manifest":
        test(file, async () => {
          const examined = examine(pack(guests["quiet"]!, text), {});
          if (valid) assert.equal((await examined).manifest.name, (message as Manifest).name);
          else await assert.rejects(examined, { name: "PluginError" });
        });
        break;
      case "error":
        test(file, () => {
          const error = guestError(new TextEncoder().encode(text), 1);
          assert.equal(error.message === text, !valid, "what is none is taken as text");
          if (valid) assert.equal(error.code, (message as { code: string }).code);
        });
        break;
      case "progress":
        test(file, () => { const piece = readEmission(3, new TextEncoder().encode(text)); assert.ok(piece!.pct! >= 0 && piece!.pct! <= 100); });
        break;
      case "partial":
        test(file, () => assert.equal(readEmission(4, new TextEncoder().encode(text)) !== undefined, valid));
        break;
      case "flood":
        test(file, async () => {
          const flood = message as Flood;
          const wasm = pack(guests[`flood ${flood.step}`]!);
          const plugin = await Plugin.load(wasm, examine, inline, { grant: "asked", limits: ceiling });
          // Replays for 10,000 responses take minutes here; Chromium counts them all.
          if (file === "flood.pieces.json" && bestWay() === "replay") assert.equal((await wade(plugin, flood, 1_500)).error, undefined);
          else await drown(plugin, flood);
          plugin.close();
        });
        break;
      case "call":
        test(file, async () => {
          const outcome = await relay.call({ input: text, side: async () => ({ ok: {} }) });
          const answer = JSON.parse(decoder.decode(outcome.output)) as { ok?: unknown; error?: { code: string; message: string; retryable: boolean } };
          assert.equal((answer.ok === undefined) !== (answer.error === undefined), true, "one of ok and error");
          if (answer.error) assert.deepEqual([typeof answer.error.code, typeof answer.error.message, typeof answer.error.retryable], ["string", "string", "boolean"]);
          // a stream that was never opened is not a fault of the message
          assert.equal(["invalid_argument", "not_found"].includes(answer.error?.code ?? "") && file !== "call.http-read.json", !valid, JSON.stringify(answer));
        });
        break;
    }
  }
  test("are complete", () => assert.ok(golden.length > 30));
});
