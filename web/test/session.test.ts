// The page without its drawing, over the toy engine.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createEngine } from "../../wasm/js/src/browser.ts";
import { toy } from "../../wasm/js/test/toy/module.ts";
import { repliesOf } from "../run/providers.ts";
import { Records } from "../run/records.ts";
import { search } from "../run/knowledge.ts";
import { Session, type World } from "../run/session.ts";
import { timeline } from "../run/timeline.ts";
import type { Store } from "../run/store.ts";

const example = (name: string): string => readFileSync(new URL(`../examples/${name}.json`, import.meta.url), "utf8");

const world: World = {
  code: ({ script, arguments: args }) => Promise.resolve({ result: new Function(`${script}; return main(arguments[0])`)(args) as unknown }),
  fetch: () => Promise.resolve(Response.json({ rates: { CNY: 8 } })),
  retrieve: search([{ dataset: "tea-notes", document: "card", content: "green tea wants water of 80 degrees" }]),
};

function start(name: string): Session {
  const session = new Session(createEngine({ connect: async (host) => ({ module: toy(host), end: () => undefined }) }), world);
  session.open(example(name), name);
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

const settled = (session: Session) => until(session.play, (play) => !play.running && play.turns.length > 0);
const said = (session: Session): string => (session.play.get().turns.at(-1)?.state.answers ?? []).flatMap((answer) => answer.parts.filter((part) => part.kind === "text").map((part) => part.text)).join("|");

test("a question is answered with its source", async () => {
  const session = start("tea-house");
  session.send({ query: "How hot should water be for green tea?" });
  const play = await settled(session);
  assert.equal(play.shown.status, "finished");
  assert.match(said(session), /\[ID:1\]/);
  assert.equal(Object.values(play.shown.answers[0]?.reference?.chunks ?? {}).length, 1);
});

test("a form pauses the run, the answer goes on in a turn of its own", async () => {
  const session = start("letter");
  session.send({ inputs: { recipient: { value: "Ada" }, occasion: { value: "thanks" }, tone: { value: "warm" } } });
  assert.equal((await settled(session)).shown.status, "paused");
  session.answer({ verdict: { value: "send it" }, changes: { value: "" } });
  const play = await until(session.play, (value) => value.turns.length === 2 && !value.running);
  assert.equal(play.shown.status, "finished");
  assert.match(said(session), /Off it goes, to Ada/);
});

test("an iteration stands in the timeline turn by turn", async () => {
  const session = start("meeting-notes");
  session.send({ inputs: { notes: { value: "a\nb\nc" } } });
  const play = await settled(session);
  const model = session.document.get()?.model;
  assert.ok(model);
  const loop = timeline(play.shown, model).find((entry) => entry.step.node === "Iteration:EachPoint");
  assert.deepEqual(loop?.turns.map((turn) => turn.entries.map((entry) => entry.step.type)), [["IterationItem", "LLM"], ["IterationItem", "LLM"], ["IterationItem", "LLM"]]);
});

test("a loop ends at its goal", async () => {
  const session = start("piggy-bank");
  session.send({ inputs: { start: { value: 100 } } });
  await settled(session);
  assert.match(said(session), /After \*\*8 months\*\* there are \*\*1060 coins\*\*/);
});

test("a pin, a run to here and a run from here with another value", async () => {
  const session = start("exchange");
  const inputs = { amount: { value: 10 }, currency: { value: "CNY" } };
  session.send({ inputs });
  await settled(session);
  assert.match(said(session), /10 EUR = 80.00 CNY/);
  session.pin("CodeExec:Abacus", { result: "pinned" });
  session.runUntil("CodeExec:Abacus");
  let play = await until(session.play, (value) => value.turns.length === 2 && !value.running);
  assert.equal(play.shown.latest["Message:Receipt"], undefined);
  assert.equal(play.shown.latest["CodeExec:Abacus"]?.outputs?.["result"], "pinned");
  session.pin("CodeExec:Abacus", undefined);
  session.choose(0);
  session.runFrom("CodeExec:Abacus", { "begin@amount": 20 });
  play = await until(session.play, (value) => value.turns.length === 3 && !value.running);
  assert.equal(play.shown.latest["Invoke:RateBoard"], undefined);
  assert.match(said(session), /20 EUR = 160.00 CNY/);
});

test("one node runs alone", async () => {
  const session = start("exchange");
  session.debug("Message:Receipt", { content: ["just me"] });
  const play = await settled(session);
  assert.deepEqual(Object.keys(play.shown.latest), ["Message:Receipt"]);
  assert.equal(said(session), "just me");
});

test("stepping shows the run as it was, and the latest again", async () => {
  const session = start("exchange");
  session.send({ inputs: { amount: { value: 10 }, currency: { value: "CNY" } } });
  const total = (await settled(session)).turns[0]?.records.events.length ?? 0;
  session.step(3);
  assert.equal(session.play.get().shown.count, 3);
  assert.equal(session.play.get().shown.status, "running");
  session.step(-5);
  assert.equal(session.play.get().cursor, 0);
  session.step(undefined);
  assert.equal(session.play.get().shown.count, total);
});

test("cancel ends the run, and what is left says so", async () => {
  const session = start("tea-house");
  session.provider.set({ ...session.provider.get(), kind: "scripted", script: "word ".repeat(500) });
  session.send({ query: "green tea?" });
  await until(session.play, (play) => play.shown.answers.length > 0 || play.shown.latest["LLM:BrewMaster"] !== undefined);
  session.cancel();
  assert.equal((await settled(session)).shown.status, "canceled");
});

test("an edit counts for the next turn and is in the export", async () => {
  const session = start("exchange");
  session.edit("Message:Receipt", "content", ["Edited"]);
  session.send({ inputs: { amount: { value: 1 }, currency: { value: "CNY" } } });
  await settled(session);
  assert.equal(said(session), "Edited");
  session.edit("Message:Receipt", "content", ["Again"]);
  assert.match(await session.text(), /"Again"/);
  session.undo();
  session.undo();
  session.send({ inputs: { amount: { value: 1 }, currency: { value: "CNY" } } });
  await until(session.play, (play) => play.turns.length === 2 && !play.running);
  assert.match(said(session), /1 EUR/);
});

test("a failing node and a canvas the engine refuses are told, not thrown", async () => {
  const session = start("exchange");
  session.edit("CodeExec:Abacus", "script", "function main() { throw new Error('ouch') }");
  session.send({ inputs: { amount: { value: 1 }, currency: { value: "CNY" } } });
  const play = await settled(session);
  assert.equal(play.shown.status, "failed");
  assert.match(play.shown.error ?? "", /ouch/);
  session.open(JSON.stringify({ components: { a: { obj: { component_name: "LLM", params: {} } } } }));
  const problems = await until(session.problems, (list) => list.length > 0);
  assert.equal(problems[0]?.level, "error");
  session.send({ query: "x" });
  assert.match((await settled(session)).turns[0]?.error ?? "", /no node begin/);
});

test("records give the same state by jumping as by walking", () => {
  const records = new Records();
  for (let i = 0; i < 200; i++) {
    records.push([{ event: "variables_changed", message_id: "m", task_id: "t", created_at: 0, data: { values: { ["v" + i]: i } } }]);
  }
  assert.equal(Object.keys(records.at(130).variables).length, 130);
  assert.equal(Object.keys(records.at(64).variables).length, 64);
  assert.equal(records.at(1000).count, 200);
});

test("the small search ranks by rare words, in both languages, within its datasets", async () => {
  const find = search([
    { dataset: "a", document: "one", content: "water and tea" }, { dataset: "a", document: "two", content: "water and basil" }, { dataset: "b", document: "three", content: "绿茶用水八十度" },
  ]);
  const context = { signal: new AbortController().signal };
  assert.equal((await find({ query: "basil in water" }, context)).chunks[0]?.document_name, "two");
  assert.equal((await find({ query: "绿茶怎么泡" }, context)).chunks[0]?.document_name, "three");
  assert.deepEqual((await find({ query: "tea", datasets: ["b"] }, context)).chunks, []);
});

test("prepared answers come as lines or as JSON", () => {
  assert.deepEqual(repliesOf("a\n\nb\\nc"), [{ text: "a" }, { text: "b\nc" }]);
  assert.deepEqual(repliesOf('["a", {"match": "x", "text": "b"}]'), [{ text: "a" }, { match: "x", text: "b" }]);
  assert.deepEqual(repliesOf("[not json"), [{ text: "[not json" }]);
});
