// The package over the real engine module: what its users do first, and the bounds they rely on.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { createEngine as create, type Engine, type RunEvent } from "../src/node.ts";
import { scripted } from "../src/model/scripted.ts";
import { build, type Built } from "./module.ts";

const chat = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["LLM:A"], upstream: [] },
    "LLM:A": { obj: { component_name: "LLM", params: { llm_id: "m", prompts: "{sys.query}" } }, downstream: ["Message:A"], upstream: ["begin"] },
    "Message:A": { obj: { component_name: "Message", params: { content: ["It says: {LLM:A@content}"] } }, downstream: [], upstream: ["LLM:A"] },
  },
};

describe("the real module", { timeout: 120_000 }, () => {
  let built: Built;
  before(() => { built = build(); });
  after(() => built.remove());

  for (const worker of [false, new URL("../src/worker.node.ts", import.meta.url)]) {
    describe(worker ? "in a worker" : "in this thread", () => {
      let engine: Engine;
      before(async () => { engine = await create({ wasm: built.wasm, runtime: built.runtime, worker }); });
      after(() => engine.close());

      test("the first program of the README does what its comment says", async () => {
        const [, program = ""] = /```js\n([^]*?)```/.exec(readFileSync(new URL("../README.md", import.meta.url), "utf8")) ?? [];
        const body = program.replace(/^import .*$/gm, "").replace("engine.close();", "");
        const printed: string[] = [];
        const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (...names: string[]) => (...values: unknown[]) => Promise<unknown>;
        const run = new AsyncFunction("createEngine", "scripted", "console", body + "\nreturn { status, answer }");
        const result = await run(async () => engine, scripted, { log: (text: string) => printed.push(text) });
        assert.deepEqual(result, { status: "finished", answer: "It says: Yes." });
        assert.equal(printed.join(""), "It says: Yes.");
      });

      test("the same seed and clock give the same events", async () => {
        const once = () => all(engine.run(chat, "hi", { llm: scripted([{ chunks: ["a", "b"] }]), seed: 7, now: 1_700_000_000_000 as never }));
        assert.deepEqual(await once(), await once());
      });

      test("without a model the offline one answers", async () => {
        const result = await engine.run(chat, "how long may I return shoes?").result;
        assert.equal(result.status, "finished");
        assert.match(result.answer, /no language model was called/);
      });

      test("cancel takes effect within 50 ms while a model is silent", async () => {
        const run = engine.run(chat, "x", { llm: { async *chat() { await new Promise(() => undefined); } } });
        for await (const event of run) {
          if (event.event === "model_started") break;
        }
        const asked = performance.now();
        run.cancel();
        assert.equal((await run.result).status, "canceled");
        assert.ok(performance.now() - asked < 50, `it took ${performance.now() - asked} ms`);
      });

      test("cancel is heard while a canvas runs in circles", async () => {
        const circle = structuredClone(chat) as Record<string, any>;
        circle["components"]["Message:A"].downstream = ["LLM:A"];
        const run = engine.run(circle, "x");
        for await (const event of run) {
          if (event.event === "message") break;
        }
        const asked = performance.now();
        run.cancel();
        assert.equal((await run.result).status, "canceled");
        assert.ok(performance.now() - asked < 1000, `it took ${performance.now() - asked} ms`);
      });

      test("one node runs alone, from and until cut a run", async () => {
        const debug = await all(engine.run(chat, {}, { debug: { node: "Message:A", params: { "LLM:A@content": "by hand" } } }));
        const finished = debug.find((e) => e.event === "node_finished");
        assert.equal(finished?.event === "node_finished" && finished.data.outputs["content"], "It says: by hand");
        const from = engine.run(chat, "x", { from: "Message:A", base: { outputs: { "LLM:A": { content: "earlier" } } } });
        assert.equal((await from.result).answer, "It says: earlier");
        const until = await all(engine.run(chat, "x", { until: "begin" }));
        assert.deepEqual(until.filter((e) => e.event === "node_finished").length, 1);
        assert.equal((await engine.run(chat, "x", { pins: { "LLM:A": { content: "pinned" } } }).result).answer, "It says: pinned");
      });

      test("a canvas keeps its conversation and its edits, and is busy while it runs", async () => {
        const canvas = await engine.load(chat);
        await canvas.patch("Message:A", { content: ["Bye"] });
        const run = canvas.run("x", { llm: scripted([{ text: "y" }]) });
        assert.equal((await run.result).answer, "Bye");
        assert.match(await canvas.save(), /"user","x"/);
        const waiting = canvas.run("x", { llm: { async *chat() { await new Promise(() => undefined); } } });
        for await (const event of waiting) if (event.event === "model_started") break;
        await assert.rejects(canvas.reset(), { code: "busy" });
        waiting.cancel();
        await waiting.result;
        await canvas.reset();
        canvas.close();
      });

      test("what is broken is a typed error", async () => {
        await assert.rejects(engine.load("{ broken"), { name: "EngineError", code: "bad_dsl" });
        await assert.rejects(engine.load({ components: {} }), { code: "bad_dsl" });
        const unknown = { components: { begin: { obj: { component_name: "Nope", params: {} } } } };
        await assert.rejects(engine.load(unknown), { code: /unknown_component|bad_dsl/ });
        assert.equal((await engine.validate(unknown))[0]?.node, "begin");
      });
    });
  }
});

async function all(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}
