// Plugins inside canvases: as nodes and as tools of an Agent, with the real engine.

import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createEngine, EngineError, type Connect, type Engine, type PluginSource } from "../src/node.ts";
import { platform, plugins } from "../src/platform.node.ts";
import { Engine as Bare } from "../src/engine.ts";
import type { RunEvent } from "../src/events.ts";
import { Client } from "../src/client.ts";
import { inline } from "../src/plugin/inline.ts";
import { Plugin } from "../src/plugin/plugin.ts";
import { examineWith } from "../src/plugin/shelf.ts";
import { scripted } from "../src/model/scripted.ts";
import type { Model, ModelRequest } from "../src/model/model.ts";
import { build, type Built } from "./module.ts";
import { guest, imports } from "./guests.ts";
import { patient } from "./plugin.faults.ts";
import { MemoryFiles } from "./plugin.files.ts";
import { make, pack } from "./plugins.ts";

/** messages are messages of a tool whose manifest declares json and note, with their results. */
const messages: Record<string, [message: string, want: object]> = {
  fits: [`{"outputs":{"json":[{"a":1}],"note":null}}`, { json: [{ a: 1 }] }],
  other: [`{"outputs":{"json":"[]"}}`, { code: "bad_output", message: /^bad_output: outputs\.json: .*array/ }],
  lacks: [`{"outputs":{}}`, { code: "bad_output", message: /outputs.*json/ }],
  none: [`{}`, { code: "bad_output", message: /^bad_output: outputs: missing/ }],
  broken: [`{"outputs":`, { code: "bad_output", message: /is not the JSON of the contract/ }],
  deep: [
    `{"outputs":{"json":[${"[".repeat(64)}1${"]".repeat(64)}]}}`, { code: "output_too_large", message: /nested/ },
  ],
};

// mcp is a module with an MCP tool instead of the function of the contract.
const mcp = (...steps: string[]): string => guest(...steps).replace('"easel_invoke"', '"call_tool"');

const texts = {
  ...Object.fromEntries(Object.entries(messages).map(([name, [message]]) => [name, guest(`say ${message}`)])),
  mirror: guest(`say {"outputs":`, "input", "say }"),
  asks: guest(`say {"outputs":{"answer":`, `call {"op":"llm.chat","args":{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"}]}}`,
    `say ,"query":`, `call {"op":"var.get","args":{"name":"sys.query"}}`, `say ,"wrote":`, `call {"op":"var.set","args":{"name":"env.n","value":{"a":[2]}}}`, "say }}"),
  fails: guest(`fail {"code":"upstream","message":"no luck","retryable":true}`),
  facts: guest(
    `say {"outputs":{"text":"wet","temp":3,"when":null},"citations":[{"id":"a","title":"Yr","content":"Rain."}]}`,
  ),
  crowd: guest(`say {"outputs":{${Array.from({ length: 257 }, (_, i) => `"o${i}":1`).join()}}}`),
  reasons: guest("emit 2 hm ", "emit 2 well", "emit 1 yes", `say "yes"`),
  files: guest(`say {"outputs":{"read":`, `call {"op":"file.read","args":{"id":"f1"}}`, `say ,"put":`,
    `call {"op":"file.put","args":{"name":"sum.csv","mime":"text/csv","body":"1,2"}}`, "say }}"),
  tool: mcp(`say {"content":[{"type":"text","text":"noon"},{"type":"image","data":"AA==","mimeType":"image/png"},` +
    `{"type":"text","text":"in town"}],"structuredContent":`, "input", "say }"),
  brokenTool: mcp(`say {"isError":true,"content":[{"type":"text","text":"the clock stands still"}]}`),
  chooses: guest(`say {"outputs":{"text":"T"},"next":"spam"}`),
  spin: guest("emit 3 {\"pct\":1}", "spin"),
  checks: `(module${imports}(data (i32.const 0) "too cold") (func (export "easel_check") (result i32) i32.const 0 i32.const 8 call $error_write i32.const 1)
		(func (export "easel_invoke") (result i32) i32.const 0))`,
};

const manifest = {
  params: { type: "object", properties: { units: { type: "string", enum: ["c", "f"], default: "c" }, days: { type: "integer" }, place: { type: "string", "x-easel-ref": true } } },
  arguments: { type: "object", required: ["city"], properties: { city: { type: "string", description: "City name" }, limit: { type: "integer", default: 3 } } },
};

const node = (component: string, params: object, downstream: string[] = []) => ({ obj: { component_name: component, params }, downstream, upstream: [] });
const canvas = (params: object, content = "{P@text}") => ({
  components: { begin: node("Begin", {}, ["P"]), P: node("plugin:sample@1", params, ["M"]), M: node("Message", { content: [content] }) },
  globals: { "sys.query": "", "sys.user_id": "", "sys.conversation_turns": 0, "sys.files": [], "env.n": 1 },
});

describe("plugins in canvases", { timeout: 1_200_000 }, () => {
  let built: Built;
  let wasm: Record<string, Uint8Array<ArrayBuffer>>;
  const engines: Engine[] = [];
  before(() => {
    built = build();
    wasm = make({ wat: texts, examples: ["typewriter", "table"] });
  });
  after(() => {
    for (const engine of engines) engine.close();
    built.remove();
  });
  const start = async (...list: PluginSource[]): Promise<Engine> => {
    const engine = await createEngine({
      wasm: built.wasm, runtime: built.runtime, worker: new URL("../src/worker.node.ts", import.meta.url),
      pluginWorker: new URL("../src/plugin/kernel.node.ts", import.meta.url), plugins: list, locale: "en",
    });
    engines.push(engine);
    return engine;
  };
  const sample = (name: string, fields: object = {}): Uint8Array<ArrayBuffer> => pack(wasm[name]!, { ...manifest, ...fields });
  const outputs = async (engine: Engine, dsl: object, query: string, options = {}): Promise<Record<string, unknown>> => {
    const run = engine.run(dsl as never, query, options);
    let out: Record<string, unknown> = {};
    for await (const event of run) if (event.event === "node_finished" && event.data.component_id === "P") out = event.data.outputs as typeof out;
    const result = await run.result;
    assert.equal(result.status, "succeeded", JSON.stringify(result.error));
    return out;
  };

  test("are nodes: params resolved, arguments filled, outputs checked", async () => {
    const engine = await start(sample("mirror"));
    const out = await outputs(engine, canvas({ days: "2", place: "at {sys.query}", city: "{sys.query}", other: 1 }, "{P@params.place}!"), "Oslo");
    assert.deepEqual(out["params"], { days: 2, place: "at Oslo", units: "c" });
    assert.deepEqual(out["arguments"], { city: "Oslo", limit: 3 });
    const call = out["call"] as Record<string, unknown>;
    assert.deepEqual([call["node"], call["locale"], call["preview"], call["attempt"]], ["P", "en", true, 1]);
    assert.ok((call["deadline_ms"] as number) > 0);
  });

  test("MCP tools of a foreign module are called in both forms, and a failed one fails", async () => {
    const args = { type: "object", required: ["city"], properties: { city: { type: "string" } } };
    for (const [input, sent] of [
      ["mcp", { request: { name: "Now", arguments: { city: "Oslo" } } }],
      ["mcp1", { params: { name: "Now", arguments: { city: "Oslo" } } }],
    ] as const) {
      const entry = { export: "call_tool", input, output: "mcp", tool: "Now" } as const;
      const engine = await start(pack(wasm["tool"]!, { arguments: args, entry }));
      const out = await outputs(engine, canvas({ city: "{sys.query}" }, "{P@text}"), "Oslo");
      assert.equal(out["text"], "noon\nin town");
      assert.deepEqual(out["content"], [{ type: "image", data: "AA==", mimeType: "image/png" }]);
      const { context, ...message } = out["structured"] as Record<string, unknown>;
      assert.deepEqual(message, sent);
      assert.equal(context === undefined, input === "mcp1");
    }
    const entry = { export: "call_tool", input: "mcp", output: "mcp", tool: "Now" } as const;
    const engine = await start(pack(wasm["brokenTool"]!, { entry }));
    const result = await engine.run(canvas({}) as never, "x").result;
    assert.equal(result.status, "failed");
    assert.match(result.error!.message, /internal: the clock stands still/);
  });

  test("numbers keep their digits on the way in and out", async () => {
    const numbers = ["9007199254740993", "-9223372036854775808", "1e400", "0.1000000000000000055511151231257827"];
    const any = { type: "array", items: { type: "number" } };
    const object = (properties: object): object => ({ type: "object", properties });
    const fields = { params: object({ p: any }), arguments: object({ a: any }) };
    const engine = await start(sample("mirror", fields));
    const dsl = JSON.stringify(canvas({ p: "BIG", a: "BIG" }, "{P@params.p} {P@arguments.a}"));
    let said = "";
    for await (const event of engine.run(dsl.replaceAll(`"BIG"`, `[${numbers.join()}]`))) {
      if (event.event === "message") said += event.data.content;
    }
    assert.equal(said, `[${numbers.join(", ")}] [${numbers.join(", ")}]`);
  });

  test("files are read, and stored files are an output", async () => {
    const files = new MemoryFiles();
    const permissions = { files: { read: true, write_bytes: 9, reason: "r" } };
    const source = sample("files", { arguments: undefined, permissions });
    const engine = await start({ source, grant: "asked", files });
    const out = await outputs(engine, canvas({}, "{P@attachments}"), "q");
    assert.deepEqual(out["read"], { ok: { name: "year.csv", mime: "text/csv", size: 11, body: "Ålesund,3\n" } });
    const names = { file_name: "sum.csv", filename: "sum.csv" };
    const stored = { doc_id: "f2", format: "csv", ...names, mime_type: "text/csv", size: 3 };
    assert.deepEqual(out["attachment"], stored);
    assert.deepEqual(out["attachments"], [stored]);
    assert.equal(new TextDecoder().decode(files.all.get("f2")!.bytes), "1,2");
  });

  test("one with branches continues with the selected one only", async () => {
    const way = { type: "array", items: { type: "string" }, "x-easel-branch": true };
    const params = { type: "object", properties: { spam: way, other: way } };
    const engine = await start(sample("chooses", { arguments: undefined, params }));
    const dsl = canvas({ spam: ["M"], other: ["N"] }, "junk");
    dsl.components.P.downstream = ["M", "N"];
    Object.assign(dsl.components, { N: node("Message", { content: ["mail"] }) });
    let said = "";
    for await (const event of engine.run(dsl as never, "q")) if (event.event === "message") said += event.data.content;
    assert.equal(said, "junk");
    const spec = (await engine.components()).find(({ name }) => name === "plugin:sample@1");
    assert.deepEqual([spec?.role, spec?.branches], ["branch", [{ param: "other" }, { param: "spam" }]]);
  });

  test("too many outputs are the node's error", async () => {
    const engine = await start(sample("crowd", { arguments: undefined }));
    const result = await engine.run(canvas({}) as never, "q").result;
    assert.match(result.error?.message ?? "", /output_too_large: 257 outputs, allowed are 256/);
  });

  test("appear in validate, components and layout", async () => {
    const engine = await start(sample("mirror"), pack(wasm["checks"]!, { name: "picky" }));
    assert.deepEqual(await engine.validate(canvas({ city: "{sys.query}" })), []);
    assert.match(JSON.stringify(await engine.validate(canvas({ units: "k", city: "{sys.query}" }))), /want one of \[c f\], got k/);
    const picky = { components: { begin: node("Begin", {}, ["P"]), P: node("plugin:picky@1", {}) } };
    assert.match(JSON.stringify(await engine.validate(picky)), /plugin picky: easel_check: internal: too cold/);
    const specs = await engine.components();
    const spec = specs.find(({ name }) => name === "plugin:sample@1")!;
    assert.deepEqual(Object.keys(spec.params!.properties!).slice(0, 5), ["days", "place", "units", "city", "limit"]);
    assert.deepEqual(spec.inputs?.map(({ name, required }) => [name, required]), [["city", true], ["limit", undefined]]);
    assert.ok((await engine.layout(canvas({}))).nodes["P"]);
  });

  test("a missing one is one diagnostic, and fails only when it is reached", async () => {
    const engine = await start();
    const problems = await engine.validate(canvas({ city: "{sys.query}" }));
    assert.equal(problems.length, 1);
    assert.match(problems[0]!.message, /plugin:sample@1 does not run here: not loaded; add its file to plugins/);
    const result = await engine.run(canvas({ city: "x" }), "q").result;
    assert.deepEqual([result.status, result.error?.node], ["failed", "P"]);
    assert.match(result.error!.message, /not loaded/);
    assert.equal((await outputs(engine, canvas({ city: "x" }, "hi"), "q", { plugins: [sample("mirror")] }))["arguments"] !== undefined, true, "given to run it is there");
    assert.deepEqual(await engine.validate(canvas({ city: "{sys.query}" })), [], "and known from then on");
  });

  test("one whose manifest excludes it from previews is listed and does not run", async () => {
    const engine = await start(sample("mirror", { preview: "none" }));
    const why = /not run to try a canvas out/;
    const problems = await engine.validate(canvas({ city: "{sys.query}" }));
    assert.equal(problems.length, 1);
    assert.match(problems[0]!.message, why);
    const run = engine.run(canvas({ city: "x" }), "q");
    let told = "";
    for await (const event of run) if (event.event === "node_finished" && event.data.component_id === "P") told = event.data.error ?? "";
    assert.match(told, why);
    const result = await run.result;
    assert.deepEqual([result.status, result.error?.code, result.error?.node], ["failed", "unsupported", "P"]);
    const pinned = await engine.run(canvas({ city: "x" }), "q", { pins: { P: { text: "as it was" } } }).result;
    assert.deepEqual([pinned.status, pinned.answer], ["succeeded", "as it was"], "what the node gives may be pinned");
    const server = await start(sample("mirror", { preview: "server" }));
    assert.ok((await outputs(server, canvas({ city: "x" }), "q"))["arguments"], "this is a server");
  });

  test("a tool that is added after its canvas was loaded is used by the next run", async () => {
    const engine = await start();
    const loaded = await engine.load({
      components: {
        begin: node("Begin", {}, ["A"]),
        A: node("Agent", { tool_mode: "native", tools: [{ component_name: "plugin:sample@1", name: "Sample", params: { city: "Oslo" } }] }, ["M"]),
        M: node("Message", { content: ["{A@content}"] }),
      },
    } as never);
    const ask = async (): Promise<unknown> => {
      const llm: Model = { ...scripted([{ tool_calls: [{ id: "1", name: "sample_0", arguments: "{}" }] }, { text: "done" }] as never), can: { tools: true } };
      const run = loaded.run("q", { llm });
      let result: unknown;
      for await (const event of run) if (event.event === "tool_finished") result = event.data.result;
      assert.equal((await run.result).status, "succeeded");
      return result;
    };
    assert.match(String(await ask()), /not loaded; add its file to plugins/);
    await loaded.reset(); // a later turn of the conversation would have the model rewrite the question first
    await engine.use([sample("mirror")]);
    assert.deepEqual((await ask() as { arguments: unknown }).arguments, { city: "Oslo", limit: 3 });
  });

  test("an engine without support for plugins reports it, and runs everything else", async () => {
    const engine = await Bare.start(platform, { wasm: built.wasm, runtime: built.runtime, worker: false });
    engines.push(engine);
    const plain = { components: { begin: node("Begin", {}, ["M"]), M: node("Message", { content: ["hi"] }) } };
    await assert.rejects(engine.run(plain, "q", { plugins: [sample("mirror")] }).result, { code: "unsupported" });
    assert.equal((await engine.run(plain, "q").result).answer, "hi");
  });

  test("createEngine reports a plugin that cannot be loaded", async () => {
    await assert.rejects(start(pack(wasm["mirror"]!, { abi: 2 })), { name: "EngineError", code: "abi_mismatch" });
    await assert.rejects(start(Uint8Array.of(1, 2, 3)), { code: "malformed" });
    await assert.rejects(start("/nowhere/x.wasm"), { code: "plugin", message: /^plugin \/nowhere\/x.wasm: / });
  });

  test("their emissions are sent; reasoning is marked", async () => {
    const engine = await start(pack(wasm["reasons"]!, { streams: true, outputs: { type: "object", properties: { text: { type: "string" } } } }));
    const run = engine.run(canvas({}), "q");
    const heard: string[] = [];
    for await (const event of run as AsyncIterable<RunEvent>) {
      if (event.event !== "message") continue;
      heard.push(event.data.start_to_think ? "(" : event.data.end_to_think ? ")" : event.data.content ?? "");
    }
    assert.deepEqual(heard, ["(", "hm ", "well", ")", "yes"]);
  });

  test("their requests use the run's model and variables", async () => {
    const engine = await start({ source: pack(wasm["asks"]!, { permissions: { llm: { max_calls: 1, reason: "asks" }, variables: { read: ["sys.query"], write: ["env.n"], reason: "reads" } } }), grant: "asked" });
    const asked: ModelRequest[] = [];
    const inner = scripted([{ text: "<think>hm</think>Hello" }]);
    const llm: Model = { chat: (request, context) => { asked.push(request); return inner.chat(request, context); } };
    const out = await outputs(engine, canvas({ llm_id: "big@x" }, "{env.n.a.0}"), "Oslo", { llm });
    assert.equal((out["answer"] as { ok: { text: string } }).ok.text, "Hello");
    assert.deepEqual([out["query"], out["wrote"]], [{ ok: { found: true, value: "Oslo" } }, { ok: {} }]);
    assert.deepEqual([asked[0]?.model, asked[0]?.messages[0]], ["big@x", { role: "system", content: "Be kind." }]);
  });

  test("errors are the node's, with retries and default values like those of others", async () => {
    const engine = await start(sample("fails", { arguments: undefined, params: undefined }));
    const failed = await engine.run(canvas({ max_retries: 0 }), "q").result;
    assert.deepEqual([failed.status, failed.error?.code, failed.error?.node], ["failed", "upstream", "P"]);
    assert.match(failed.error!.message, /plugin sample: easel_invoke: upstream: no luck/);
    const spared = await engine.run(canvas({ exception_method: "comment", exception_default_value: "spare" }, "after {P@result}"), "q").result;
    assert.deepEqual([spared.status, spared.answer], ["succeeded", "after spare"]);
  });

  test("cancel ends one that computes, and the next run succeeds", async () => {
    const engine = await start(pack(wasm["spin"]!, { limits: { timeout_ms: patient } }));
    const run = engine.run(canvas({}), "q");
    for await (const event of run) if (event.event === "progress") run.cancel();
    assert.equal((await run.result).status, "canceled");
    const again = engine.run(canvas({}), "q");
    for await (const event of again) if (event.event === "progress") again.cancel();
    assert.equal((await again.result).status, "canceled");
  });

  test("are tools of an Agent; the model neither sees nor overrides arguments of the canvas", async () => {
    const engine = await start(sample("mirror"));
    const dsl = {
      components: {
        begin: node("Begin", {}, ["A"]),
        A: node("Agent", { tool_mode: "native", tools: [{ component_name: "plugin:sample@1", name: "Sample", params: { city: "Oslo", units: "f" } }] }, ["M"]),
        M: node("Message", { content: ["{A@content}"] }),
      },
    };
    const asked: ModelRequest[] = [];
    const inner = scripted([{ tool_calls: [{ id: "1", name: "sample_0", arguments: `{"limit":9,"city":"Bergen"}` }] }, { text: "done" }] as never);
    const llm: Model = { can: { tools: true }, chat: (request, context) => { asked.push(request); return inner.chat(request, context); } };
    const run = engine.run(dsl as never, "q", { llm });
    let result: { arguments?: unknown; params?: unknown } = {};
    for await (const event of run) if (event.event === "tool_finished") result = event.data.result as typeof result;
    assert.equal((await run.result).status, "succeeded");
    const tool = (asked[0]!.tools as { function?: { name: string; parameters: unknown }; name?: string; parameters?: unknown }[])[0]!;
    assert.deepEqual((tool.function ?? tool).parameters, { type: "object", properties: { limit: { type: "integer", default: 3 } } });
    assert.deepEqual(result.arguments, { city: "Oslo", limit: 9 });
    assert.deepEqual(result.params, { units: "f" });
  });

  test("a model reads all outputs of a tool, and its citations under their numbers", async () => {
    const outputs = { type: "object", properties: { when: { type: "string" } } };
    const engine = await start(sample("facts", { outputs, arguments: { type: "object" } }));
    const tool = { component_name: "plugin:sample@1", name: "Sample", params: {} };
    const dsl = {
      components: {
        begin: node("Begin", {}, ["A"]),
        A: node("Agent", { tool_mode: "native", tools: [tool] }, ["M"]),
        M: node("Message", { content: ["{A@content}"] }),
      },
    };
    const asked: ModelRequest[] = [];
    const call = { id: "1", name: "sample_0", arguments: "{}" };
    const inner = scripted([{ tool_calls: [call] }, { text: "done" }] as never);
    const llm: Model = {
      can: { tools: true },
      chat: (request, context) => { asked.push(request); return inner.chat(request, context); },
    };
    assert.equal((await engine.run(dsl as never, "q", { llm }).result).status, "succeeded");
    const messages = asked[1]!.messages as { content: string }[];
    const cited = `[{"ID": N, "title": "Yr", "content": "Rain."}]`;
    const read = messages.at(-1)!.content.replace(/\d+, "title"/, 'N, "title"');
    assert.equal(read, `wet\n\n{"citations": ${cited}, "temp": 3}`);
  });

  test("the examples: the table, and the typewriter in the canvas of make run-plugin", async () => {
    const engine = await start(wasm["typewriter"]!, wasm["table"]!);
    const dsl = JSON.parse(readFileSync(new URL("../../../plugins/examples/canvas.json", import.meta.url), "utf8")) as { components: Record<string, { obj: { params: Record<string, unknown> } }> };
    dsl.components["Typewriter:0"]!.obj.params["pause_ms"] = 1;
    const run = engine.run(dsl, "Größe zählt");
    const pieces: string[] = [];
    for await (const event of run) if (event.event === "message") pieces.push(event.data.content ?? "");
    assert.deepEqual(pieces.filter(Boolean), ["You", " said:", " Größe", " zählt"]);
    assert.equal((await run.result).answer, "You said: Größe zählt");
    const table = canvas({}, "{P@text}");
    table.components.P = node("plugin:table@1", { data: "{sys.query}", sort: "temp" }, ["M"]);
    const out = await outputs(engine, table, "city,temp\nOslo,3\nÅlesund,-1.5\n");
    assert.equal(out["count"], 2);
  });

  test("the weather example in Go calls a service with its key; the model never sees the key", async () => {
    let key: string | undefined;
    const service = createServer((request, response) => {
      key = request.headers["x-key"] as string | undefined;
      if (!request.url?.includes("%C3%85lesund")) return response.writeHead(404).end();
      response.end(JSON.stringify({ celsius: 3, sky: `snow for ${key}` }));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => service.once("listening", resolve));
    const bare = make({ examples: ["weather"] })["weather"]!;
    const weather = pack(bare, await describedBy(bare));
    const engine = await start({ source: weather, grant: "asked", secrets: { WEATHER_KEY: "k-1234567" } });
    const dsl = canvas({}, "{P@text}");
    dsl.components.P = node("plugin:weather@1", { city: "{sys.query}", service: `http://127.0.0.1:${(service.address() as AddressInfo).port}` }, ["M"]);
    const { text, temp } = await outputs(engine, dsl, "Ålesund");
    assert.deepEqual([text, temp], ["Ålesund: snow for ***, 3 °C", 3]);
    assert.equal(key, "k-1234567");
    const lost = await engine.run(dsl as never, "Nowhere").result;
    assert.deepEqual([lost.status, lost.error?.code], ["failed", "not_found"]);
    assert.match(lost.error!.message, /no weather is known for "Nowhere"/);
    service.closeAllConnections();
    service.close();
  });

  // describedBy returns the manifest that a plugin made with an SDK writes itself.
  async function describedBy(wasm: Uint8Array<ArrayBuffer>): Promise<string> {
    const client = new Client();
    const connection = await platform({ wasm: built.wasm, runtime: built.runtime, worker: false })(client, (err) => client.fail(err));
    client.attach(connection.module);
    const plugin = await Plugin.load(pack(wasm), examineWith((request, body) => client.request(request, body)), inline);
    const { output, error } = await plugin.call({ export: "easel_describe", input: "" });
    assert.equal(error, undefined);
    plugin.close();
    connection.end();
    return new TextDecoder().decode(output);
  }

  test("are registered again after the engine crashed", async () => {
    let kill: () => void = () => assert.fail("not started");
    const real = platform({ wasm: built.wasm, runtime: built.runtime, worker: new URL("../src/worker.node.ts", import.meta.url) });
    const connect: Connect = async (host, lost) => {
      const connection = await real(host, lost);
      kill = () => { connection.end(); lost(new EngineError("watchdog", "killed")); };
      return connection;
    };
    const engine = await Bare.start(platform, { connect, plugins: [sample("mirror")], pluginWorker: false }, plugins);
    engines.push(engine);
    kill();
    assert.deepEqual(await engine.validate(canvas({ city: "{sys.query}" })), []);
    assert.ok((await outputs(engine, canvas({ city: "x" }, "y"), "q"))["arguments"]);
  });

  test("outputs of a tool are compared with its manifest, as on a server", async () => {
    const engine = await start();
    const properties = { json: { type: "array" }, note: { type: "string" } };
    const declared = { outputs: { type: "object", required: ["json"], properties } };
    for (const [name, [, want]] of Object.entries(messages)) {
      const tool = await engine.tool(pack(wasm[name]!, declared));
      const call = tool.call({ params: {}, args: {}, base: "", fetch: () => assert.fail("no request") });
      if ("code" in want) await assert.rejects(call, want, name);
      else assert.deepEqual(await call, want, name);
    }
  });

  test("an address, a file and a response give the same plugin", async () => {
    const server: Server = createServer((_, response) => response.end(sample("mirror"))).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sample.wasm`;
    const file = join(built.wasm, "..", "sample.wasm");
    writeFileSync(file, sample("mirror"));
    for (const source of [address, new URL(address), file, await fetch(address)]) {
      assert.deepEqual(await (await start(source)).validate(canvas({ city: "{sys.query}" })), []);
    }
    server.closeAllConnections();
    server.close();
  });
});

test("the README's program with plugins has the result of its comment", { timeout: 1_200_000 }, async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, program = ""] = /## Plugins[^]*?```js\n([^]*?)```/.exec(readme) ?? [];
  const [, said = ""] = /\/\/ "(.*)"\n/.exec(program) ?? [];
  const built = build();
  const made = make({ examples: ["typewriter"] });
  const digest = pack(make({ wat: { d: guest() } })["d"]!, { name: "digest" }); // its own tests build the real one
  const files: Record<string, Uint8Array<ArrayBuffer>> = { "./typewriter.wasm": made["typewriter"]!, "./digest.wasm": digest };
  const found = (source: string | { source: string }): PluginSource => (typeof source === "string" ? files[source]! : { ...source, source: files[source.source]! });
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (...names: string[]) => (...values: unknown[]) => Promise<string>;
  const run = new AsyncFunction("createEngine", program.replace(/^import .*$/gm, "") + "\nreturn answer");
  const answer = await run((options: { plugins: string[] }) => createEngine({
    wasm: built.wasm, runtime: built.runtime, worker: false, pluginWorker: false, plugins: options.plugins.map(found),
  }));
  assert.equal(answer, said);
  assert.equal(said, "You said: word by word");
  built.remove();
});
