// Groups grow with their content, what goes in and out keeps the flow, and copies have own titles.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Draft } from "../canvas/edit/draft.ts";
import { build } from "../canvas/model.ts";
import type { Dsl } from "../canvas/dsl.ts";
import { sizeOf } from "../canvas/places.ts";
import { Editing, type Editable } from "../run/editing.ts";
import { specs } from "./specs.ts";

const start: Dsl = {
  components: { begin: { obj: { component_name: "Begin", params: {} }, downstream: [], upstream: [] } },
  graph: {
    nodes: [{ id: "begin", type: "beginNode", position: { x: 0, y: 0 }, data: { label: "Begin", name: "Start" } }],
    edges: [],
  },
} as unknown as Dsl;

type Drawn = NonNullable<ReturnType<Editable["document"]["get"]>>;

function stage(): { editing: Editing; now(): Drawn } {
  let now: Drawn = { dsl: start, model: build(start, specs) };
  const editing = new Editing({
    specs: { get: () => specs }, document: { get: () => now }, drawing: (dsl) => build(dsl, specs),
    layout: () => Promise.resolve({}),
    act(change) {
      const draft = new Draft(now.dsl);
      const made = change(draft, now);
      now = { dsl: draft.dsl, model: build(draft.dsl, specs) };
      return made;
    },
  });
  return { editing, now: () => now };
}

const flows = ({ model }: Drawn): string[] => {
  const title = (id: string): string => model.byId.get(id)?.name ?? id;
  return model.edges.map(({ source, target }) => `${title(source)} > ${title(target)}`).toSorted();
};

test("a group and the groups around it grow with a step that is added or moved to the border", () => {
  const { editing, now } = stage();
  const outer = editing.add("Iteration", "Outer", { at: { x: 300, y: 0 } }) ?? assert.fail();
  const before = sizeOf(now().model.byId.get(outer) ?? assert.fail());
  const inner = editing.add("Loop", "Inner", { at: { x: 400, y: 120 } }) ?? assert.fail();
  assert.equal(now().model.byId.get(inner)?.parent, outer);
  const room = (id: string): { width: number; height: number } => sizeOf(now().model.byId.get(id) ?? assert.fail());
  assert.ok(room(outer).width >= 100 + room(inner).width + 16 && room(outer).width > before.width);
  const say = editing.add("Message", "Say", { at: { x: 500, y: 250 } }) ?? assert.fail();
  assert.equal(now().model.byId.get(say)?.parent, inner);
  editing.move({ [say]: { x: 700, y: 400 } }, false);
  assert.equal(room(inner).width, 700 + sizeOf(now().model.byId.get(say) ?? assert.fail()).width + 16);
  assert.ok(room(inner).height > 400);
  assert.ok(room(outer).width >= 100 + room(inner).width + 16, "the outer one too");
});

test("a group that has room keeps its size", () => {
  const { editing, now } = stage();
  const group = editing.add("Iteration", "Each", { at: { x: 300, y: 0 } }) ?? assert.fail();
  editing.add("Message", "Say", { at: { x: 480, y: 60 } });
  const { width, height } = now().model.byId.get(group) ?? assert.fail();
  assert.deepEqual([width, height], [620, 280]);
});

test("a step that goes into a group leaves the flow through the group, and out of it the flow inside", () => {
  const { editing, now } = stage();
  const [say, end] = ["Say", "End"].map((name, i) =>
    editing.add("Message", name, { at: { x: 300 + 300 * i, y: 600 } }) ?? assert.fail());
  assert.ok(say && end);
  const agent = editing.add("LLM", "Think", { at: { x: 300, y: 800 } }) ?? assert.fail();
  const group = editing.add("Iteration", "Each", { at: { x: 0, y: 1000 } }) ?? assert.fail();
  editing.disconnect({ source: "begin", target: say });
  editing.connect({ source: "begin", target: agent });
  editing.connect({ source: agent, target: end });
  assert.deepEqual(flows(now()), ["Start > Think", "Think > End"]);
  const item = now().model.nodes.find(({ role }) => role === "item")?.name ?? "";
  assert.equal(editing.move({ [agent]: { x: 200, y: 1100 } }, true), 2);
  assert.equal(now().model.byId.get(agent)?.parent, group);
  assert.deepEqual(flows(now()), ["Each > End", `${item} > Think`, "Start > Each"].toSorted());
  const last = editing.add("Message", "Last", { after: { node: agent } }) ?? assert.fail();
  assert.equal(now().model.byId.get(last)?.parent, group);
  assert.equal(editing.move({ [agent]: { x: 200, y: -900 } }, true), 2);
  assert.deepEqual(flows(now()), ["Each > End", `${item} > Last`, "Start > Each"].toSorted());
});

test("steps that go into a group together, or out of it, keep the edges between them", () => {
  const { editing, now } = stage();
  const [a, b, end] = ["A", "B", "End"].map((name, i) =>
    editing.add("LLM", name, { at: { x: 300 + 300 * i, y: 600 } }) ?? assert.fail());
  assert.ok(a && b && end);
  const group = editing.add("Iteration", "Each", { at: { x: 0, y: 1000 } }) ?? assert.fail();
  for (const { source, target } of now().model.edges) editing.disconnect({ source, target });
  for (const [source, target] of [["begin", a], [a, b], [b, end]] as const) editing.connect({ source, target });
  const item = now().model.nodes.find(({ role }) => role === "item")?.name ?? "";
  editing.move({ [a]: { x: 100, y: 1100 }, [b]: { x: 360, y: 1100 } }, true);
  assert.deepEqual([a, b].map((id) => now().model.byId.get(id)?.parent), [group, group]);
  assert.deepEqual(flows(now()), ["A > B", "Each > End", `${item} > A`, "Start > Each"].toSorted());
  editing.move({ [a]: { x: 100, y: -900 }, [b]: { x: 400, y: -900 } }, true);
  assert.deepEqual([a, b].map((id) => now().model.byId.get(id)?.parent), [undefined, undefined]);
  assert.deepEqual(flows(now()), ["A > B", "Each > End", "Start > Each"].toSorted());
});

test("a group does not go into a group that it contains", () => {
  const { editing, now } = stage();
  const outer = editing.add("Iteration", "Outer", { at: { x: 300, y: 0 } }) ?? assert.fail();
  const inner = editing.add("Loop", "Inner", { at: { x: 400, y: 60 } }) ?? assert.fail();
  assert.equal(now().model.byId.get(inner)?.parent, outer);
  editing.move({ [outer]: { x: 320, y: 10 } }, true);
  assert.equal(now().model.byId.get(outer)?.parent, undefined);
  assert.equal(now().model.byId.get(inner)?.parent, outer);
});

test("copies have titles that no other step has, also those inside of groups", () => {
  const { editing, now } = stage();
  const group = editing.add("Iteration", "Each", { at: { x: 300, y: 0 } }) ?? assert.fail();
  editing.add("Message", "Say", { at: { x: 480, y: 60 } });
  const text = editing.copied([group]) ?? assert.fail();
  editing.paste(text);
  editing.paste(text);
  const titles = now().model.nodes.filter(({ role }) => role !== "item").map(({ name }) => name).toSorted();
  assert.deepEqual(titles, ["Each", "Each 2", "Each 3", "Say", "Say 2", "Say 3", "Start"]);
  const third = now().model.nodes.find(({ name }) => name === "Say 3")?.id ?? "";
  editing.paste(editing.copied([third]) ?? assert.fail());
  assert.ok(now().model.nodes.some(({ name }) => name === "Say 4"), "with the next number");
});

test("a setting of several steps is one step, and what differs stays", () => {
  const { editing, now } = stage();
  const ids = ["A", "B"].map((name, i) => editing.add("LLM", name, { at: { x: 300, y: 400 * i } }) ?? assert.fail());
  editing.each(ids, { max_retries: 3 });
  assert.deepEqual(ids.map((id) => now().model.byId.get(id)?.params["max_retries"]), [3, 3]);
});
