// The checks before publishing a canvas, the changes of restoring a version, and chats after a
// lost connection.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "../canvas/compare.ts";
import type { Dsl } from "../canvas/dsl.ts";
import { isListed } from "../run/model-names.ts";
import { lacking } from "../run/release.ts";
import { chatAddress, widgetTag, type Embed } from "../run/snippets.ts";
import { ChatError, framesOf, type Frame, type Stream } from "../widget/client.ts";
import { Conversation } from "../widget/conversation.ts";
import { colorOf, inkOn, ofAddress } from "../widget/options.ts";

const canvas = (nodes: Record<string, [kind: string, params: object, to?: string[]]>): Dsl =>
  ({
    components: Object.fromEntries(
      Object.entries(nodes).map(([id, [kind, params, to = []]]) => [
        id,
        { obj: { component_name: kind, params }, downstream: to, upstream: [] },
      ]),
    ),
  }) as unknown as Dsl;

test("missing models and secrets are found, also in the tools of an agent", () => {
  const dsl = canvas({
    a: ["Agent", { tools: [{ params: { llm_id: "gpt@OpenAI" } }] }],
    b: ["Invoke", { headers: "Bearer {{secret:API_KEY}} {{secret:there}}" }],
  });
  const there = { models: new Set(["other", "offline"]), secrets: new Set(["there"]) };
  const found = lacking(dsl, there).map(({ severity, kind, node, text }) => [severity, kind, node, text]);
  assert.deepEqual(found, [
    ["error", "model", "a", "gpt@OpenAI"],
    ["error", "secret", "b", "API_KEY"],
  ]);
  const alone = lacking(dsl, { ...there, models: new Set(["offline"]) });
  assert.equal(alone[0]?.kind, "no_model");
});

test("a model is found by its name, its provider and its instance, or at a provider that accepts every name", () => {
  const models = ["small@Local", "large@west@OpenAI", "*@Groq"];
  for (const id of ["small@Local", "small", "small@local", "large@OpenAI", "large@west@OpenAI", "any@Groq"]) {
    assert.ok(isListed(models, id), id);
  }
  for (const id of ["small@OpenAI", "large@Local", "any@Elsewhere"]) assert.ok(!isListed(models, id), id);
  assert.ok(!isListed(["small@Local"], "large"));
  assert.ok(isListed(["small@Local", "gpt-4@OpenAI"], "gpt-4@OpenAI"), "an alias of the configuration");
  assert.ok(isListed(["small@Local", "*"], "gpt-4@OpenAI"), "an alias for all other ids");
});

test("a comparison names nodes, settings and connections", () => {
  const before = canvas({ a: ["Begin", {}, ["b"]], b: ["LLM", { sys_prompt: "old", top_p: 1 }] });
  const after = canvas({ a: ["Begin", {}, ["c"]], b: ["LLM", { sys_prompt: "new", top_p: 1 }], c: ["Message", {}] });
  const { nodes, edges } = compare(before, after);
  assert.deepEqual(
    nodes.map(({ id, change }) => [id, change]),
    [
      ["b", "changed"],
      ["c", "added"],
    ],
  );
  assert.deepEqual(nodes[0]?.settings, [{ name: "sys_prompt", before: "old", after: "new" }]);
  assert.deepEqual(
    edges.map(({ from, to, change }) => [from, to, change]),
    [
      ["a", "c", "added"],
      ["a", "b", "removed"],
    ],
  );
});

test("embed code contains the chosen options, escaped, and the token is not in requests for the page", () => {
  const embed: Embed = {
    host: "https://h.example",
    agent: "id",
    token: "t",
    color: "#ff0000",
    side: "left",
    language: "zh",
    title: 'Ask "us"',
    files: false,
  };
  const tag = widgetTag(embed);
  for (const part of ['data-title="Ask &quot;us&quot;"', 'data-position="left"', 'data-files="off"'])
    assert.ok(tag.includes(part), part);
  const address = new URL(chatAddress(embed));
  assert.equal(address.search, "");
  const options = ofAddress(address);
  assert.deepEqual(
    [options.agent, options.token, options.color, options.title, options.published],
    ["id", "t", "#ff0000", 'Ask "us"', true],
  );
  assert.equal(colorOf("red;} body{display:none"), "#1f6470");
  assert.deepEqual([inkOn("#ffd400"), inkOn("#1f6470")], ["#000000", "#ffffff"]);
});

const started = {
  event: "workflow_started",
  message_id: "m",
  task_id: "r",
  created_at: 1,
  session_id: "s",
  data: { inputs: null },
};
const said = { ...started, event: "message", data: { content: "hello" } };
const over = {
  ...started,
  event: "workflow_finished",
  data: { inputs: null, outputs: {}, elapsed_time: 1, created_at: 1 },
};

async function* some(...frames: object[]): AsyncGenerator<Frame> {
  for (const frame of frames) yield frame as Frame;
}

test("a lost stream is read again from its start, and the question is sent once", async () => {
  const calls: string[] = [];
  const client = {
    ask: async (): Promise<Stream> => {
      calls.push("ask");
      return { run: "r", frames: some(started, said) };
    },
    follow: async (run: string): Promise<Stream> => {
      calls.push(`follow ${run}`);
      if (calls.length === 2) throw new ChatError("unreachable", "", true);
      return { run, frames: some(started, said, said, over) };
    },
    cancel: async () => undefined,
  };
  const talk = new Conversation(
    client,
    "k",
    () => undefined,
    undefined,
    async () => undefined,
  );
  await talk.ask({ query: "hi" });
  assert.deepEqual(calls, ["ask", "follow r", "follow r"]);
  const [turn] = talk.turns;
  assert.deepEqual([turn?.phase, turn?.state.answers[0]?.parts], ["done", [{ kind: "text", text: "hellohello" }]]);
});

test("frames are read however the bytes are divided", async () => {
  const bytes = new TextEncoder().encode(
    `data:${JSON.stringify(said)}\n\n: still here\n\ndata: ${JSON.stringify({ ...said, data: { content: "你好" } })}\n\n`,
  );
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const texts: unknown[] = [];
  for await (const { data } of framesOf(body)) texts.push((data as { content: string }).content);
  assert.deepEqual(texts, ["hello", "你好"]);
});
