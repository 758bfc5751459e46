// What forms show: the parts of every component, conditions, options, operators, declared outputs.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ComponentSpec, Schema } from "../../wasm/js/src/protocol.ts";
import { dict, type Dsl } from "../canvas/dsl.ts";
import { Draft } from "../canvas/edit/draft.ts";
import { startingParams } from "../canvas/edit/nodes.ts";
import { nameOutput } from "../canvas/edit/outputs.ts";
import { fitting, operatorOf } from "../view/form/operators.ts";
import { operatorSets } from "../view/form/operators.generated.ts";
import {
  canonical, isShown, keyOf, partsOf, rewritten, sectionOrder, tagOf, widgetOf,
} from "../view/form/shown.ts";
import { texts } from "../words/form.ts";
import { specs } from "./specs.ts";

const all = [...new Set(specs.values())];
const open = new Set(["main", "prompt", "tools"]);

const shownOf = (kind: string, params: Record<string, unknown>, tool = false): string[] =>
  partsOf(specs.get(kind), params, tool).flatMap(({ names }) => names);

test("a new node has at most seven fields before the first closed part, which follow an order", () => {
  for (const spec of all) {
    const parts = partsOf(spec, startingParams(spec));
    const count = parts.filter(({ section }) => open.has(section)).reduce((sum, { names }) => sum + names.length, 0);
    assert.ok(count <= 7, `${spec.name}: ${count}`);
    const order = parts.map(({ section }) => sectionOrder.indexOf(section));
    assert.deepEqual(order, order.toSorted((a, b) => a - b), spec.name);
  }
});

test("no param of a component is edited as JSON but those named here", () => {
  const jsonOf = ({ properties = {}, items }: Schema, path: string): string[] => [
    ...Object.entries(properties).flatMap(([name, each]) => [
      ...(["json"].includes(widgetOf(each, undefined)) && !tagOf(each).hidden ? [`${path}.${name}`] : []),
      ...jsonOf(each, `${path}.${name}`),
    ]),
    ...(items ? jsonOf(items, path) : []),
  ];
  assert.deepEqual(all.flatMap((spec) => jsonOf(spec.params ?? {}, spec.name)), []);
});

test("conditions hide params, whose values stay", () => {
  assert.ok(!shownOf("Begin", {}).includes("security"));
  assert.ok(shownOf("Begin", { mode: "Webhook" }).includes("security"));
  assert.ok(shownOf("Begin", { mode: "Dialog" }).includes("prologue"), "Dialog means conversational");
  assert.ok(!shownOf("ListOperations", { operations: "sort" }).includes("n"));
  assert.ok(shownOf("ListOperations", { operations: "nth" }).includes("n"));
  assert.ok(!shownOf("ExeSQL", { db_type: "sqlite" }).includes("host"));
  assert.ok(!shownOf("Loop", { items: "sys.files" }).includes("maximum_loop_count"));
  assert.ok(!shownOf("Retrieval", {}).includes("function_name"));
  assert.ok(shownOf("Retrieval", {}, true).includes("function_name"));
});

test("a param with an earlier name is one field under the name that the document has", () => {
  const schemas = specs.get("Retrieval")?.params?.properties ?? {};
  const key = (params: Record<string, unknown>): string => keyOf("dataset_ids", { params, schemas });
  assert.equal(key({ kb_ids: ["a"] }), "kb_ids");
  assert.deepEqual([key({ dataset_ids: ["a"] }), key({})], ["dataset_ids", "dataset_ids"]);
  assert.ok(!shownOf("Retrieval", { kb_ids: ["a"] }).includes("kb_ids"));
});

test("params without effect on a component are not shown", () => {
  assert.ok(!shownOf("Switch", {}).includes("message_history_window_size"));
  assert.ok(shownOf("LLM", {}).includes("message_history_window_size"));
  assert.ok(!shownOf("Begin", {}).some((name) => name.startsWith("exception_")));
});

test("other spellings mean their option, unknown words stay as they are", () => {
  const lang = specs.get("CodeExec")?.params?.properties?.["lang"];
  const meant = ["python3", "nodejs", "ruby"].map((word) => canonical(lang, word));
  assert.deepEqual(meant, ["python", "javascript", "ruby"]);
});

test("an operator is known by its word and its synonyms, in any case", () => {
  const word = (set: keyof typeof operatorSets, text: string): string | undefined => operatorOf(set, text)?.word;
  assert.equal(word("switch", ">="), "≥");
  assert.equal(word("switch", "Is"), "=");
  assert.equal(word("loop", "is"), "is");
  assert.equal(word("assign", "="), "overwrite");
  assert.equal(word("logic", "或") ?? word("logic", "OR"), "or");
  assert.equal(word("switch", "resembles"), undefined);
});

test("operators fit the type of the left side; all do if it is unknown", () => {
  const fit = (type: string | undefined): string[] => fitting("loop", type).map((each) => each.word);
  assert.deepEqual(fit("number"), ["empty", "not empty", "=", "≠", ">", "<", "≥", "≤"]);
  assert.ok(fit("Array<String>").includes("contains") && !fit("Array<String>").includes("start with"));
  assert.equal(fit(undefined).length, operatorSets.loop.length);
});

test("an operator without a right side hides the value", () => {
  const items = specs.get("Switch")?.params?.properties?.["conditions"]?.items?.properties?.["items"]?.items;
  const schemas = items?.properties ?? {};
  assert.ok(isShown("value", { params: { operator: "=" }, schemas }));
  assert.ok(!isShown("value", { params: { operator: "is empty" }, schemas }));
});

test("an edit of a rule stores the word of its operator in place of a synonym", () => {
  const items = specs.get("Switch")?.params?.properties?.["conditions"]?.items?.properties?.["items"]?.items;
  const schemas = items?.properties ?? {};
  assert.deepEqual(rewritten({ params: { operator: ">=", value: "1" }, schemas }), { operator: "≥", value: "1" });
  const unknown = { operator: "zz", value: "1" };
  assert.equal(rewritten({ params: unknown, schemas }), unknown, "an unknown word stays");
});

test("a schema without tags has editors by its types", () => {
  const widgets = [
    { type: "boolean" }, { type: "integer" }, { enum: ["a", "b"] }, { enum: ["a", "b", "c", "d", "e"] },
    { type: "string" }, { type: "array", items: { type: "string" } },
    { type: "array", items: { type: "object", properties: {} } },
    { type: "object" }, {},
  ].map((schema) => widgetOf(schema, undefined));
  const want = ["toggle", "number", "segment", "select", "text", "words", "rows", "pairs", "value"];
  assert.deepEqual(widgets, want);
});

test("a component without tags keeps seven params open, and required ones", () => {
  const properties = Object.fromEntries([..."abcdefghij"].map((name) => [name, { type: "string" }]));
  const params = { properties, required: ["j"] };
  const spec: ComponentSpec = { name: "plugin:p", category: "tool", group: "plugins", icon: "box", params };
  assert.deepEqual(partsOf(spec, {}).map(({ names }) => names.join("")), ["abcdefgj", "hi"]);
});

test("a renamed output takes its references along", () => {
  const dsl: Dsl = { components: dict({
    "Code:A": { obj: { component_name: "CodeExec", params: { outputs: { total: { type: "Number" }, b: {} } } } },
    "Message:B": { obj: { component_name: "Message", params: { content: ["{Code:A@total} of {Code:A@b}"] } } },
  }) };
  const draft = new Draft(dsl);
  nameOutput(draft, "Code:A", "total", "sum");
  const names = (): string[] => Object.keys(draft.params("Code:A")["outputs"] as object);
  assert.deepEqual(names(), ["sum", "b"]);
  assert.deepEqual(draft.params("Message:B")["content"], ["{Code:A@sum} of {Code:A@b}"]);
  nameOutput(draft, "Code:A", "sum", "b");
  assert.deepEqual(names(), ["sum", "b"], "a taken name changes nothing");
});

test("texts of forms have the same keys and places in both languages", () => {
  const places = (text: string): string[] => [...text.matchAll(/\{\d\}/g)].map(([place]) => place).toSorted();
  for (const [key, text] of Object.entries(texts.en))
    assert.deepEqual(places(texts.zh[key as keyof typeof texts.zh]), places(text), key);
});
