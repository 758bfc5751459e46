import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../src/events.ts";
import { conclude, emptyState, reduce, replay } from "../src/state.ts";

const envelope = { message_id: "m", task_id: "t", created_at: 1 };
const node = (id: string) => ({
  component_id: id,
  component_name: id.toLowerCase(),
  component_type: id.split(":")[0] as string,
});
const began: RunEvent = { ...envelope, event: "workflow_started", data: { inputs: null } };
const start = (id: string): RunEvent => ({
  ...envelope,
  event: "node_started",
  data: { ...node(id), inputs: null, created_at: 1, thoughts: "" },
});
const finish = (id: string, error: string | null = null): RunEvent => ({
  ...envelope,
  event: "node_finished",
  data: { ...node(id), inputs: {}, outputs: { x: 1 }, error, elapsed_time: 2, created_at: 3 },
});
const say = (content: string, more = {}): RunEvent => ({ ...envelope, event: "message", data: { content, ...more } });
const end = (data = {}): RunEvent => ({ ...envelope, event: "message_end", data });
const over = (outputs: unknown): RunEvent => ({
  ...envelope,
  event: "workflow_finished",
  data: { inputs: null, outputs, elapsed_time: 1, created_at: 1 },
});

test("a node that runs twice has two steps, and the latest is the second", () => {
  const state = replay([began, start("LLM:A"), finish("LLM:A"), start("LLM:A")]);
  assert.deepEqual(state.steps.map((step) => step.status), ["succeeded", "running"]);
  assert.equal(state.latest["LLM:A"]?.index, 1);
});

test("elements that run at once have steps of their own", () => {
  const at = <E extends RunEvent>(event: E, ...index_path: number[]): E => ({
    ...event, data: { ...event.data, index_path },
  });
  const model = (event: object): RunEvent => ({ ...envelope, ...event }) as RunEvent;
  const state = replay([
    began, start("Iteration:I"),
    at(start("LLM:A"), 0), at(start("LLM:A"), 1), at(start("LLM:A"), 2),
    model({ event: "model_started", data: { component_id: "LLM:A", call: "m/2.1/3/1", model: "m", messages: [] } }),
    at(start("LLM:A"), 3),
    model({
      event: "model_finished", data: { component_id: "LLM:A", call: "m/2.1/3/1", text: "yes", elapsed_time: 1 },
    }),
    at(finish("LLM:A"), 1), at(finish("LLM:A", "bad"), 0),
  ]);
  assert.deepEqual(
    state.steps.slice(1).map((step) => [step.items, step.status, step.models.map((use) => use.text)]),
    [[[0], "failed", []], [[1], "succeeded", ["yes"]], [[2], "running", []], [[3], "running", []]],
  );
});

test("old states stay as they were", () => {
  const before = replay([began, start("LLM:A")]);
  const after = reduce(before, finish("LLM:A"));
  assert.equal(before.steps[0]?.status, "running");
  assert.equal(after.steps[0]?.status, "succeeded");
});

test("reasoning and text become parts of one answer", () => {
  const state = replay([
    began,
    say("", { start_to_think: true }),
    say("hm"),
    say("", { end_to_think: true }),
    say("a"),
    say("b"),
    end(),
    say("c"),
  ]);
  assert.deepEqual(
    state.answers.map((answer) => answer.parts),
    [
      [
        { kind: "think", text: "hm" },
        { kind: "text", text: "ab" },
      ],
      [{ kind: "text", text: "c" }],
    ],
  );
  assert.deepEqual(state.answers.map((answer) => answer.done), [true, false]);
});

test("an end without a message and a finish without a start are ignored", () => {
  const state = replay([began, end(), finish("Tool:A")]);
  assert.equal(state.answers.length, 0);
  assert.equal(state.latest["Tool:A"]?.status, "succeeded");
});

test("a cancel ends open steps", () => {
  const state = replay([began, start("LLM:A"), say("a"), over("Task has been canceled")]);
  assert.equal(state.status, "canceled");
  assert.equal(state.latest["LLM:A"]?.status, "canceled");
  assert.equal(state.answers[0]?.done, true);
});

test("a node that was stopped is canceled, not failed", () => {
  const state = replay([
    began,
    start("LLM:A"),
    finish("LLM:A", "Task has been canceled"),
    over("Task has been canceled"),
  ]);
  assert.equal(state.latest["LLM:A"]?.status, "canceled");
  assert.equal(state.error, undefined);
});

test("conclude sets the status of a failed run, which has no last event", () => {
  const state = conclude(replay([began, start("LLM:A"), finish("LLM:A", "boom"), start("B:A")]), "failed");
  assert.equal(state.status, "failed");
  assert.equal(state.error, "boom");
  assert.equal(state.latest["B:A"]?.status, "canceled");
});

test("a form stays until the next run", () => {
  const form: RunEvent = { ...envelope, event: "user_inputs", data: { inputs: { a: { type: "line" } }, tips: "?" } };
  const state = replay([began, start("UserFillUp:A"), form]);
  assert.equal(state.status, "paused");
  assert.equal(state.latest["UserFillUp:A"]?.status, "paused");
  assert.equal(reduce(state, began).form, undefined);
});

test("tools, models and tokens belong to their step", () => {
  const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
  const state = replay([
    began,
    start("Agent:A"),
    { ...envelope, event: "tool_started", data: { component_id: "Agent:A", tool_name: "search_0", arguments: {} } },
    {
      ...envelope,
      event: "tool_finished",
      data: { component_id: "Agent:A", tool_name: "search_0", arguments: {}, result: "r", elapsed_time: 1 },
    },
    { ...envelope, event: "model_started", data: { component_id: "Agent:A", call: "2", model: "m", messages: [] } },
    {
      ...envelope,
      event: "model_finished",
      data: { component_id: "Agent:A", call: "2", text: "t", usage, elapsed_time: 1 },
    },
  ]);
  assert.equal(state.latest["Agent:A"]?.tools[0]?.result, "r");
  assert.equal(state.latest["Agent:A"]?.models[0]?.text, "t");
  assert.equal(state.usage?.total_tokens, 3);
});

test("variables are updated, unknown events are only counted", () => {
  const state = replay([began,
    { ...envelope, event: "variables_changed", data: { values: { "sys.query": "q" } } },
    { ...envelope, event: "something_new", data: {} } as unknown as RunEvent]);
  assert.equal(state.variables["sys.query"], "q");
  assert.equal(state.count, 3);
});

test("ten thousand events are reduced in seconds of the processor, not minutes", () => {
  const events = Array.from({ length: 2500 }, (_, i) => [
    start(`LLM:${i % 500}`),
    say("x"),
    end(),
    finish(`LLM:${i % 500}`),
  ]).flat();
  const began = process.cpuUsage();
  assert.equal(replay(events, emptyState).count, 10_000);
  assert.ok(process.cpuUsage(began).user < 10e6);
});
