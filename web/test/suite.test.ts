// Tests of a canvas in the page: runs of every example and template become cases that pass in the
// page and with easel test, and fail after an edit.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { IDBFactory } from "fake-indexeddb";
import { open } from "../canvas/dsl.ts";
import { History } from "../canvas/history.ts";
import { readDocument } from "../read/document.ts";
import { search, type Passage } from "../run/knowledge.ts";
import { CaseError } from "../run/cases/case.ts";
import { findings } from "../run/cases/report.ts";
import { CaseStore } from "../run/cases/store.ts";
import { Suite, type Entry, type Result } from "../run/cases/suite.ts";
import { Drafts } from "../run/drafts.ts";
import type { World } from "../run/player.ts";
import { Session } from "../run/session.ts";
import type { Store } from "../run/store.ts";
import { engine } from "./offline.ts";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const canvases = ["examples", "templates"].flatMap((folder) =>
  readdirSync(new URL(`../${folder}/`, import.meta.url)).map((name) => `${folder}/${name}`));
const passages = JSON.parse(read("demo/passages.json")) as Passage[];

const world: World = {
  code: ({ script, arguments: args }) =>
    Promise.resolve({ result: new Function(`${script}; return main(arguments[0])`)(args) as unknown }),
  fetch: () => Promise.resolve(Response.json({ rates: { CNY: 8, USD: 1 } })),
  datasets: new Set(passages.map(({ dataset }) => dataset)),
  read: readDocument,
  retrieve: search(passages),
};

const folder = mkdtempSync(join(tmpdir(), "suite-"));
const easel = join(folder, "easel");
const stores: CaseStore[] = [];
const sessions: Session[] = [];
before(() => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const stdio = ["ignore", "ignore", "inherit"] as const;
  execFileSync("go", ["build", "-o", easel, "./host/cmd/easel"], { cwd: root, stdio: [...stdio] });
});
after(() => {
  rmSync(folder, { recursive: true });
  for (const store of stores) store.close();
  for (const session of sessions) session.close();
});

function storeOf(database = new IDBFactory()): CaseStore {
  const store = new CaseStore(database);
  stores.push(store);
  return store;
}

async function opened(text: string, database?: IDBFactory): Promise<{ session: Session; suite: Suite }> {
  const session = new Session(Promise.resolve(engine), world, { models: () => Promise.reject(new Error("no host")) });
  sessions.push(session);
  session.open(text, "", { kind: "example" });
  await until(session.specs, ({ size }) => size > 0);
  const suite = new Suite(session, storeOf(database));
  await suite.open("example:x");
  return { session, suite };
}

function until<T>(store: Store<T>, holds: (value: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (!holds(store.get())) return;
      stop();
      resolve(store.get());
    };
    const stop = store.subscribe(() => check());
    queueMicrotask(check);
  });
}

const done = (session: Session): Promise<unknown> => until(session.player.play, ({ running }) => !running);

type Fields = Record<string, { value?: unknown; options?: unknown[] }>;

function filled(fields: unknown): Record<string, unknown> {
  const all = Object.entries((fields ?? {}) as Fields);
  return Object.fromEntries(all.map(([name, field]) =>
    [name, { ...field, value: field.value ?? field.options?.[0] ?? "some text" }]));
}

async function ran(session: Session, query: string): Promise<void> {
  const inputs = filled(session.document.get()?.dsl.components["begin"]?.obj.params["inputs"]);
  session.player.send({ query, ...(Object.keys(inputs).length > 0 ? { inputs } : {}) });
  await done(session);
  for (let forms = 0; forms < 3; forms++) {
    const last = session.player.play.get().turns.at(-1)?.state;
    if (last?.status !== "paused") return;
    session.player.answer(filled(last.form?.inputs));
    await done(session);
  }
}

function only(suite: Suite): Entry {
  const [entry, more] = suite.shown.get().entries ?? [];
  assert.equal(more, undefined);
  return entry ?? assert.fail("no case");
}

function resultOf(suite: Suite): Result {
  return only(suite).results[suite.shown.get().against] ?? assert.fail("not run");
}

const summary = ({ verdict, obstacle, trouble, differences }: Result): unknown => ({
  verdict, obstacle, trouble, found: findings(differences).slice(0, 4),
});

const passed = { verdict: "passed", obstacle: undefined, trouble: undefined, found: [] };

test("runs of every example and template become cases that pass here and with easel test", async () => {
  const files = mkdtempSync(join(folder, "cases-"));
  for (const path of canvases) {
    const { session, suite } = await opened(read(path));
    await ran(session, "How hot should the water be for green tea?");
    const { turns } = session.player.play.get();
    await suite.save(turns.length - 1, path);
    assert.deepEqual(summary(resultOf(suite)), passed, `${path}, current`);
    suite.shown.update({ against: "recorded" });
    await suite.run();
    assert.deepEqual(summary(resultOf(suite)), passed, `${path}, as recorded`);
    writeFileSync(join(files, path.replace("/", "-")), only(suite).text);
  }
  const { stdout } = spawnSync(easel, ["test", files], { encoding: "utf8" });
  assert.match(stdout, new RegExp(`^${canvases.length} passed, 0 failed`, "m"), stdout);
});

// research is a canvas with an agent that searches a dataset.
const research = JSON.stringify({
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Agent:A"], upstream: [] },
    "Agent:A": {
      obj: {
        component_name: "Agent",
        params: {
          llm_id: "m", sys_prompt: "Search first.", prompts: [{ role: "user", content: "{sys.query}" }],
          tools: [{
            component_name: "Retrieval", name: "Retrieval",
            params: { kb_ids: [passages[0]?.dataset], description: "documents" },
          }],
        },
      },
      downstream: ["Message:M"], upstream: ["begin"],
    },
    "Message:M": {
      obj: { component_name: "Message", params: { content: ["{Agent:A@content}"] } },
      downstream: [], upstream: ["Agent:A"],
    },
  },
});

test("functions that a model called, or could have called, are part of the case", async () => {
  const search = { id: "call_1", name: "search_my_dateset_0", arguments: JSON.stringify({ query: "green tea" }) };
  const answer = { text: "Not too hot.", tool_calls: [] };
  for (const script of [[{ tool_calls: [search] }, answer], [answer]]) {
    const { session, suite } = await opened(research);
    session.player.provider.update({ kind: "scripted", script: JSON.stringify(script) });
    await ran(session, "How hot should the water be for green tea?");
    await suite.save(0, "functions");
    assert.deepEqual(summary(resultOf(suite)), passed);
    const { runs: [run] } = JSON.parse(only(suite).text) as { runs: Record<string, unknown>[] };
    assert.deepEqual(
      (run?.["llm_script"] as Record<string, unknown>[]).map(({ text, tool_calls }) => ({ text, tool_calls })),
      script.map((reply) => ({ text: "", ...reply })),
    );
    assert.equal(Object.keys((run?.["retrieval"] ?? {}) as object).length, script.length - 1);
    const file = join(folder, "functions.json");
    writeFileSync(file, only(suite).text);
    const { stdout } = spawnSync(easel, ["test", file], { encoding: "utf8" });
    assert.match(stdout, /^1 passed, 0 failed/m, stdout);
  }
});

test("an edit makes a result stale and fails the test, with the node; an accepted result passes", async () => {
  const database = new IDBFactory();
  const { session, suite } = await opened(read("examples/meeting-notes.json"), database);
  await ran(session, "one\ntwo");
  await suite.save(0, "notes");
  assert.equal(resultOf(suite).verdict, "passed");
  const message = Object.entries(session.document.get()?.dsl.components ?? {})
    .find(([, { obj }]) => Array.isArray(obj.params["content"]))?.[0] ?? assert.fail("no message");
  session.edit(message, "content", ["Changed words"]);
  assert.equal(suite.isStale(resultOf(suite)), true);
  await suite.run();
  const failed = resultOf(suite);
  assert.equal(failed.verdict, "failed");
  assert.equal(suite.isStale(failed), false);
  const [first] = findings(failed.differences);
  assert.deepEqual([first?.difference.node, first?.difference.actual], [message, "Changed words"]);
  session.act((draft) => draft.set(["graph", "viewport"], { x: 1 }));
  assert.equal(suite.isStale(failed), false, "places have no effect");

  const before = only(suite).text;
  session.edit(message, "content", ["Later words"]);
  await suite.accept(only(suite).id);
  assert.equal(resultOf(suite).verdict, "failed", "what was accepted is the result that was shown");
  session.undo();
  await suite.run();
  assert.equal(resultOf(suite).verdict, "passed");
  suite.shown.update({ against: "recorded" });
  await suite.run();
  assert.equal(resultOf(suite).verdict, "passed", "the case has the canvas that was accepted");
  suite.shown.update({ against: "current" });
  await suite.undo();
  assert.equal(only(suite).text, before);
  assert.equal(resultOf(suite).verdict, "failed");

  const again = new Suite(session, storeOf(database));
  await again.open("example:x");
  assert.deepEqual(again.shown.get().entries?.map(({ text }) => text), [before], "it is stored");
  await suite.remove(only(suite).id);
  assert.deepEqual(suite.shown.get().entries, []);
  await suite.undo();
  assert.equal(only(suite).text, before);
});

test("a canvas that asks the model more often is reported by node, also for files of easel record", async () => {
  const { session, suite } = await opened(read("templates/summarize.json"));
  await ran(session, "a text to sum up");
  await suite.save(0, "sum");
  const text = only(suite).text;
  const bare = JSON.parse(text) as { runs: { llm_calls: Record<string, unknown>[] }[] };
  for (const run of bare.runs) for (const call of run.llm_calls) delete call["node"];
  await suite.add([JSON.stringify(bare)]);
  const components = session.document.get()?.dsl.components ?? {};
  const asked = Object.keys(components).find((id) => "sys_prompt" in (components[id]?.obj.params ?? {}));
  assert.ok(asked !== undefined);
  session.editing.switch([asked]);
  await suite.run();
  for (const { results } of suite.shown.get().entries ?? []) {
    assert.deepEqual(results.current?.calls, [{ node: asked, expected: 1, actual: 0 }]);
  }
});

test("a test that plays is stopped, and keeps its last result", async () => {
  const { session, suite } = await opened(read("examples/piggy-bank.json"));
  await ran(session, "");
  await suite.save(0, "coins");
  const before = resultOf(suite);
  const playing = suite.run();
  suite.stop();
  await playing;
  assert.equal(resultOf(suite), before);
  assert.deepEqual([suite.shown.get().running, only(suite).playing], [false, false]);
});

test("what cannot be played or saved is refused with the reason", async () => {
  const { session, suite } = await opened(read("examples/letter.json"));
  await ran(session, "");
  const { turns } = session.player.play.get();
  session.player.pin("begin", { a: 1 });
  session.player.send({ inputs: {} });
  await done(session);
  const code = (want: string) => (err: unknown) => err instanceof CaseError && err.code === want;
  await assert.rejects(suite.save(turns.length, "x"), code("pinned"));
  session.player.debug("begin", {});
  await done(session);
  await assert.rejects(suite.save(turns.length + 1, "x"), code("part"));
  const cases = new URL("../../engine/testdata/cases/", import.meta.url);
  const names = ["cancel_before", "agent_one_tool", "variables_paths_text", "debug_component", "invoke_get"]
    .filter((name) => readdirSync(cases).includes(`${name}.json`));
  await suite.add(names.map((name) => readFileSync(new URL(`${name}.json`, cases), "utf8")));
  suite.shown.update({ against: "recorded" });
  await suite.run();
  const seen = (suite.shown.get().entries ?? []).map(({ read: { name } = { name: "" }, results: { recorded } }) =>
    [name, recorded?.verdict, recorded?.obstacle?.code]);
  assert.deepEqual(seen.slice(0, 4), [
    ["cancel_before", "not_played", "cancel"], ["agent_one_tool", "not_played", "component"],
    ["variables_paths_text", "not_played", "exact"], ["debug_component", "not_played", "debug"],
  ]);
  await assert.rejects(suite.add(["{}"]), /no_name/);
  await assert.rejects(suite.add(['{"name":"x","dsl":{},"runs":[{"llm_script":[{}]}]}']), /bad_reply/);
});

test("tests follow their canvas when it is saved to the host, and go with a deleted draft", async () => {
  const database = new IDBFactory();
  const drafts = new Drafts({ database }, {
    edited: () => undefined, join: () => assert.fail("no other tab writes"), moved: () => undefined,
  });
  const text = read("examples/letter.json");
  const { dsl, title } = open(text);
  const document = {
    number: 1, source: { kind: "new" as const }, opened: { title }, base: { dsl, text }, history: new History(dsl),
  };
  const store = storeOf(database);
  for (const canvas of ["new:a", "new:b"]) await store.put({ id: canvas, canvas, added: 1, text });
  drafts.begin("new:a", document, true);
  assert.equal(drafts.key.get(), "new:a");
  await drafts.moved({ id: "h", rev: 1 });
  assert.equal(drafts.key.get(), "host:h");
  assert.deepEqual((await store.list("host:h")).map(({ id }) => id), ["new:a"]);
  await drafts.drop("new:b");
  assert.deepEqual(await store.list("new:b"), []);
});

test("tests move between canvases, and a copy of one on the host has its own", async () => {
  const store = storeOf();
  await store.put({ id: "1", canvas: "new:a", added: 1, text: "{}" });
  await store.move("new:a", "host:b");
  assert.deepEqual(await store.list("new:a"), []);
  assert.deepEqual((await store.list("host:b")).map(({ id }) => id), ["1"]);
  await store.move("host:b", "host:c");
  assert.deepEqual((await store.list("host:b")).map(({ id }) => id), ["1"]);
  assert.equal((await store.list("host:c")).length, 1);
  await store.move("host:c", undefined);
  assert.deepEqual(await store.list("host:c"), []);
});
