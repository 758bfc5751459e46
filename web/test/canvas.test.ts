// The canvas model: opening, building, laying out, editing, linking.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { CanvasError, dict, hasOnlyGraph, open, type Dsl } from "../canvas/dsl.ts";
import { Draft, setParam } from "../canvas/edit/draft.ts";
import { History } from "../canvas/history.ts";
import { pack, unpack } from "../canvas/link.ts";
import { build } from "../canvas/model.ts";
import { rows, sizeOf } from "../canvas/places.ts";
import { summaryOf } from "../canvas/summary.ts";
import { apart, unhidden } from "./apart.ts";
import { specs } from "./specs.ts";

const examples = new URL("../examples/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, examples), "utf8");

function dsl(components: Record<string, [kind: string, downstream?: string[], params?: object, parent?: string]>): Dsl {
  return {
    components: dict(
      Object.fromEntries(
        Object.entries(components).map(([id, [kind, downstream = [], params = {}, parent]]) => [
          id,
          {
            obj: { component_name: kind, params: params as Record<string, unknown> },
            downstream,
            ...(parent ? { parent_id: parent } : {}),
          },
        ]),
      ),
    ),
  };
}

test("a template, a DSL and a DSL as text open in the same way", () => {
  const bare = { components: { begin: { obj: { component_name: "Begin", params: {} }, downstream: [] } } };
  const shapes = [bare, { title: { en: "T" }, dsl: bare }, { title: "T", dsl: JSON.stringify(bare) }];
  for (const shape of shapes) assert.deepEqual(Object.keys(open(JSON.stringify(shape)).dsl.components), ["begin"]);
});

test("exports with only a graph are recognised in every wrapping, and no files of others", () => {
  const graph = { nodes: [{ id: "begin", data: { label: "Begin", form: {} } }], edges: [] };
  for (const file of [graph, { graph, globals: {} }, { graph, components: {} }, { graph, components: null }]) {
    for (const each of [file, { title: "x", dsl: file }, { dsl: JSON.stringify(file) }])
      assert.ok(hasOnlyGraph(JSON.stringify(each)), JSON.stringify(each));
  }
  const whole = { graph, components: { begin: {} } };
  const n8n = { nodes: [{ id: "a", type: "x" }], connections: {} };
  const others = [whole, { dsl: whole }, n8n, { graph: { nodes: [] } }, { graph: [] }, { nodes: "x" }, [], 1, null];
  for (const file of others)
    assert.ok(!hasOnlyGraph(JSON.stringify(file)), JSON.stringify(file));
  assert.ok(!hasOnlyGraph("{"));
  assert.ok(!hasOnlyGraph('{"dsl":"{"}'));
});

test("the engine gets the text of a canvas unchanged, also from inside another object", () => {
  const inner = `{ "components":{"begin":{"obj":{"component_name":"Begin","params":{"n":9007199254740993, ` +
    `"s":"a\\"}{,","x":[1.0,{"y":"\\\\"}]}}}}, "dsl":3 }`;
  for (const text of [
    inner,
    `{"title":"dsl","dsl": ${inner} ,"rev":1}`,
    `{"dsl":{"components":{}},"a":["}"],"d\\u0073l":${inner}}`,
  ]) {
    assert.equal(open(text).text, inner);
  }
});

test("files of Dify and n8n are recognised, whatever their content", () => {
  const refused = (text: string): [string, string] => {
    try {
      open(text);
    } catch (err) {
      if (err instanceof CanvasError) return [err.code, err.detail];
    }
    return ["", ""];
  };
  const n8n = { name: "Mail to sheet", nodes: [{ type: "n8n-nodes-base.emailReadImap" }], connections: {} };
  assert.deepEqual(refused(JSON.stringify(n8n)), ["n8n", "Mail to sheet"]);
  assert.deepEqual(refused(JSON.stringify({ kind: "app", app: { name: "Desk" }, workflow: {} })), ["dify", "Desk"]);
  const yaml = "app:\n  description: ''\n  mode: advanced-chat\n  name: 'Support desk'\nkind: app\nversion: 0.1.5\n";
  assert.deepEqual(refused(yaml), ["dify", "Support desk"]);
  assert.equal(refused("kind: appliance\n")[0], "not_json");
  assert.equal(refused(JSON.stringify({ nodes: [1, null], connections: {} }))[0], "not_canvas");
  assert.equal(refused(JSON.stringify({ kind: "app", app: null }))[0], "dify");
});

test("a file that is not a canvas is refused with its reason", () => {
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
  assert.equal(reason(`{"dsl": {"components": {}, "x": ${"[".repeat(50_000)}${"]".repeat(50_000)}}}`), "too_deep");
});

for (const file of readdirSync(examples)) {
  test(`${file} is drawn at its positions, in both languages, with edges between existing nodes`, () => {
    const { dsl: canvas, title, description } = open(read(file));
    assert.deepEqual(Object.keys(title), ["en", "zh"]);
    assert.deepEqual(Object.keys(description), ["en", "zh"]);
    const model = build(canvas, specs);
    assert.equal(model.unplaced, false);
    for (const edge of model.edges) assert.ok(model.byId.has(edge.source) && model.byId.has(edge.target), edge.id);
    for (const [id, component] of Object.entries(canvas.components)) {
      for (const next of component.downstream ?? [])
        assert.ok(canvas.components[next]?.upstream?.includes(id), `${id} -> ${next}`);
    }
  });
}

test("branches are separate edges, labelled with their condition", () => {
  const model = build(
    dsl({
      begin: ["Begin", ["Switch:A"]],
      "Switch:A": [
        "Switch",
        ["Message:A", "Message:B"],
        {
          conditions: [
            { logical_operator: "and", items: [{ cpn_id: "begin@n", operator: ">", value: "1" }], to: ["Message:A"] },
          ],
          end_cpn_ids: ["Message:B"],
        },
      ],
      "Message:A": ["Message"],
      "Message:B": ["Message"],
    }),
    specs,
  );
  assert.deepEqual(
    model.edges.filter((edge) => edge.source === "Switch:A").map((edge) => [edge.branch, edge.target]),
    [
      ["Case 1", "Message:A"],
      ["end_cpn_ids", "Message:B"],
    ],
  );
  assert.equal(model.byId.get("Switch:A")?.branches[0]?.label, "n > 1");
});

test("tools and agents of an agent get boxes if the graph has them", () => {
  const { dsl: canvas } = open(read("garden-desk.json"));
  const model = build(canvas, specs);
  assert.equal(model.byId.get("Tool:GardenShed")?.role, "tool");
  assert.deepEqual(model.byId.get("Tool:GardenShed")?.tools, ["Garden notes"]);
  assert.equal(model.byId.get("Agent:SeasonWatcher")?.role, "agent");
  assert.deepEqual(model.byId.get("Agent:GreenThumb")?.tools, []);
});

test("without an engine nodes are placed in rows: nothing overlaps, groups contain their children", () => {
  const canvas = dsl({
    begin: ["Begin", ["Loop:A", "LLM:B"]],
    "LLM:B": ["LLM", ["Message:A"]],
    "Loop:A": ["Loop", ["Message:A"]],
    "LoopItem:A": ["LoopItem", ["LLM:A"], {}, "Loop:A"],
    "LLM:A": ["LLM", [], {}, "Loop:A"],
    "Message:A": ["Message", ["LLM:B"]],
  });
  const unplaced = build(canvas, specs);
  assert.equal(unplaced.unplaced, true);
  const model = build(canvas, specs, rows(unplaced.nodes));
  assert.equal(model.unplaced, false);
  apart(model);
});

test("tool boxes and notes without a position are placed beside their node", () => {
  const canvas = dsl({
    begin: ["Begin", ["Agent:A"]],
    "Agent:A": ["Agent", [], { tools: [{ component_name: "Retrieval", params: {} }] }],
  });
  canvas.graph = {
    nodes: [
      { id: "begin", position: { x: 0, y: 0 } },
      { id: "Agent:A", position: { x: 300, y: 0 } },
      { id: "Tool:A", type: "toolNode" },
      { id: "Note:A", type: "noteNode" },
    ],
    edges: [{ source: "Agent:A", target: "Tool:A" }],
  };
  const model = build(canvas, specs);
  const [agent, tool, note] = ["Agent:A", "Tool:A", "Note:A"].map((id) => model.byId.get(id));
  assert.ok(
    agent &&
      tool &&
      note &&
      tool.y > agent.y + sizeOf(agent).height &&
      tool.x === agent.x &&
      note.y + sizeOf(note).height < 0,
  );
});

for (const name of ["shop", "order", "guide", "plugins/stock"]) {
  test(`the example ${name} of the host is laid out`, () => {
    const text = readFileSync(new URL(`../../host/examples/${name}.json`, import.meta.url), "utf8");
    const model = build(open(text).dsl, specs);
    assert.equal(model.unplaced, false);
    apart(model);
    unhidden(model);
    const inner = model.nodes.flatMap((node) => (node.role === "agent" ? [node.name] : []));
    assert.deepEqual(inner, name === "guide" ? ["Packing Helper"] : []);
  });
}

test("cyclic parents, missing targets and invalid positions do not prevent drawing", () => {
  const canvas = dsl({ begin: ["Begin", ["nowhere", "a"]], a: ["Loop", [], {}, "b"], b: ["Loop", [], {}, "a"] });
  canvas.graph = {
    nodes: [{ id: "begin", position: { x: Number.NaN, y: 0 } }, null as never, { id: 3 as never }],
    edges: [null as never, { source: "begin" }],
  };
  const model = build(canvas, specs);
  assert.equal(model.nodes.length, 3);
  assert.deepEqual(model.edges.map((edge) => edge.target), ["a"]);
});

test("ids like `constructor` are ids like others, and do not pollute prototypes", () => {
  const text = `{"components": {"begin": {"obj": {"component_name": "Begin", "params": {"__proto__": {"polluted": 1}}}, "downstream": ["constructor", "__proto__", "toString"]},
    "__proto__": {"obj": {"component_name": "Message", "params": {}}, "downstream": [], "parent_id": "hasOwnProperty"}}, "__proto__": {"polluted": 1}}`;
  const { dsl: canvas } = open(text);
  const model = build(canvas, specs, { ["__proto__"]: { x: 5, y: 6 } });
  assert.deepEqual(model.nodes.map((node) => node.id).toSorted(), ["__proto__", "begin"]);
  assert.deepEqual(model.edges.map((edge) => edge.target), ["__proto__"]);
  assert.equal(model.byId.get("__proto__")?.x, 5);
  const draft = new Draft(canvas);
  setParam(draft, "__proto__", "polluted", true);
  setParam(draft, "constructor", "polluted", true);
  setParam(draft, "begin", "__proto__", { polluted: 2 });
  assert.equal(draft.dsl.components["__proto__"]?.obj.params["polluted"], true);
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
});

test("edits are separate from the file, and can be undone", () => {
  const canvas = dsl({ begin: ["Begin", [], { prologue: "a", mode: "task" }] });
  const set = (history: History, name: string, value: string): History => {
    const draft = new Draft(history.dsl);
    setParam(draft, "begin", name, value);
    return history.act({ changes: draft.changes, key: name });
  };
  let history = set(set(set(new History(canvas), "prologue", "b"), "prologue", "bc"), "mode", "conversational");
  assert.deepEqual(history.edited("begin"), { prologue: "bc", mode: "conversational" });
  const more = dsl({ begin: ["Begin", [], {}], "LLM:A": ["LLM", [], { temperature: 1 }] });
  const change = { path: ["components"], before: canvas.components, after: more.components };
  const added = new History(canvas).act({ changes: [change] });
  assert.deepEqual(added.edited("LLM:A"), {}, "a new node has no settings to compare with");
  history = history.undo().undo();
  assert.equal(history.canUndo, false);
  assert.deepEqual(history.dsl, canvas);
  assert.deepEqual(history.redo().dsl.components["begin"]?.obj.params, { prologue: "bc", mode: "task" });
  assert.equal(canvas.components["begin"]?.obj.params["prologue"], "a");
});

test("a link contains a canvas, and a link that decompresses without end is refused", async () => {
  const text = read("morning-paper.json");
  const fragment = await pack(text);
  assert.match(fragment, /^c=[\w-]+$/);
  assert.equal(await unpack(fragment.slice(2)), text);
  await assert.rejects(unpack((await pack(" ".repeat(25_000_000))).slice(2)), RangeError);
  await assert.rejects(unpack("AAAA"));
});

test("a card names variables as the editors do", () => {
  const names: Record<string, string> = { "LLM:A": "Draft", begin: "Start" };
  const line = (text: string): unknown =>
    summaryOf(specs.get("Message"), { content: [text] }, (id) => names[id] ?? id)[0];
  assert.equal(line("{LLM:A@content} of {sys.query} in {env.tone}"), "Draft · content of sys · query in env · tone");
  assert.equal(line("LLM:A@content, begin@amount"), "Draft · content, Start · amount");
  assert.equal(line("help@example.com"), "help@example.com");
});
