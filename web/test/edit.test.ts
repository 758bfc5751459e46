// Edits of a canvas: components and graph stay consistent, and each edit can be undone.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { dict, isObject, open, type Dsl } from "../canvas/dsl.ts";
import { aligned } from "../canvas/edit/align.ts";
import { setBranches } from "../canvas/edit/branches.ts";
import { ClipError, copy, paste, read, written } from "../canvas/edit/clip.ts";
import { Draft, setParam } from "../canvas/edit/draft.ts";
import { enclose, groupAt, origin } from "../canvas/edit/groups.ts";
import { addNode, insertBetween, moveNodes, nameNode, removeNodes } from "../canvas/edit/nodes.ts";
import { addNote, writeNote } from "../canvas/edit/notes.ts";
import { referencesOf, renameIds, renameReferences } from "../canvas/edit/references.ts";
import { attach, detach } from "../canvas/edit/tools.ts";
import { orderOf, setOrder } from "../canvas/edit/order.ts";
import { nameVariable, removeVariable, setVariable, variablesOf } from "../canvas/edit/variables.ts";
import { handlesOf } from "../canvas/handles.ts";
import { connect, disconnect, errorHandle, refusal } from "../canvas/edit/wires.ts";
import { build } from "../canvas/model.ts";
import type { CanvasModel } from "../canvas/drawing.ts";
import { apply, invert } from "../canvas/patch.ts";
import { rows } from "../canvas/places.ts";
import { specs } from "./specs.ts";

const examples = new URL("../examples/", import.meta.url);
const modelOf = (dsl: Dsl): CanvasModel => build(dsl, specs);

function fresh(): Draft {
  const draft = new Draft({ components: dict({}), globals: { "sys.query": "" }, variables: {} });
  addNode(draft, specs, "Begin", "begin", { x: 0, y: 0 });
  return draft;
}

test("the order of a canvas is set beside its other settings, and removed", () => {
  const draft = new Draft({ ...fresh().dsl, settings: { limits: { model_calls: 3 } } });
  const before = draft.dsl;
  assert.equal(orderOf(draft.dsl), "auto");
  setOrder(draft, "batch");
  assert.deepEqual(draft.dsl["settings"], { limits: { model_calls: 3 }, scheduling: "batch" });
  assert.equal(orderOf(draft.dsl), "batch");
  undone(before, draft);
  setOrder(draft, "auto");
  assert.deepEqual(draft.dsl["settings"], { limits: { model_calls: 3 } });
  const bare = fresh();
  setOrder(bare, "eager");
  assert.equal(orderOf(bare.dsl), "eager");
  assert.equal(orderOf({ components: dict({}), settings: { scheduling: 7 } }), "auto");
});

// inStep asserts that both lists of edges, the branches and `graph` agree.
function inStep(dsl: Dsl): void {
  for (const [id, component] of Object.entries(dsl.components)) {
    for (const next of component.downstream ?? []) {
      assert.ok(dsl.components[next]?.upstream?.includes(id), `${next} has ${id} upstream`);
    }
    for (const before of component.upstream ?? []) assert.ok(dsl.components[before], `${before} is there`);
  }
  const graph = dsl.graph as { nodes: { id: string }[]; edges: { id: string; source: string; target: string }[] };
  const drawn = new Set(graph.edges.map(({ source, target }) => `${source} ${target}`));
  const model = modelOf(dsl);
  for (const { source, target, role } of model.edges) {
    if (role !== "tool") assert.ok(drawn.has(`${source} ${target}`), `${source} -> ${target} is drawn`);
  }
  for (const { source, target } of graph.edges) {
    const known = model.edges.some((edge) => edge.source === source && edge.target === target);
    assert.ok(known, `${source} -> ${target} is drawn and no edge`);
  }
  assert.equal(new Set(graph.nodes.map(({ id }) => id)).size, graph.nodes.length);
  assert.equal(new Set(graph.edges.map(({ id }) => id)).size, graph.edges.length);
  assert.equal(model.unplaced, false);
}

// undone asserts that the inverse of all changes restores the document.
function undone(before: Dsl, draft: Draft): void {
  assert.equal(JSON.stringify(apply(draft.dsl, invert(draft.changes))), JSON.stringify(before));
}

test("nodes are added with the members that runs need, and deleting one joins its neighbours", () => {
  const draft = fresh();
  const ask = addNode(draft, specs, "LLM", "Ask", { x: 300, y: 0 });
  const say = addNode(draft, specs, "Message", "Say", { x: 600, y: 0 });
  connect(draft, specs, "begin", ask);
  connect(draft, specs, ask, say);
  inStep(draft.dsl);
  assert.match(ask, /^LLM:(?:[A-Z][a-z]+){3}$/);
  assert.deepEqual(draft.params(ask)["outputs"], {
    content: { type: "string", value: "" },
  });
  const removal = new Draft(draft.dsl);
  assert.deepEqual(removeNodes(removal, specs, modelOf(draft.dsl), [ask, "begin"]), [ask], "the start stays");
  inStep(removal.dsl);
  assert.deepEqual(removal.dsl.components["begin"]?.downstream, [say]);
  assert.equal(removal.picture(ask), undefined);
  undone(draft.dsl, removal);
});

test("a new node is inserted into an edge", () => {
  const draft = fresh();
  const say = addNode(draft, specs, "Message", "Say", { x: 600, y: 0 });
  connect(draft, specs, "begin", say);
  const choose = addNode(draft, specs, "Switch", "Choose", { x: 300, y: 0 });
  insertBetween(draft, specs, choose, { source: "begin", target: say });
  inStep(draft.dsl);
  const edges = modelOf(draft.dsl).edges.map(({ source, target, branch }) => [source, target, branch]);
  assert.deepEqual(edges, [
    ["begin", choose, undefined],
    [choose, say, "Case 1"],
  ]);
});

test("impossible edges are refused with a reason", () => {
  const draft = fresh();
  const say = addNode(draft, specs, "Message", "Say", { x: 0, y: 0 });
  const loop = addNode(draft, specs, "Loop", "Again", { x: 0, y: 0 });
  const inside = addNode(draft, specs, "Message", "Inside", { x: 0, y: 0, parent: loop });
  const note = addNote(draft, "Note", { x: 0, y: 0 });
  connect(draft, specs, "begin", say);
  const model = modelOf(draft.dsl);
  const item = model.nodes.find(({ role }) => role === "item")?.id ?? "";
  const refused = [
    [say, say],
    [say, "begin"],
    [say, note],
    ["begin", say],
    [say, inside],
    [loop, inside],
    [inside, item],
  ].map(([from = "", to = ""]) => refusal(model, from, to));
  assert.deepEqual(refused, ["self", "start", "note", "exists", "border", "inside", "item"]);
  assert.equal(refusal(model, item, inside), undefined);
  assert.equal(refusal(model, "begin", say, errorHandle), undefined);
});

test("errors have an edge of their own", () => {
  const draft = fresh();
  const ask = addNode(draft, specs, "LLM", "Ask", { x: 300, y: 0 });
  const sorry = addNode(draft, specs, "Message", "Sorry", { x: 600, y: 0 });
  connect(draft, specs, ask, sorry, errorHandle);
  inStep(draft.dsl);
  assert.equal(draft.params(ask)["exception_method"], "goto");
  assert.deepEqual(
    modelOf(draft.dsl).edges.map(({ role }) => role),
    ["error"],
  );
  const cut = new Draft(draft.dsl);
  disconnect(cut, specs, ask, sorry, errorHandle);
  inStep(cut.dsl);
  assert.deepEqual([cut.params(ask)["exception_goto"], cut.params(ask)["exception_method"]], [[], ""]);
  undone(draft.dsl, cut);
});

test("a category named error is a branch, beside the edge for errors", () => {
  const draft = fresh();
  const sort = addNode(draft, specs, "Categorize", "Sort", { x: 300, y: 0 });
  const [tea, sorry] = ["Tea", "Sorry"].map((name) => addNode(draft, specs, "Message", name, { x: 600, y: 0 }));
  assert.ok(tea && sorry);
  const branch = specs.get("Categorize")?.branches?.[0] ?? assert.fail();
  setBranches(draft, specs, sort, branch, { error: { description: "", to: [] }, Other: { description: "", to: [] } });
  connect(draft, specs, sort, tea, "error");
  connect(draft, specs, sort, sorry, errorHandle);
  inStep(draft.dsl);
  const model = modelOf(draft.dsl);
  const ends = model.edges.map((edge) => `${edge.role} ${edge.target === tea ? "tea" : "sorry"}`);
  assert.deepEqual(ends.sort(), ["error sorry", "flow tea"]);
  const { sources } = handlesOf(model.byId.get(sort) ?? assert.fail());
  assert.equal(new Set(sources).size, sources.length);
});

test("branches are edited with their edges", () => {
  const draft = fresh();
  const sort = addNode(draft, specs, "Categorize", "Sort", { x: 300, y: 0 });
  const [tea, coffee] = ["Tea", "Coffee"].map((name) => addNode(draft, specs, "Message", name, { x: 600, y: 0 }));
  assert.ok(tea && coffee);
  connect(draft, specs, sort, tea, "1");
  const branch = specs.get("Categorize")?.branches?.[0] ?? assert.fail();
  const value = draft.params(sort)["category_description"] as Record<string, object>;
  setBranches(draft, specs, sort, branch, { Tea: value["1"], Coffee: { description: "", to: [] } });
  connect(draft, specs, sort, coffee, "Coffee");
  inStep(draft.dsl);
  const ways = modelOf(draft.dsl).edges.map(({ target, branch: by }) => [target, by]);
  assert.deepEqual(ways, [
    [tea, "Tea"],
    [coffee, "Coffee"],
  ]);
  const fewer = new Draft(draft.dsl);
  setBranches(fewer, specs, sort, branch, {
    Tea: (fewer.params(sort)["category_description"] as Record<string, object>)["Tea"],
  });
  inStep(fewer.dsl);
  assert.deepEqual(fewer.component(sort)?.downstream, [tea]);
  undone(draft.dsl, fewer);
});

test("a category of RAGFlow keeps the handle of its edge when it is renamed", () => {
  const { dsl } = open(
    JSON.stringify({
      components: {
        begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Categorize:A"], upstream: [] },
        "Categorize:A": {
          obj: {
            component_name: "Categorize",
            params: { category_description: { Old: { description: "d", to: ["Message:A"] } } },
          },
          downstream: ["Message:A"],
          upstream: ["begin"],
        },
        "Message:A": {
          obj: { component_name: "Message", params: { content: [] } },
          downstream: [],
          upstream: ["Categorize:A"],
        },
      },
      graph: {
        nodes: [
          { id: "begin", position: { x: 0, y: 0 } },
          {
            id: "Categorize:A",
            position: { x: 0, y: 0 },
            data: { form: { items: [{ name: "Old", uuid: "u-1", extra: 1 }] } },
          },
          { id: "Message:A", position: { x: 0, y: 0 } },
        ],
        edges: [
          { id: "1", source: "begin", target: "Categorize:A" },
          { id: "2", source: "Categorize:A", sourceHandle: "u-1", target: "Message:A" },
        ],
      },
    }),
  );
  const branch = specs.get("Categorize")?.branches?.[0] ?? assert.fail();
  const draft = new Draft(dsl);
  setBranches(draft, specs, "Categorize:A", branch, { New: { description: "d", to: ["Message:A"] } });
  inStep(draft.dsl);
  assert.deepEqual(draft.get(["graph", "nodes", "Categorize:A", "data", "form", "items"]), [
    { name: "New", uuid: "u-1", extra: 1, description: "d" },
  ]);
  assert.deepEqual(
    draft.edges().map(({ id }) => id),
    ["1", "2"],
    "the edge stays",
  );
});

test("nodes are moved into a group and out of it; edges across its border are removed", () => {
  const draft = fresh();
  const loop = addNode(draft, specs, "Iteration", "Each", { x: 200, y: 100 });
  const say = addNode(draft, specs, "Message", "Say", { x: 400, y: 200 });
  connect(draft, specs, "begin", say);
  const model = modelOf(draft.dsl);
  assert.equal(groupAt(model, { x: 400, y: 200 }), loop);
  const inside = new Draft(draft.dsl);
  enclose(inside, specs, model, [say, "begin"], loop);
  inStep(inside.dsl);
  assert.equal(inside.component(say)?.parent_id, loop);
  assert.deepEqual(inside.component("begin")?.downstream, []);
  assert.deepEqual(origin(modelOf(inside.dsl), say), { x: 400, y: 200 });
  const out = new Draft(inside.dsl);
  enclose(out, specs, modelOf(inside.dsl), [say], undefined);
  assert.equal(out.component(say)?.parent_id, undefined);
  assert.deepEqual(origin(modelOf(out.dsl), say), { x: 400, y: 200 });
  undone(inside.dsl, out);
});

test("deleting a group deletes its nodes", () => {
  const draft = fresh();
  const loop = addNode(draft, specs, "Loop", "Again", { x: 200, y: 100 });
  addNode(draft, specs, "Message", "Say", { x: 40, y: 60, parent: loop });
  removeNodes(draft, specs, modelOf(draft.dsl), [loop]);
  assert.deepEqual(Object.keys(draft.dsl.components), ["begin"]);
  inStep(draft.dsl);
});

test("tools and agents are added to agents, each with its box, and removed", () => {
  const draft = fresh();
  const agent = addNode(draft, specs, "Agent", "Desk", { x: 300, y: 0 });
  attach(draft, specs, modelOf(draft.dsl), agent, "Retrieval", "Search");
  attach(draft, specs, modelOf(draft.dsl), agent, "Wikipedia", "Search");
  const inner = attach(draft, specs, modelOf(draft.dsl), agent, "Agent", "Helper") ?? assert.fail();
  attach(draft, specs, modelOf(draft.dsl), inner, "ArXiv", "Papers");
  const model = modelOf(draft.dsl);
  const boxes = model.nodes
    .filter(({ role }) => role === "tool" || role === "agent")
    .map(({ role, name, tools }) => [role, name, tools]);
  assert.deepEqual(boxes, [
    ["tool", "Tools", ["Search", "Search 2"]],
    ["agent", "Helper", []],
    ["tool", "Tools", ["Papers"]],
  ]);
  setParam(draft, inner, "sys_prompt", "Help");
  const tools = draft.params(agent)["tools"] as { id?: string; params: Record<string, unknown> }[];
  assert.equal(tools[2]?.params["sys_prompt"], "Help", "params of an agent inside stand in the agent around it");
  const fewer = new Draft(draft.dsl);
  removeNodes(fewer, specs, model, [inner]);
  detach(fewer, agent, 1);
  detach(fewer, agent, 0);
  assert.deepEqual(fewer.params(agent)["tools"], []);
  assert.deepEqual(
    modelOf(fewer.dsl).nodes.map(({ role }) => role),
    ["node", "node"],
  );
  undone(draft.dsl, fewer);
});

test("copies have new ids and refer to each other", () => {
  const draft = fresh();
  const ask = addNode(draft, specs, "LLM", "Ask", { x: 300, y: 0 });
  const say = addNode(draft, specs, "Message", "Say", { x: 600, y: 0 });
  connect(draft, specs, "begin", ask);
  connect(draft, specs, ask, say);
  setParam(draft, say, "content", [`{${ask}@content} for {sys.query} of {begin@name}`]);
  const clip = read(written(copy(draft.dsl, modelOf(draft.dsl), ["begin", ask, say])));
  const other = fresh();
  const ids = paste(other, specs, clip, { x: 10, y: 20 });
  inStep(other.dsl);
  const [newAsk, newSay] = [ids.get(ask) ?? "", ids.get(say) ?? ""];
  assert.ok(newAsk !== ask && !ids.has("begin"));
  assert.deepEqual(other.component(newAsk)?.downstream, [newSay]);
  assert.deepEqual(other.component(newAsk)?.upstream, [], "an edge to a node that did not come is gone");
  assert.deepEqual(other.params(newSay)["content"], [`{${newAsk}@content} for {sys.query} of {begin@name}`]);
  assert.deepEqual(other.get(["graph", "nodes", newAsk, "position"]), { x: 310, y: 20 });
});

for (const [what, text, code] of [
  ["some text", "hello", "none"],
  ["other JSON", "[1]", "none"],
  ["nothing", "", "none"],
  ["another version", `{"format":"easel/clip","version":2,"components":{},"nodes":[],"edges":[]}`, "damaged"],
  ["a component without params", clipWith({ a: { obj: { component_name: "X" } } }), "damaged"],
  [
    "edges that are no texts",
    clipWith({ a: { obj: { component_name: "X", params: {} }, downstream: [1] } }),
    "damaged",
  ],
  ["places far away", clipWith({}, [{ id: "a", position: { x: 1e9, y: 0 } }]), "damaged"],
  [
    "a deep value",
    clipWith({}, [{ id: "a", position: { x: 0, y: 0 }, data: JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`) }]),
    "damaged",
  ],
  [
    "too many nodes",
    clipWith(
      {},
      Array.from({ length: 1_001 }, (_, i) => ({ id: `n${i}`, position: { x: 0, y: 0 } })),
    ),
    "too_large",
  ],
  ["too much text", " ".repeat(2_000_001), "too_large"],
] as const) {
  test(`${what} on the clipboard is refused`, () => {
    assert.throws(
      () => read(text),
      (err) => err instanceof ClipError && err.code === code,
    );
  });
}

function clipWith(components: object, nodes: object[] = []): string {
  return JSON.stringify({ format: "easel/clip", version: 1, components, nodes, edges: [] });
}

test("names like `__proto__` on the clipboard are harmless", () => {
  const params = `{"__proto__":{"polluted":1}}`;
  const text = `{"format":"easel/clip","version":1,
    "components":{"__proto__":{"obj":{"component_name":"Message","params":${params}}}},
    "nodes":[{"id":"__proto__","position":{"x":0,"y":0}}],"edges":[{"source":"__proto__","target":"constructor"}]}`;
  const draft = fresh();
  const ids = paste(draft, specs, read(text), { x: 0, y: 0 });
  assert.equal(ids.size, 1);
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  inStep(draft.dsl);
});

test("renaming a variable changes all its uses", () => {
  const draft = fresh();
  const say = addNode(draft, specs, "Message", "Say", { x: 600, y: 0 });
  setVariable(draft, { name: "city", type: "string", value: "Paris" });
  setParam(draft, say, "content", ["In {env.city}, not {env.city2}; {{env.city.name}}", "env.city"]);
  nameVariable(draft, "city", "town");
  assert.deepEqual(draft.params(say)["content"], ["In {env.town}, not {env.city2}; {{env.town.name}}", "env.town"]);
  assert.deepEqual(variablesOf(draft.dsl), [{ name: "town", type: "string", value: "Paris" }]);
  assert.equal(draft.dsl.globals?.["env.town"], "Paris");
  removeVariable(draft, "town");
  assert.deepEqual(variablesOf(draft.dsl), []);
});

test("references are found and follow ids and names", () => {
  assert.deepEqual(referencesOf({ a: "{LLM:A@content} {sys.query}", b: ["LLM:B@x.y", "plain", "{not one}"] }), [
    "LLM:A@content",
    "sys.query",
    "LLM:B@x.y",
  ]);
  const ids = new Map([["LLM:A", "LLM:B"]]);
  assert.deepEqual(renameIds({ a: "{LLM:A@x} LLM:A is {LLM:AB@x}", b: "LLM:A@x", c: ["LLM:A"] }, ids), {
    a: "{LLM:B@x} LLM:A is {LLM:AB@x}",
    b: "LLM:B@x",
    c: ["LLM:B"],
  });
  assert.equal(
    renameReferences("{begin@a} {begin@ab} {begin@a.b}", new Map([["begin@a", "begin@$&"]])),
    "{begin@$&} {begin@ab} {begin@$&.b}",
  );
});

test("names, notes and positions are changed in place", () => {
  const draft = fresh();
  const say = addNode(draft, specs, "Message", "Say", { x: 600, y: 0 });
  const note = addNote(draft, "Note", { x: 0, y: -200 });
  writeNote(draft, note, "**read**");
  nameNode(draft, say, "Reply");
  moveNodes(draft, modelOf(draft.dsl), { [say]: { x: 10.4, y: 20 } });
  const model = modelOf(draft.dsl);
  assert.deepEqual(
    [model.byId.get(say)?.name, model.byId.get(say)?.x, model.byId.get(note)?.text],
    ["Reply", 10, "**read**"],
  );
  const places = aligned(model, ["begin", say], "top");
  assert.deepEqual(places, { begin: { x: 0, y: 0 }, [say]: { x: 10, y: 0 } });
  assert.ok(isObject(draft.dsl.graph));
});

test("params that graph repeats are changed there too, and unknown members are kept", () => {
  const { dsl } = open(
    JSON.stringify({
      components: { a: { obj: { component_name: "LLM", params: { sys_prompt: "x", other: 1 }, more: 2 }, "x-own": 3 } },
      graph: {
        nodes: [{ id: "a", position: { x: 0, y: 0 }, data: { form: { sys_prompt: "x", layout: 7 } }, own: 4 }],
        edges: [],
      },
    }),
  );
  const draft = new Draft(dsl);
  setParam(draft, "a", "sys_prompt", "y");
  assert.equal(JSON.stringify(draft.dsl), JSON.stringify(dsl).replaceAll(`"sys_prompt":"x"`, `"sys_prompt":"y"`));
});

test("boxes that an edit does not change stay the same objects", () => {
  const draft = fresh();
  const say = addNode(draft, specs, "Message", "Say", { x: 600, y: 0 });
  const before = modelOf(draft.dsl);
  moveNodes(draft, before, { [say]: { x: 700, y: 0 } });
  const after = build(draft.dsl, specs, undefined, before);
  assert.equal(after.byId.get("begin"), before.byId.get("begin"));
  assert.notEqual(after.byId.get(say), before.byId.get(say));
});

test("a canvas drawn after a change of params is that of a whole drawing, and its edges stay the same list", () => {
  for (const file of readdirSync(examples)) {
    const { dsl } = open(readFileSync(new URL(file, examples), "utf8"));
    const places = build(dsl, specs).unplaced ? rows(build(dsl, specs).nodes) : undefined;
    const draft = new Draft(dsl);
    let before = build(dsl, specs, places);
    for (const [id, component] of Object.entries(dsl.components)) {
      for (const [name, value] of Object.entries({ ...component.obj.params, sys_prompt: "", tools: [] })) {
        for (const next of [otherThan(value), value]) {
          setParam(draft, id, name, next);
          const after = build(draft.dsl, specs, places, before);
          assert.deepEqual(after, build(draft.dsl, specs, places), `${file}: ${id}/${name}`);
          if (name === "sys_prompt") assert.equal(after.edges, before.edges, `${file}: ${id}`);
          before = after;
        }
      }
    }
  }
});

// otherThan returns a value of the same shape with another content.
function otherThan(value: unknown): unknown {
  if (typeof value === "string") return value + " {begin@query} x";
  if (typeof value === "number") return value + 1;
  if (Array.isArray(value)) return value.slice(1);
  return isObject(value) ? Object.fromEntries(Object.entries(value).slice(1)) : !value;
}

test("agents below an agent have names that no other node has", () => {
  const draft = fresh();
  const agent = addNode(draft, specs, "Agent", "Agent", { x: 300, y: 0 });
  const other = addNode(draft, specs, "Agent", "Agent 3", { x: 600, y: 0 });
  const first = attach(draft, specs, modelOf(draft.dsl), agent, "Agent", "Agent") ?? assert.fail();
  attach(draft, specs, modelOf(draft.dsl), agent, "Agent", "Agent");
  attach(draft, specs, modelOf(draft.dsl), first, "Agent", "Agent");
  attach(draft, specs, modelOf(draft.dsl), other, "Wikipedia", "Agent");
  const model = modelOf(draft.dsl);
  const names = model.nodes.filter(({ role }) => role === "agent").map(({ name }) => name);
  assert.deepEqual(names, ["Agent 2", "Agent 4", "Agent 5"]);
  assert.deepEqual(model.nodes.find(({ role }) => role === "tool")?.tools, ["Agent"], "a tool may have such a name");
});
