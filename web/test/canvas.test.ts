// The canvas model: opening, building, laying out, editing, linking.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { CanvasError, open, type Dsl } from "../canvas/dsl.ts";
import { Edits } from "../canvas/edits.ts";
import { pack, unpack } from "../canvas/link.ts";
import { build, sizeOf } from "../canvas/model.ts";
import { place } from "../canvas/layout.ts";

const examples = new URL("../examples/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, examples), "utf8");

function dsl(components: Record<string, [kind: string, downstream?: string[], params?: object, parent?: string]>): Dsl {
  return {
    components: Object.fromEntries(Object.entries(components).map(([id, [kind, downstream = [], params = {}, parent]]) =>
      [id, { obj: { component_name: kind, params: params as Record<string, unknown> }, downstream, ...(parent ? { parent_id: parent } : {}) }])),
  };
}

test("a template, a bare DSL and a DSL as text open alike", () => {
  const bare = { components: { begin: { obj: { component_name: "Begin", params: {} }, downstream: [] } } };
  const shapes = [bare, { title: { en: "T" }, dsl: bare }, { title: "T", dsl: JSON.stringify(bare) }];
  for (const shape of shapes) assert.deepEqual(Object.keys(open(JSON.stringify(shape)).dsl.components), ["begin"]);
});

test("what is no canvas is refused with its reason", () => {
  const reason = (text: string): string => {
    try {
      open(text);
      return "opened";
    } catch (err) {
      return (err as CanvasError).code;
    }
  };
  assert.equal(reason("{"), "not_json");
  assert.equal(reason("null"), "not_canvas");
  assert.equal(reason("[1]"), "not_canvas");
  assert.equal(reason(`{"components": {"a": 3}}`), "not_canvas");
  assert.equal(reason(`{"components": {"a": {"obj": {"component_name": 3}}}}`), "not_canvas");
  assert.equal(reason(" ".repeat(20_000_001)), "too_large");
});

test("every built-in component stands in some example", () => {
  const used = new Set(readdirSync(examples).flatMap((file) => Object.values(open(read(file)).dsl.components).map((component) => component.obj.component_name)));
  const builtin = "Begin Message LLM Agent Categorize Switch Iteration IterationItem Loop LoopItem ExitLoop UserFillUp VariableAssigner VariableAggregator ListOperations DataOperations StringTransform Invoke Retrieval CodeExec";
  assert.deepEqual(builtin.split(" ").filter((kind) => !used.has(kind)), []);
});

for (const file of readdirSync(examples)) {
  test(`${file} is drawn where it says, in both languages, with edges that lead somewhere`, () => {
    const { dsl: canvas, title, description } = open(read(file));
    assert.deepEqual(Object.keys(title), ["en", "zh"]);
    assert.deepEqual(Object.keys(description), ["en", "zh"]);
    const model = build(canvas);
    assert.equal(model.placed, false);
    for (const edge of model.edges) assert.ok(model.byId.has(edge.source) && model.byId.has(edge.target), edge.id);
    for (const [id, component] of Object.entries(canvas.components)) {
      for (const next of component.downstream ?? []) assert.ok(canvas.components[next]?.upstream?.includes(id), `${id} -> ${next}`);
    }
  });
}

test("branches are edges of their own, labelled by their condition", () => {
  const model = build(dsl({
    begin: ["Begin", ["Switch:A"]],
    "Switch:A": ["Switch", ["Message:A", "Message:B"], { conditions: [{ logical_operator: "and", items: [{ cpn_id: "begin@n", operator: ">", value: "1" }], to: ["Message:A"] }], end_cpn_ids: ["Message:B"] }],
    "Message:A": ["Message"], "Message:B": ["Message"],
  }));
  assert.deepEqual(model.edges.filter((edge) => edge.source === "Switch:A").map((edge) => [edge.branch, edge.target]), [["Case 1", "Message:A"], ["end_cpn_ids", "Message:B"]]);
  assert.equal(model.byId.get("Switch:A")?.branches[0]?.label, "n > 1");
});

test("tools and agents of an agent get boxes when the picture has them", () => {
  const { dsl: canvas } = open(read("garden-desk.json"));
  const model = build(canvas);
  assert.equal(model.byId.get("Tool:GardenShed")?.role, "tool");
  assert.deepEqual(model.byId.get("Tool:GardenShed")?.tools, ["Garden notes"]);
  assert.equal(model.byId.get("Agent:SeasonWatcher")?.role, "agent");
  assert.deepEqual(model.byId.get("Agent:GreenThumb")?.tools, []);
});

test("without places everything is laid out: nothing overlaps, groups hold their children", () => {
  const model = build(dsl({
    begin: ["Begin", ["Loop:A", "LLM:B"]], "LLM:B": ["LLM", ["Message:A"]],
    "Loop:A": ["Loop", ["Message:A"]], "LoopItem:A": ["LoopItem", ["LLM:A"], {}, "Loop:A"], "LLM:A": ["LLM", [], {}, "Loop:A"], "Message:A": ["Message", ["LLM:B"]],
  }));
  assert.equal(model.placed, true);
  const top = model.nodes.filter((node) => !node.parent).map((node) => ({ node, ...sizeOf(node) }));
  for (const a of top) {
    for (const b of top) {
      if (a === b) continue;
      const apart = a.node.x + a.width <= b.node.x || b.node.x + b.width <= a.node.x || a.node.y + a.height <= b.node.y || b.node.y + b.height <= a.node.y;
      assert.ok(apart, `${a.node.id} and ${b.node.id}`);
    }
  }
  const loop = model.byId.get("Loop:A");
  for (const child of model.nodes.filter((node) => node.parent === "Loop:A")) {
    assert.ok(child.x >= 0 && child.y >= 0 && child.x + sizeOf(child).width <= (loop?.width ?? 0) && child.y + sizeOf(child).height <= (loop?.height ?? 0));
  }
});

test("parents that go in circles, lost targets and odd places do not break the picture", () => {
  const canvas = dsl({ begin: ["Begin", ["nowhere", "a"]], a: ["Loop", [], {}, "b"], b: ["Loop", [], {}, "a"] });
  canvas.graph = { nodes: [{ id: "begin", position: { x: Number.NaN, y: 0 } }, null as never, { id: 3 as never }], edges: [null as never, { source: "begin" }] };
  const model = build(canvas);
  assert.equal(model.nodes.length, 3);
  assert.deepEqual(model.edges.map((edge) => edge.target), ["a"]);
});

test("a thousand boxes are placed in seconds, not minutes", () => {
  const boxes = Array.from({ length: 1000 }, (_, i) => ({ id: String(i), width: 200, height: 60 }));
  const edges = boxes.slice(1).map((box, i): [string, string] => [String(Math.floor(i / 3)), box.id]);
  const began = performance.now();
  assert.equal(place(boxes, edges).size, 1000);
  assert.ok(performance.now() - began < 10_000);
});

test("edits lie beside the file, and can be taken back", () => {
  const canvas = dsl({ begin: ["Begin", [], { prologue: "a", mode: "task" }] });
  let edits = new Edits().set(canvas, "begin", "prologue", "b").set(canvas, "begin", "prologue", "bc").set(canvas, "begin", "mode", "conversational");
  assert.deepEqual(edits.changed, { begin: { prologue: "bc", mode: "conversational" } });
  edits = edits.undo().undo();
  assert.equal(edits.canUndo, false);
  assert.equal(edits.apply(canvas), canvas);
  assert.deepEqual(edits.redo().apply(canvas).components["begin"]?.obj.params, { prologue: "bc", mode: "task" });
  assert.equal(canvas.components["begin"]?.obj.params["prologue"], "a");
});

test("a link carries a canvas, and a link that unfolds without end is refused", async () => {
  const text = read("morning-paper.json");
  const fragment = await pack(text);
  assert.match(fragment, /^c=[\w-]+$/);
  assert.equal(await unpack(fragment.slice(2)), text);
  await assert.rejects(unpack((await pack(" ".repeat(25_000_000))).slice(2)), RangeError);
  await assert.rejects(unpack("AAAA"));
});
