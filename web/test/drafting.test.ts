// Drafts of a canvas by a model: its answers become edits that the engine accepts, or problems.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createEngine } from "../../wasm/js/src/node.ts";
import type { Model, ModelRequest } from "../../wasm/js/src/model/model.ts";
import { build as builtModule } from "../../wasm/js/test/module.ts";
import type { Specs } from "../canvas/drawing.ts";
import { open, type Dsl } from "../canvas/dsl.ts";
import { blank } from "../canvas/edit/blank.ts";
import { hidden, sketchOf } from "../canvas/edit/sketch.ts";
import { build } from "../canvas/model.ts";
import { drafted, limits, patchIn, type Drafted } from "../run/drafting.ts";

const built = builtModule();
const engine = await createEngine({ wasm: built.wasm, runtime: built.runtime, worker: false });
const specs: Specs = new Map((await engine.components()).map((spec) => [spec.name, spec]));
after(() => { engine.close(); built.remove(); });

const empty = open(blank(specs, "x")).dsl;

// said returns a model that answers with texts, and repeats the last one.
function said(...texts: string[]): { llm: Model; asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  const llm: Model = {
    async *chat(request) {
      asked.push(structuredClone(request));
      yield { text: texts[Math.min(asked.length, texts.length) - 1] ?? "" };
      yield { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
    },
  };
  return { llm, asked };
}

async function draft(dsl: Dsl, llm: Model, wish = "a form", signal = new AbortController().signal): Promise<Drafted> {
  return drafted(wish, {
    dsl, specs, model: build(dsl, specs), llm, name: "", signal, onProgress: () => undefined,
    validate: (text) => engine.validate(text),
  });
}

const step = (component: string, params: object, next: string[] = [], name = component): object =>
  ({ component, name, params, next });
const inside = (group: string): object => ({ ...step("Iteration", {}), inside: group });
const bot = [
  { path: ["steps", "UserFillUp:Order"], after: step("UserFillUp", {
    enable_tips: true, tips: "Your order",
    inputs: { number: { name: "Order number", type: "line", optional: false } },
  }, ["Message:Done"], "Ask for the order number") },
  { path: ["steps", "Message:Done"], after: step("Message", { content: ["Order {UserFillUp:Order@number}"] }) },
  { path: ["steps", "begin", "next"], after: ["UserFillUp:Order"] },
];

test("an answer becomes steps, edges and boxes that the engine accepts", async () => {
  const { llm, asked } = said(`Here you are:\n\`\`\`json\n${JSON.stringify(bot)}\n\`\`\`\nAnything else [1]?`);
  const { dsl, problems, attempts, tokens } = await draft(empty, llm);
  assert.deepEqual([problems, attempts, tokens], [[], 1, 3]);
  assert.ok(dsl);
  assert.deepEqual(dsl.components["begin"]?.downstream, ["UserFillUp:Order"]);
  assert.deepEqual(dsl.components["Message:Done"]?.upstream, ["UserFillUp:Order"]);
  const model = build(dsl, specs);
  assert.equal(model.byId.get("UserFillUp:Order")?.name, "Ask for the order number");
  assert.deepEqual(model.edges.map(({ source, target }) => [source, target]).sort(),
    [["UserFillUp:Order", "Message:Done"], ["begin", "UserFillUp:Order"]]);
  const [a, b] = ["UserFillUp:Order", "Message:Done"].map((id) => model.byId.get(id));
  assert.ok(a && b && b.x >= a.x + 240, "the boxes do not overlap");
  assert.match(asked[0]?.messages[0]?.content as string, /UserFillUp/);
});

test("branches, groups and removed steps are edited with their edges", async () => {
  const whole = (await draft(empty, said(JSON.stringify(bot)).llm)).dsl as Dsl;
  const route = { order: { description: "orders", examples: [], to: ["UserFillUp:Order"] },
    other: { description: "the rest", examples: [], to: ["Message:Else"] } };
  const { dsl, problems } = await draft(whole, said(JSON.stringify([
    { path: ["steps", "Categorize:Topic"],
      after: step("Categorize", { query: "sys.query", category_description: route }) },
    { path: ["steps", "Message:Else"], after: step("Message", { content: ["Hello"] }) },
    { path: ["steps", "begin", "next"], before: ["UserFillUp:Order"], after: ["Categorize:Topic"] },
  ])).llm);
  assert.deepEqual(problems, []);
  assert.deepEqual(dsl?.components["Categorize:Topic"]?.downstream?.toSorted(), ["Message:Else", "UserFillUp:Order"]);
  const less = await draft(dsl as Dsl, said(JSON.stringify([
    { path: ["steps", "Categorize:Topic"], remove: true }, { path: ["steps", "Message:Else"], remove: true },
    { path: ["steps", "begin", "next"], after: ["UserFillUp:Order"] },
  ])).llm);
  assert.deepEqual(less.problems, []);
  assert.deepEqual(Object.keys(less.dsl?.components ?? {}).toSorted(), ["Message:Done", "UserFillUp:Order", "begin"]);
  assert.deepEqual(less.dsl?.components["UserFillUp:Order"]?.upstream, ["begin"]);
});

test("an answer with problems goes back once, with what the engine found", async () => {
  const lost = JSON.stringify([
    { path: ["steps", "Message:M"], after: step("Message", { content: ["{LLM:Nowhere@content}"] }) },
    { path: ["steps", "begin", "next"], after: ["Message:M"] }]);
  const { llm, asked } = said(lost, JSON.stringify(bot));
  const second = await draft(empty, llm);
  assert.deepEqual([second.problems, second.attempts, second.tokens], [[], 2, 6]);
  assert.match(asked[1]?.messages.at(-1)?.content as string, /LLM:Nowhere/);
  const never = await draft(empty, said(lost).llm);
  assert.equal(never.attempts, limits.attempts);
  assert.match(never.problems.join("\n"), /LLM:Nowhere/);
});

test("bad answers are problems and never a canvas", async () => {
  const cases: [answer: string, problem: RegExp][] = [
    ["I cannot do that.", /no JSON list/],
    ["[]", /changes nothing/],
    ["[{\"path\": [\"steps\"", /no JSON list/],
    [JSON.stringify([{ path: ["globals", "x"], after: 1 }]), /expected \{path, after\}/],
    [JSON.stringify([{ path: ["steps", "__proto__", "x"], after: 1 }]), /expected \{path, after\}/],
    [JSON.stringify([{ path: ["steps", "A"], after: step("Telepathy", {}) }]), /unknown component "Telepathy"/],
    [JSON.stringify([{ path: ["steps", "A"], after: step("Message", {}, ["B"]) }]), /next names no step: "B"/],
    [JSON.stringify([{ path: ["steps", "<img src=x>"], after: step("Message", {}) }]), /an id has at most/],
    [JSON.stringify([{ path: ["steps", "begin"], remove: true }]), /"begin" cannot be removed/],
    [JSON.stringify([{ path: ["steps", "begin", "component"], after: "Message" }]), /remove it and add another/],
    [JSON.stringify([{ path: ["steps", "Nothing"], remove: true }]), /nothing is at steps\/Nothing/],
    [JSON.stringify([{ path: ["steps", "begin", "params", "prologue"], after: hidden }]), /was not there before/],
    [JSON.stringify([{ path: ["steps", "L:A"], after: inside("L:A") }]), /"L:A" is inside itself/],
    [JSON.stringify([
      { path: ["steps", "L:A"], after: inside("L:B") }, { path: ["steps", "L:B"], after: inside("L:A") },
    ]), /"L:A" is inside itself/],
    [JSON.stringify([{ path: ["steps", "L:A"], after: inside("begin") }]), /inside "begin", which is no group/],
    [`[{"path":["steps","begin","params","x"],"after":${"[".repeat(25_000)}${"]".repeat(25_000)}}]`, /40 levels/],
  ];
  for (const [answer, problem] of cases) {
    const { dsl, problems } = await draft(empty, said(answer).llm);
    assert.match(problems.join("\n"), problem, answer);
    assert.equal(dsl, undefined, answer);
  }
});

test("titles with control and direction characters are cleaned, and the length is bounded", async () => {
  const named = structuredClone(bot);
  (named[1]?.after as { name: string }).name = `Re\u202Eply\u0000 <script>${"x".repeat(500)}`;
  const { dsl, problems } = await draft(empty, said(JSON.stringify(named)).llm);
  assert.deepEqual(problems, []);
  const name = build(dsl as Dsl, specs).byId.get("Message:Done")?.name ?? "";
  assert.match(name, /^Reply <script>x+$/);
  assert.equal(name.length, 120);
});

test("secrets are not sent, and stay where they were", async () => {
  const whole = (await draft(empty, said(JSON.stringify([
    { path: ["steps", "Invoke:Shop"], after: step("Invoke", {
      url: "https://shop.example/", method: "GET", headers: "{\"Authorization\": \"Bearer sk-very-secret\"}",
    }) },
    { path: ["steps", "begin", "next"], after: ["Invoke:Shop"] },
  ])).llm)).dsl as Dsl;
  assert.match(JSON.stringify(whole), /sk-very-secret/);
  assert.doesNotMatch(JSON.stringify(sketchOf(whole, specs, build(whole, specs))), /sk-very-secret/);
  const { llm, asked } = said(JSON.stringify([
    { path: ["steps", "Invoke:Shop", "params", "url"], after: "https://new.example/" },
  ]));
  const { dsl, problems } = await draft(whole, llm);
  assert.deepEqual(problems, []);
  assert.doesNotMatch(JSON.stringify(asked), /sk-very-secret/);
  const { params } = dsl?.components["Invoke:Shop"]?.obj ?? {};
  assert.deepEqual(
    [params?.["url"], params?.["headers"]],
    ["https://new.example/", "{\"Authorization\": \"Bearer sk-very-secret\"}"],
  );
});

test("an id that objects inherit names a step like any other", async () => {
  const { dsl, problems } = await draft(empty, said(JSON.stringify([
    { path: ["steps", "constructor"], after: step("Message", { content: ["Hello"] }) },
    { path: ["steps", "begin", "next"], after: ["constructor"] },
  ])).llm);
  assert.deepEqual(problems, []);
  assert.deepEqual(dsl?.components["begin"]?.downstream, ["constructor"]);
});

test("secrets in a list stay with their entries, or are asked for", async () => {
  const tool = (name: string, api_key: string): object => ({ component_name: "Retrieval", name, params: { api_key } });
  const path = ["steps", "Agent:A", "params", "tools"];
  const whole = (await draft(empty, said(JSON.stringify([
    { path: ["steps", "Agent:A"], after: step("Agent", { tools: [tool("one", "sk-1"), tool("two", "sk-2")] }) },
    { path: ["steps", "begin", "next"], after: ["Agent:A"] },
  ])).llm)).dsl as Dsl;
  const keys = async (...tools: object[]): Promise<unknown> => {
    const { dsl, problems } = await draft(whole, said(JSON.stringify([{ path, after: tools }])).llm);
    const list = dsl?.components["Agent:A"]?.obj.params?.["tools"] as { params: { api_key: string } }[] | undefined;
    return list?.map(({ params }) => params.api_key) ?? problems.join("\n");
  };
  assert.deepEqual(await keys(tool("two", hidden)), ["sk-2"]);
  assert.deepEqual(await keys(tool("two", hidden), tool("one", hidden)), ["sk-2", "sk-1"]);
  assert.deepEqual(await keys(tool("one", hidden), tool("new name", hidden)), ["sk-1", "sk-2"]);
  assert.match(String(await keys(tool("other", hidden))), /not clear which value/);
  assert.match(String(await keys(tool("two", hidden), tool("other", hidden))), /not clear which value/);
});

test("endless answers, cancelled drafts and huge canvases end with an error", async () => {
  const endless: Model = { async *chat() { for (;;) yield { text: "x".repeat(10_000) }; } };
  await assert.rejects(draft(empty, endless), /longer than/);
  const stop = new AbortController();
  const slow: Model = { async *chat() { yield { text: "[" }; stop.abort(); yield { text: "]" }; } };
  await assert.rejects(draft(empty, slow, "a form", stop.signal), { name: "AbortError" });
  const huge = structuredClone(empty);
  const begin = huge.components["begin"];
  if (begin) begin.obj.params = { prologue: "x".repeat(limits.canvas) };
  await assert.rejects(draft(huge, said("[]").llm), /too large/);
});

test("any text is a patch or a problem", () => {
  const sketch = sketchOf(empty, specs, build(empty, specs));
  const signs = ["[", "]", "{", "}", "\"", "\\", "path", ":", ",", "steps", "null", "1", " "];
  const pieces = [...signs, JSON.stringify(bot), "[[[[", "<think>"];
  let state = 7;
  const any = (n: number): number => (state = (state * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: any(30) }, () => pieces[any(pieces.length)]).join("");
    try {
      assert.ok(patchIn(text, sketch).length > 0);
    } catch (err) {
      assert.match((err as Error).constructor.name, /^(SketchError|PatchError)$/, text);
    }
  }
});
