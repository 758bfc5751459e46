// The package with the real engine in Node: in this thread and in a worker thread.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createEngine, EngineError, type Connect, type Engine } from "../src/node.ts";
import { platform } from "../src/platform.node.ts";
import { scripted } from "../src/model/scripted.ts";
import { chat } from "./canvases.ts";
import { build, type Built } from "./module.ts";
import { stories } from "./stories.ts";

const worker = new URL("../src/worker.node.ts", import.meta.url);

describe("the engine", { timeout: 1_200_000 }, () => {
  let built: Built;
  before(() => { built = build(); });
  after(() => built.remove());

  for (const place of [false, worker]) {
    describe(place ? "in a worker thread" : "in this thread", () => {
      let engine: Engine;
      before(async () => { engine = await createEngine({ wasm: built.wasm, runtime: built.runtime, worker: place }); });
      after(() => engine.close());
      for (const [name, story] of Object.entries(stories)) test(name, () => story(engine));
    });
  }

  test("a file with only a graph gets components, within what wraps it and with exact numbers", async () => {
    const engine = await createEngine({ wasm: built.wasm, runtime: built.runtime, worker });
    const graph = `{"nodes":[{"id":"begin","data":{"label":"Begin","name":"b","form":{"n":12345678901234567890}}}]}`;
    const made = await engine.complete(`{"title":"T","dsl":{"graph":${graph}}}`);
    assert.match(made, /^{"title":"T","dsl":{"graph":.*"components":{"begin":{"obj":{"component_name":"Begin",/);
    assert.equal(made.split("12345678901234567890").length, 3);
    assert.equal(await engine.complete(made), made);
    assert.deepEqual((await engine.validate(graph)).map(({ code }) => code), ["unknown_param"]);
    await assert.rejects(engine.complete("{}"), /no "components" object in the document, and no "graph" with nodes/);
    engine.close();
  });

  test("a canvas of 50 MB is read where the limit allows it", async () => {
    const engine = await createEngine({
      wasm: built.wasm,
      runtime: built.runtime,
      worker,
      maxCanvas: 100_000_000,
      watchdog: 120_000,
    });
    const large = JSON.stringify(chat).slice(0, -1) + `,"x":"${"y".repeat(50 << 20)}"}`;
    assert.deepEqual(await engine.validate(large), []);
    engine.close();
  });

  test("after a crash of the engine a canvas continues with its changes in a new engine", async () => {
    const real = platform({ wasm: built.wasm, runtime: built.runtime, worker });
    let kill: () => void = () => assert.fail("not started");
    const engine = await createEngine({
      async connect(host, lost) {
        const connection = await real(host, lost);
        kill = () => { connection.end(); lost(new EngineError("watchdog", "killed")); };
        return connection;
      },
    });
    const held = await engine.load(chat);
    await held.run("first", { llm: scripted([{ text: "y" }]) }).result;
    await held.save();
    await held.patch("Message:A", { content: ["patched {LLM:A@content}"] });
    await held.reset({ keepHistory: true });
    const open = held.run("x", { llm: { async *chat() { await new Promise(() => undefined); } } });
    for await (const event of open) if (event.event === "model_started") break;
    kill();
    await assert.rejects(open.result, { code: "watchdog" });
    assert.equal((await held.run("x", { llm: scripted([{ text: "alive" }]) }).result).answer, "patched alive");
    assert.match(await held.save(), /"user","first"/);
    engine.close();
  });

  test("a closed engine fails with `closed`, also for open runs", async () => {
    const engine = await createEngine({ wasm: built.wasm, runtime: built.runtime, worker });
    const run = engine.run(chat, "x", { llm: { async *chat() { await new Promise(() => undefined); } } });
    for await (const event of run) if (event.event === "model_started") break;
    engine.close();
    await assert.rejects(run.result, { code: "closed" });
    await assert.rejects(engine.components(), { code: "closed" });
    await assert.rejects(engine.run(chat, "x").result, { code: "closed" });
  });

  test("errors at the start of a worker are reported", async () => {
    await assert.rejects(createEngine({ wasm: built.wasm + ".gone", runtime: built.runtime, worker }), {
      code: "init",
      message: /no such file/,
    });
    await assert.rejects(
      createEngine({ wasm: built.wasm, runtime: new URL("./nowhere.js", import.meta.url), worker }),
      { code: "init" },
    );
    await assert.rejects(
      createEngine({ wasm: built.wasm, runtime: built.runtime, worker: new URL("./nowhere.ts", import.meta.url) }),
      { code: "init" },
    );
    await assert.rejects(createEngine({ wasm: new Uint8Array([1, 2, 3]), runtime: built.runtime, worker }), {
      code: "init",
    });
  });
});

test("a module of another version is refused", async () => {
  const connect: Connect = (host) => Promise.resolve({
    end: () => undefined,
    module: {
      load: (id) => queueMicrotask(() => host.done(id, true, '{"abi":9,"version":"9.0.0"}')),
      start() { throw new Error("not to be used"); }, deliver() {}, cancel() {}, close() {},
    },
  });
  await assert.rejects(
    createEngine({ connect }),
    (err) => err instanceof EngineError && err.code === "version" && /version 9 .* version 1/.test(err.message),
  );
});
