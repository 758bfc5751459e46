// The package over the toy engine: in this thread and in a worker thread.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { createEngine, EngineError, type Engine, type RunEvent, type RunOptions } from "../src/node.ts";
import { replay } from "../src/state.ts";
import { scripted } from "../src/model/scripted.ts";
import { toy } from "./toy/module.ts";

type Params = Record<string, unknown>;

function canvas(...nodes: [id: string, kind: string, params?: Params][]): Params {
  const components = Object.fromEntries(nodes.map(([id, kind, params], i) =>
    [id, { obj: { component_name: kind, params: params ?? {} }, downstream: nodes[i + 1] ? [nodes[i + 1]?.[0]] : [] }]));
  return { components };
}

const greeting = canvas(["begin", "Begin"], ["LLM:A", "LLM", { prompts: "{sys.query}" }], ["Message:A", "Message", { content: ["Hi: {LLM:A@content}"] }]);
const worker = new URL("./toy/worker.node.ts", import.meta.url);

const places: [string, () => Promise<Engine>][] = [
  ["inline", () => createEngine({ connect: async (host) => ({ module: toy(host), end: () => undefined }) })],
  ["worker", () => createEngine({ wasm: "none", worker })],
];

for (const [place, create] of places) {
  describe(place, { timeout: 20_000 }, async () => {
    const engine = await create();
    after(() => engine.close());

    test("a run streams events and ends with a result", async () => {
      const run = engine.run(greeting, "hello", { llm: scripted([{ text: "good morning" }]) });
      const names: string[] = [];
      for await (const event of run) names.push(event.event);
      assert.equal(names[0], "workflow_started");
      assert.equal(names.at(-1), "workflow_finished");
      assert.equal((await run.result).answer, "Hi: good morning");
    });

    test("a late reader misses nothing, and onEvent sees the same", async () => {
      const seen: RunEvent[] = [];
      const run = engine.run(greeting, "hello", { llm: scripted([{ text: "ok" }]), onEvent: (event) => seen.push(event) });
      await run.result;
      const late: RunEvent[] = [];
      for await (const event of run) late.push(event);
      assert.deepEqual(late, seen);
      assert.ok(late.length > 5);
    });

    test("a provider that throws fails its node", async () => {
      const run = engine.run(greeting, "x", { llm: { chat: () => { throw new Error("no luck"); } } });
      const result = await run.result;
      assert.equal(result.status, "failed");
      assert.match(result.error?.message ?? "", /no luck/);
    });

    test("a provider that streams rubbish fails its node", async () => {
      const rubbish = { async *chat() { yield 42 as never; } };
      const result = await engine.run(greeting, "x", { llm: rubbish }).result;
      assert.match(result.error?.message ?? "", /no object but number/);
    });

    test("a provider that never answers is given up", async () => {
      const mute = { async *chat() { await new Promise(() => undefined); } };
      const result = await engine.run(greeting, "x", { llm: mute, patience: 30 }).result;
      assert.match(result.error?.message ?? "", /no answer within 30 ms/);
    });

    test("cancel ends a run although its model never answers", async () => {
      const mute = { async *chat() { await new Promise(() => undefined); } };
      const control = new AbortController();
      const run = engine.run(greeting, "x", { llm: mute, signal: control.signal });
      for await (const event of run) if (event.event === "node_started" && event.data.component_type === "LLM") control.abort();
      assert.equal((await run.result).status, "canceled");
    });

    test("an aborted signal starts nothing", async () => {
      const run = engine.run(greeting, "x", { signal: AbortSignal.abort() });
      assert.equal((await run.result).status, "canceled");
    });

    test("a form pauses, resume goes on where it stood", async () => {
      const form = canvas(["begin", "Begin"], ["UserFillUp:A", "UserFillUp", { tips: "name?", inputs: { name: { type: "line" } } }],
        ["Message:A", "Message", { content: ["Hello {UserFillUp:A@name}"] }]);
      const run = engine.run(form, "x");
      const result = await run.result;
      assert.equal(result.status, "paused");
      assert.deepEqual(Object.keys(result.form?.inputs ?? {}), ["name"]);
      assert.equal((await run.resume({ name: { type: "line", value: "Ada" } }).result).answer, "Hello Ada");
    });

    test("a pinned node is not run", async () => {
      const options: RunOptions = { pins: { "LLM:A": { content: "pinned" } } };
      assert.equal((await engine.run(greeting, "x", options).result).answer, "Hi: pinned");
    });

    test("from and until cut a run at both ends", async () => {
      const from = engine.run(greeting, "x", { from: "Message:A", base: { outputs: { "LLM:A": { content: "earlier" } } } });
      assert.equal((await from.result).answer, "Hi: earlier");
      const until = engine.run(greeting, "x", { until: "begin" });
      assert.deepEqual(Object.keys(replay(await all(until)).latest), ["begin"]);
    });

    test("broken text, another shape and too much of it are typed errors", async () => {
      await assert.rejects(engine.load("{ broken"), { name: "EngineError", code: "bad_dsl" });
      await assert.rejects(engine.load({ components: {} }), { code: "bad_dsl" });
      await assert.rejects(engine.run("x".repeat(20_000_001)).result, { code: "too_large" });
    });

    test("toSSE frames what the server would send", async () => {
      const run = engine.run(greeting, "hello", { llm: scripted([{ text: "ok" }]) });
      const text = await new Response(run.toSSE({ dialect: "ragflow" })).text();
      assert.match(text, /^data:\{"event": "workflow_started"/);
      assert.match(text, /\n\ndata:\[DONE\]\n\n$/);
      assert.doesNotMatch(text, /model_started/);
      assert.match(await new Response(run.toSSE()).text(), /^id: 1\nevent: workflow_started\ndata: \{"event":"workflow_started"/);
    });

    test("a canvas keeps its conversation and its edits", async () => {
      const held = await engine.load(greeting);
      await held.patch("Message:A", { content: ["Bye"] });
      assert.equal((await held.run("x", { llm: scripted([{ text: "" }]) }).result).answer, "Bye");
      assert.match(await held.save(), /"Bye"/);
      held.close();
      await assert.rejects(held.save(), { code: "closed" });
    });
  });
}

test("init errors of a worker travel", async () => {
  await assert.rejects(createEngine({ wasm: "broken", worker }), { code: "init", message: /no module here/ });
  await assert.rejects(createEngine({ wasm: "none", worker: new URL("./nowhere.ts", import.meta.url) }), { code: "init" });
});

test("a module of another version is refused", async () => {
  const connect = async (host: Parameters<typeof toy>[0]) => ({ module: toy(host, { abi: 9 }), end: () => undefined });
  await assert.rejects(createEngine({ connect }), (err) => err instanceof EngineError && err.code === "version" && /version 9/.test(err.message));
});

test("the watchdog ends an engine that burns CPU, and the next run works", { timeout: 20_000 }, async () => {
  const engine = await createEngine({ wasm: "none", worker, watchdog: 800 });
  try {
    const spin = canvas(["begin", "Begin"], ["Spin:A", "Spin", { ms: 10_000 }]);
    const held = await engine.load(greeting);
    await assert.rejects(engine.run(spin, "x").result, { code: "watchdog" });
    assert.equal((await held.run("x", { llm: scripted([{ text: "alive" }]) }).result).answer, "Hi: alive");
  } finally {
    engine.close();
  }
});

test("a closed engine says so", async () => {
  const engine = await createEngine({ connect: async (host) => ({ module: toy(host), end: () => undefined }) });
  engine.close();
  await assert.rejects(engine.components(), { code: "closed" });
  await assert.rejects(engine.run(greeting, "x").result, { code: "closed" });
});

async function all(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}
