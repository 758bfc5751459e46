// The page's session without its views, with the engine module.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { createEngine } from "../../wasm/js/src/node.ts";
import { build } from "../../wasm/js/test/module.ts";
import type { CanvasModel } from "../canvas/drawing.ts";
import { readDocument } from "../read/document.ts";
import { repliesOf } from "../run/providers.ts";
import { Records } from "../run/records.ts";
import { search } from "../run/knowledge.ts";
import { Consents } from "../run/consent.ts";
import type { Host } from "../run/host.ts";
import type { World } from "../run/player.ts";
import { Session } from "../run/session.ts";
import type { Member } from "../canvas/drawing.ts";
import type { Step, ToolUse } from "@easel/engine/state";
import { modelless } from "../run/substitutes.ts";
import { activity } from "../run/subagents.ts";
import { timeline, toolCalls } from "../run/timeline.ts";
import type { Store } from "../run/store.ts";
import { apart } from "./apart.ts";

const example = (name: string): string => readFileSync(new URL(`../examples/${name}.json`, import.meta.url), "utf8");

const world: World = {
  code: ({ script, arguments: args }) =>
    Promise.resolve({ result: new Function(`${script}; return main(arguments[0])`)(args) as unknown }),
  fetch: () => Promise.resolve(Response.json({ rates: { CNY: 8 } })),
  datasets: new Set(["tea-notes"]),
  read: readDocument,
  retrieve: search([{ dataset: "tea-notes", document: "card", content: "green tea wants water of 80 degrees" }]),
};

const built = build();
const engine = createEngine({
  wasm: built.wasm,
  runtime: built.runtime,
  worker: new URL("../../wasm/js/src/worker.node.ts", import.meta.url),
});
after(async () => {
  (await engine).close();
  built.remove();
});

function fresh(consents?: Consents): Session {
  return new Session(engine, world, { models: () => Promise.reject(new Error("no run asks the host")) }, consents);
}

function start(name: string): Session {
  const session = fresh();
  session.open(example(name), name, { kind: "example" });
  return session;
}

function until<T>(store: Store<T>, holds: (value: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const stop = store.subscribe(() => check());
    const check = (): void => {
      if (!holds(store.get())) return;
      stop();
      resolve(store.get());
    };
    check();
  });
}

test("cards are drawn from descriptions that arrive before those of the engine, and are not drawn again", async () => {
  const described = (await engine).components();
  let started = (): void => undefined;
  const late = new Promise<void>((resolve) => { started = resolve; }).then(() => engine);
  const models = (): Promise<never> => Promise.reject(new Error("no run asks the host"));
  const session = new Session(late, world, { models }, undefined, described.then((specs) => structuredClone(specs)));
  session.open(example("tea-house"), "tea-house", { kind: "example" });
  const early = await until(session.specs, ({ size }) => size > 0);
  const nodes = session.document.get()?.model.nodes ?? [];
  assert.ok(nodes.some(({ summary }) => summary.length > 0) && nodes.some(({ branches }) => branches.length > 0));
  started();
  const full = await until(session.specs, (specs) => specs !== early);
  assert.deepEqual([...full], [...early]);
  const now = session.document.get()?.model.nodes ?? [];
  assert.ok(now.length > 0 && now.every((node, i) => node === nodes[i]), "every node is the same object");
});

// chain returns a canvas of nodes one after the other.
function chain(nodes: Record<string, [kind: string, params: object]>): string {
  const ids = Object.keys(nodes);
  return JSON.stringify({
    components: Object.fromEntries(
      Object.entries(nodes).map(([id, [kind, params]], i) => [
        id,
        {
          obj: { component_name: kind, params },
          downstream: ids.slice(i + 1, i + 2),
          upstream: ids.slice(Math.max(0, i - 1), i),
        },
      ]),
    ),
  });
}

const settled = (session: Session) => until(session.player.play, (play) => !play.running && play.turns.length > 0);
const said = (session: Session): string =>
  (session.player.play.get().turns.at(-1)?.state.answers ?? [])
    .flatMap((answer) => answer.parts.filter((part) => part.kind === "text").map((part) => part.text))
    .join("|");

test("a canvas that is saved to a host has the title that it has there", () => {
  const session = start("tea-house");
  const dsl = session.document.get()?.dsl ?? assert.fail();
  session.stored({ id: "c1", rev: 1 }, { dsl, text: JSON.stringify(dsl) }, "Support bot");
  assert.equal(session.document.get()?.opened.title, "Support bot");
});

test("a draft whose changes the host has already is saved, and they can be undone", () => {
  const kept = fresh();
  kept.open(example("tea-house"));
  const { id } = kept.document.get()?.model.nodes.find(({ params }) => params["sys_prompt"]) ?? assert.fail();
  const prompt = (session: Session) => session.document.get()?.dsl.components[id]?.obj.params["sys_prompt"];
  const before = prompt(kept);
  kept.edit(id, "sys_prompt", "Be brief.");
  const stored = JSON.stringify({ dsl: kept.document.get()?.dsl });

  const session = fresh();
  const source = { kind: "host", origin: { id: "c1", rev: 1 } } as const;
  session.open(example("tea-house"), "", source, kept.document.get()?.history.acts);
  assert.ok(session.edited);
  assert.ok(session.sharing.receive(stored, { id: "c1", rev: 2 }));
  assert.ok(!session.edited);
  assert.equal(session.document.get()?.base.text, stored);
  assert.equal(prompt(session), "Be brief.");
  session.undo();
  assert.equal(prompt(session), before);
  assert.ok(session.edited);
});

test("a question is answered with its source", async () => {
  const session = start("tea-house");
  session.player.send({ query: "How hot should water be for green tea?" });
  const play = await settled(session);
  assert.equal(play.shown.status, "succeeded");
  const [mark] = /(?<=\[ID:)\d+/.exec(said(session)) ?? [];
  const chunks = (play.shown.answers[0]?.reference?.chunks ?? {}) as Record<string, { content?: string }>;
  assert.match(chunks[mark ?? ""]?.content ?? "", /80 degrees/);
});

test("a run lists the answers that came from no model, tool or dataset", async () => {
  const session = fresh();
  session.open(
    chain({
      begin: ["Begin", {}],
      "Retrieval:R": ["Retrieval", { query: "{sys.query}", kb_ids: ["shop", "tea-notes"] }],
      "TavilySearch:T": ["TavilySearch", { query: "{sys.query}" }],
      "DocGenerator:D": ["DocGenerator", { content: "{TavilySearch:T@formalized_content}", output_format: "md" }],
      "LLM:A": ["LLM", { prompts: [{ role: "user", content: "{sys.query} {Retrieval:R@formalized_content}" }] }],
      "Message:M": ["Message", { content: ["{LLM:A@content}"] }],
    }),
    "",
    { kind: "host", origin: { id: "1", rev: 1 } },
  );
  session.player.send({ query: "green tea?" });
  const [turn] = (await settled(session)).turns;
  assert.equal(turn?.state.status, "succeeded");
  const routes = { "TavilySearch:T": [{ component: "TavilySearch", by: "stand_in" }] };
  assert.deepEqual(turn.substitutes, { tools: ["TavilySearch"], relayed: [], datasets: ["shop"], routes });
  assert.deepEqual(modelless(turn.model, turn.state, turn.records.earlier), ["LLM:A"]);
  session.player.runFrom("Message:M");
  const { turns } = await until(session.player.play, (play) => play.turns.length === 2 && !play.running);
  const [, again] = turns;
  assert.deepEqual(again?.substitutes, { tools: [], relayed: [], datasets: [], routes: {} }, "nothing was asked again");
  assert.deepEqual(modelless("offline", again.state, again.records.earlier), []);
  assert.deepEqual(modelless("host", turn.state, 0), []);
});

test("a form pauses the run, and its answer continues it in a new turn", async () => {
  const session = start("letter");
  session.player.send({ inputs: { recipient: { value: "Ada" }, occasion: { value: "thanks" },
    tone: { value: "warm" } } });
  assert.equal((await settled(session)).shown.status, "paused");
  session.player.answer({ verdict: { value: "send it" }, changes: { value: "" } });
  const play = await until(session.player.play, (value) => value.turns.length === 2 && !value.running);
  assert.equal(play.shown.status, "succeeded");
  assert.match(said(session), /Off it goes, to Ada/);
});

test("an iteration is in the timeline turn by turn", async () => {
  const session = start("meeting-notes");
  session.player.send({ inputs: { notes: { value: "a\nb\nc" } } });
  const play = await settled(session);
  const model = session.document.get()?.model;
  assert.ok(model);
  const loop = timeline(play.shown.steps, model).find((entry) => entry.step.node === "Iteration:EachPoint");
  assert.deepEqual(
    loop?.turns.map((turn) => turn.entries.map((entry) => entry.step.type)),
    [
      ["IterationItem", "LLM"],
      ["IterationItem", "LLM"],
      ["IterationItem", "LLM"],
    ],
  );
});

test("calls of an agent's agent are listed under it", () => {
  const use = (path: string, name: string) => ({ path, name, arguments: {} });
  const calls = toolCalls([
    use("A", "search_0"),
    use("A", "Web_Helper_1"),
    use("A-->Web_Helper", "google_0"),
    use("A", "search_0"),
    use("A-->Web_Helper", "bing_1"),
    use("A-->Lost", "x"),
  ]);
  const names = (list: typeof calls): unknown[] =>
    list.map(({ use: { name }, inner }) => (inner.length > 0 ? [name, names(inner)] : name));
  assert.deepEqual(names(calls), ["search_0", ["Web_Helper_1", ["google_0", "bing_1"]], "search_0", "x"]);
  const ended = toolCalls([
    use("A-->search", "search_0"),
    use("A-->Web_Helper", "Web_Helper_1"),
    use("A-->Web_Helper-->google", "google_0"),
  ]);
  assert.deepEqual(names(ended), ["search_0", ["Web_Helper_1", ["google_0"]]]);
});

test("the boxes of an agent's agents and tools are highlighted while they are called", async () => {
  const session = start("garden-desk");
  const { byId } = session.document.get()?.model ?? assert.fail();
  const seen = new Map<string, Set<string>>();
  const follow = session.player.play.subscribe(() => {
    const { turns } = session.player.play.get();
    const records = turns.at(-1)?.records;
    for (let at = 0; at <= (records?.events.length ?? 0); at++) {
      const step = records?.at(at).latest["Agent:GreenThumb"];
      for (const [id, { member }] of byId)
        if (member) seen.set(id, (seen.get(id) ?? new Set()).add(activity(step, member)?.status ?? "idle"));
    }
  });
  session.player.send({ query: "When do tomatoes need water?" });
  await settled(session);
  follow();
  const lit = ["idle", "running", "succeeded"];
  for (const id of [
    "Agent:SeasonWatcher",
    "Agent:WebSearcher",
    "Agent:Librarian",
    "Agent:Trader",
    "Tool:GardenShed",
    "Tool:Web",
    "Tool:Sky",
  ]) {
    assert.deepEqual([...(seen.get(id) ?? [])].sort(), lit.toSorted(), id);
  }
});

test("calls of an agent's agents are distinct in every form of the path", () => {
  const member: Member = { node: "a", path: "A", agent: "Web_Helper", agents: ["Web_Helper"] };
  const tools: Member = { node: "a", path: "A-->Web_Helper", agents: [] };
  const call = (path: string, name: string, elapsed?: number, error?: string): ToolUse => ({
    path,
    name,
    arguments: {},
    elapsed,
    error,
  });
  const step = (status: Step["status"], ...uses: ToolUse[]): Step => ({
    index: 0,
    run: 1,
    node: "a",
    name: "A",
    type: "Agent",
    status,
    thoughts: "",
    startedAt: 0,
    models: [],
    tools: uses,
  });
  assert.equal(activity(step("running", call("A", "other_0", 1), call("A", "reflection", 1)), member), undefined);
  assert.deepEqual(activity(step("running", call("A", "Web_Helper_3")), member), { status: "running", runs: 1 });
  const one = activity(step("running", call("A-->Web_Helper", "Web_Helper_3", 2)), member);
  assert.deepEqual(one, { status: "succeeded", runs: 1, elapsed: 2 });
  assert.deepEqual(
    activity(step("succeeded", call("A", "Web_Helper_3", 2), call("A", "Web_Helper_3", 1, "ouch")), member),
    { status: "failed", runs: 2, elapsed: 3 },
  );
  assert.deepEqual(activity(step("canceled", call("A", "Web_Helper_3")), member)?.status, "canceled");
  assert.deepEqual(activity(step("running", call("A-->Web_Helper-->google", "google_0")), tools), {
    status: "running",
    runs: 1,
  });
  assert.equal(activity(step("running", call("A-->Web_Helper", "analyze_task", 0)), tools), undefined);
});

test("a canvas can read an attached file", async () => {
  const session = start("tea-house");
  const file = await session.player.files.add(
    new File(["rosehip, mint and a secret"], "blend.txt", { type: "text/plain" }),
  );
  session.edit("LLM:BrewMaster", "prompts", [{ role: "user", content: "{sys.query}\n{sys.files}" }]);
  session.player.send({ query: "green tea?", files: [file] });
  const { shown } = await settled(session);
  assert.equal(shown.status, "succeeded");
  assert.match(JSON.stringify(shown.latest["LLM:BrewMaster"]?.models[0]?.messages), /rosehip, mint and a secret/);
});

test("a loop ends at its goal", async () => {
  const session = start("piggy-bank");
  session.player.send({ inputs: { start: { value: 100 } } });
  await settled(session);
  assert.match(said(session), /After \*\*8 months\*\* there are \*\*1060 coins\*\*/);
});

test("a node is pinned, a run ends at it, and a run starts at it with another value", async () => {
  const session = start("exchange");
  const inputs = { amount: { value: 10 }, currency: { value: "CNY" } };
  session.player.send({ inputs });
  await settled(session);
  assert.match(said(session), /10 EUR = 80.00 CNY/);
  session.player.pin("CodeExec:Abacus", { result: "pinned" });
  session.player.runUntil("CodeExec:Abacus");
  let play = await until(session.player.play, (value) => value.turns.length === 2 && !value.running);
  assert.equal(play.shown.latest["Message:Receipt"], undefined);
  assert.equal(play.shown.latest["CodeExec:Abacus"]?.outputs?.["result"], "pinned");
  session.player.pin("CodeExec:Abacus", undefined);
  session.player.choose(0);
  session.player.runFrom("CodeExec:Abacus", { "begin@amount": 20 });
  play = await until(session.player.play, (value) => value.turns.length === 3 && !value.running);
  assert.match(said(session), /20 EUR = 160.00 CNY/);
  const began = play.turns[2]?.records.events.flatMap((event) =>
    event.event === "node_started" ? event.data.component_id : [],
  );
  assert.deepEqual(began, ["CodeExec:Abacus", "Message:Receipt"]);
  assert.deepEqual(
    play.shown.steps.map((step) => [step.node, step.status]),
    [
      ["begin", "succeeded"],
      ["Invoke:RateBoard", "succeeded"],
      ["CodeExec:Abacus", "succeeded"],
      ["Message:Receipt", "succeeded"],
    ],
  );
});

test("one node runs alone", async () => {
  const session = start("exchange");
  assert.deepEqual(Object.keys(await session.player.form("Message:Receipt")), ["CodeExec:Abacus@result"]);
  session.player.debug("Message:Receipt", { "CodeExec:Abacus@result": "just me" });
  const play = await settled(session);
  assert.deepEqual(Object.keys(play.shown.latest), ["Message:Receipt"]);
  assert.match(String(play.shown.latest["Message:Receipt"]?.outputs?.["content"]), /^just me/);
});

test("one node that fails alone keeps its last good result, and both are listed", async () => {
  const session = start("exchange");
  session.player.send({ inputs: { amount: { value: 10 }, currency: { value: "CNY" } } });
  const { shown: whole } = await settled(session);
  const good = whole.latest["CodeExec:Abacus"];
  assert.equal(good?.status, "succeeded");
  const fields = await session.player.form("CodeExec:Abacus");
  session.player.debug("CodeExec:Abacus", Object.fromEntries(Object.keys(fields).map((name) => [name, null])));
  const { shown } = await until(session.player.play, (value) => value.turns.length === 2 && !value.running);
  const steps = shown.steps.filter(({ node }) => node === "CodeExec:Abacus");
  assert.deepEqual(steps.map(({ status }) => status), ["succeeded", "failed"]);
  assert.deepEqual(shown.latest["CodeExec:Abacus"]?.outputs, good?.outputs);
  session.player.runFrom("Message:Receipt");
  await until(session.player.play, (value) => value.turns.length === 3 && !value.running);
  assert.match(said(session), /10 EUR = 80.00 CNY/, "the good result is used");
});

test("a run from a node, or of one node, keeps the results of the others for further runs", async () => {
  const session = start("exchange");
  session.player.send({ inputs: { amount: { value: 10 }, currency: { value: "CNY" } } });
  const { shown: whole } = await settled(session);
  const rates = whole.latest["Invoke:RateBoard"]?.outputs;
  assert.ok(rates);
  const again = async (turns: number) =>
    (await until(session.player.play, (value) => value.turns.length === turns && !value.running)).shown;
  session.player.debug("Message:Receipt", { "CodeExec:Abacus@result": "just me" });
  const alone = await again(2);
  assert.match(String(alone.latest["Message:Receipt"]?.outputs?.["content"]), /^just me/);
  assert.deepEqual(alone.latest["Invoke:RateBoard"]?.outputs, rates);
  assert.deepEqual(alone.variables, whole.variables);
  session.player.runFrom("CodeExec:Abacus");
  const rest = await again(3);
  assert.match(said(session), /10 EUR = 80.00 CNY/);
  assert.deepEqual(rest.latest["Invoke:RateBoard"]?.outputs, rates);
  assert.equal(rest.latest["CodeExec:Abacus"]?.run, 1);
  session.player.step(0);
  const { shown } = session.player.play.get();
  assert.deepEqual(
    Object.keys(shown.latest),
    ["begin", "Invoke:RateBoard"],
    "before its first record only what was there",
  );
});

test("stepping shows earlier states of the run, and the latest again", async () => {
  const session = start("exchange");
  session.player.send({ inputs: { amount: { value: 10 }, currency: { value: "CNY" } } });
  const total = (await settled(session)).turns[0]?.records.events.length ?? 0;
  session.player.step(3);
  assert.equal(session.player.play.get().shown.count, 3);
  assert.equal(session.player.play.get().shown.status, "running");
  session.player.step(-5);
  assert.equal(session.player.play.get().cursor, 0);
  session.player.step(undefined);
  assert.equal(session.player.play.get().shown.count, total);
});

test("cancel ends the run, and the remaining steps are canceled", async () => {
  const session = start("morning-paper");
  session.player.provider.set({ ...session.player.provider.get(), kind: "scripted", script: "word ".repeat(20_000) });
  session.player.send({ query: "rain" });
  await until(session.player.play, () => said(session).includes("word"));
  session.player.cancel();
  const { shown } = await settled(session);
  assert.equal(shown.status, "canceled");
  assert.deepEqual(new Set(shown.steps.map((step) => step.status)), new Set(["succeeded", "canceled"]));
});

test("a run that is stopped before its start ends as canceled", async () => {
  const session = start("tea-house");
  session.player.send({ query: "green tea?" });
  session.player.cancel();
  assert.equal((await settled(session)).shown.status, "canceled");
});

test("who opens and closes a run of the host never ends it, only stop does", async () => {
  const asked: string[] = [];
  const ask = ((method: string, path: string, _body: unknown, options?: { signal?: AbortSignal }) => {
    asked.push(`${method} ${path}`);
    const body = new ReadableStream({
      start: (control) => options?.signal?.addEventListener("abort", () => control.error(new Error("left"))),
    });
    return Promise.resolve(new Response(body));
  }) as unknown as Host["ask"];
  const models = (): Promise<Response> => Promise.reject(new Error("no run asks the models"));
  const session = new Session(engine, world, { models, ask });
  const text = example("tea-house");
  for (const leave of [() => session.open(text), () => session.restart(), () => session.close()]) {
    session.open(text);
    session.allow();
    session.player.show("r1");
    await new Promise((resolve) => setTimeout(resolve, 20));
    leave();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(asked.splice(0), ["GET /api/v2/runs/r1/events"]);
    assert.equal(session.player.play.get().running, false);
  }
  session.open(text);
  session.allow();
  session.player.show("r1");
  await new Promise((resolve) => setTimeout(resolve, 20));
  session.player.cancel();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(asked, ["GET /api/v2/runs/r1/events", "POST /api/v2/runs/r1/cancel"]);
});

test("a rerun starts with the conversation of the repeated turn", async () => {
  const session = start("tea-house");
  session.player.send({ query: "green tea?" });
  await settled(session);
  session.player.runUntil("Categorize:QuietPot");
  const play = await until(session.player.play, (value) => value.turns.length === 2 && !value.running);
  const history = play.shown.variables["sys.history"] as string[];
  assert.deepEqual(history.filter((line) => line.startsWith("user:")), ["user: green tea?"]);
});

test("opening another canvas during a run removes everything of the old one", async () => {
  const session = start("morning-paper");
  session.player.provider.set({ ...session.player.provider.get(), kind: "scripted", script: "word ".repeat(20_000) });
  session.player.send({ query: "rain" });
  await until(session.player.play, () => said(session).includes("word"));
  session.player.provider.set({ ...session.player.provider.get(), kind: "offline" });
  session.open(example("exchange"), "exchange", { kind: "example" });
  assert.deepEqual(session.player.play.get().turns, []);
  session.player.send({ inputs: { amount: { value: 10 }, currency: { value: "CNY" } } });
  const play = await settled(session);
  assert.equal(play.turns.length, 1);
  assert.match(said(session), /10 EUR = 80.00 CNY/);
});

test("the nodes of a paused run stay highlighted when it continues, and the waiting one is marked", async () => {
  const session = start("letter");
  session.player.send({ inputs: { recipient: { value: "Ada" }, occasion: { value: "thanks" },
    tone: { value: "warm" } } });
  const { shown } = await settled(session);
  assert.equal(shown.latest["UserFillUp:SecondLook"]?.status, "paused");
  session.player.answer({ verdict: { value: "send it" }, changes: { value: "" } });
  const play = await until(session.player.play, (value) => value.turns.length === 2 && !value.running);
  const nodes = ["LLM:FirstInk", "UserFillUp:SecondLook", "Message:SentLetter"];
  assert.deepEqual(nodes.map((node) => play.shown.latest[node]?.status), ["succeeded", "succeeded", "succeeded"]);
  assert.equal(play.shown.answers.length, 1);
});

test("an edit applies to the next turn and is in the export", async () => {
  const session = start("exchange");
  session.edit("Message:Receipt", "content", ["Edited"]);
  session.player.send({ inputs: { amount: { value: 1 }, currency: { value: "CNY" } } });
  await settled(session);
  assert.equal(said(session), "Edited");
  session.edit("Message:Receipt", "content", ["Again"]);
  assert.match(await session.text(), /"Again"/);
  session.undo();
  session.undo();
  session.player.send({ inputs: { amount: { value: 1 }, currency: { value: "CNY" } } });
  await until(session.player.play, (play) => play.turns.length === 2 && !play.running);
  assert.match(said(session), /1 EUR/);
});

test("a canvas without positions is laid out by the engine", async () => {
  for (const name of ["piggy-bank", "tea-house", "meeting-notes", "letter"]) {
    const { dsl: { graph: _, ...dsl } } = JSON.parse(example(name)) as { dsl: Record<string, unknown> };
    const session = fresh();
    session.open(JSON.stringify(dsl));
    assert.equal(session.document.get()?.model.unplaced, true);
    const document = await until(session.document, (value) => value?.model.unplaced === false);
    apart(document?.model as CanvasModel);
    const { byId } = document?.model as CanvasModel;
    assert.ok((byId.get("begin")?.x ?? 0) < Math.max(...[...byId.values()].map((node) => node.x)), name);
    session.edit("begin", "prologue", "x");
    assert.deepEqual(
      session.document.get()?.model.nodes.map(({ x, y }) => [x, y]),
      document?.model.nodes.map(({ x, y }) => [x, y]),
    );
  }
});

test("an edit can repair a canvas that does not load", async () => {
  const session = fresh();
  session.open(
    JSON.stringify({
      components: {
        begin: { obj: { component_name: "Begin", params: {} }, downstream: ["m"] },
        m: { obj: { component_name: "Message", params: { content: 3 } }, upstream: ["begin"] },
      },
    }),
    "",
    { kind: "example" },
  );
  session.player.send({ query: "x" });
  assert.match((await settled(session)).turns[0]?.error ?? "", /bad_canvas/);
  session.edit("m", "content", ["mended"]);
  session.player.send({ query: "x" });
  await until(session.player.play, (play) => play.turns.length === 2 && !play.running);
  assert.equal(said(session), "mended");
  assert.match(await session.text(), /mended/);
});

test("a failing node and a refused canvas are reported, not thrown", async () => {
  const session = start("exchange");
  session.edit("CodeExec:Abacus", "script", "function main() { throw new Error('ouch') }");
  session.player.send({ inputs: { amount: { value: 1 }, currency: { value: "CNY" } } });
  const play = await settled(session);
  assert.equal(play.shown.status, "failed");
  assert.match(play.shown.error ?? "", /ouch/);
  session.open(JSON.stringify({ components: { a: { obj: { component_name: "LLM", params: {} } } } }), "", {
    kind: "example",
  });
  const problems = await until(session.problems, (list) => list.length > 0);
  assert.equal(problems[0]?.severity, "error");
  session.player.send({ query: "x" });
  assert.match((await settled(session)).turns[0]?.error ?? "", /no component "begin".* \(bad_canvas\)/);
});

test("jumping to a record gives the same state as stepping to it", () => {
  const records = new Records();
  for (let i = 0; i < 200; i++) {
    records.push([
      { event: "variables_changed", message_id: "m", task_id: "t", created_at: 0, data: { values: { ["v" + i]: i } } },
    ]);
  }
  assert.equal(Object.keys(records.at(130).variables).length, 130);
  assert.equal(Object.keys(records.at(64).variables).length, 64);
  assert.equal(records.at(1000).count, 200);
});

test("the built-in search ranks by rare words, in both languages, within its datasets", async () => {
  const find = search([
    { dataset: "a", document: "one", content: "water and tea" },
    { dataset: "a", document: "two", content: "water and basil" },
    { dataset: "b", document: "three", content: "绿茶用水八十度" },
  ]);
  const context = { signal: new AbortController().signal };
  assert.equal(
    (await find({ query: "basil in water", datasets: ["a", "b"] }, context)).chunks[0]?.document_name,
    "two",
  );
  assert.equal((await find({ query: "绿茶怎么泡", datasets: ["b", "c"] }, context)).chunks[0]?.document_name, "three");
  assert.deepEqual((await find({ query: "tea", datasets: ["b"] }, context)).chunks, []);
  assert.deepEqual((await find({ query: "tea" }, context)).chunks, [], "the memory of a canvas, say");
});

test("prepared answers are lines or JSON", () => {
  assert.deepEqual(repliesOf("a\n\nb\\nc"), [{ text: "a" }, { text: "b\nc" }]);
  assert.deepEqual(repliesOf('["a", {"match": "x", "text": "b"}]'), [{ text: "a" }, { match: "x", text: "b" }]);
  assert.deepEqual(repliesOf("[not json"), [{ text: "[not json" }]);
});
