// The checks before publishing a canvas, the changes of restoring a version, and chats after a
// lost connection.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import type { Reference } from "@easel/engine";
import { compare } from "../canvas/compare.ts";
import type { Dsl } from "../canvas/dsl.ts";
import { isListed, type HostModel } from "../run/model-names.ts";
import { lacking } from "../run/release.ts";
import { signingNode, signingPython } from "../run/signing.ts";
import { chatAddress, widgetTag, type Embed } from "../run/snippets.ts";
import { ChatError, Client, framesOf, type Frame, type Question, type Stream } from "../widget/client.ts";
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

test("missing secrets are found, also in the tools of an agent, and that there is no model", () => {
  const dsl = canvas({
    a: ["Agent", { tools: [{ params: { llm_id: "gpt@OpenAI" } }] }],
    b: ["Invoke", { headers: "Bearer {{secret:API_KEY}} {{secret:there}}" }],
  });
  const there = { models: new Set(["other", "offline"]), secrets: new Set(["there"]) };
  const found = lacking(dsl, there).map(({ severity, kind, node, text }) => [severity, kind, node, text]);
  assert.deepEqual(found, [
    ["error", "secret", "b", "API_KEY"],
  ]);
  const alone = lacking(dsl, { ...there, models: new Set(["offline"]) });
  assert.equal(alone[0]?.kind, "no_model");
});

test("a model is found by its name, its provider and its instance, or at a provider that accepts every name", () => {
  const named = (...ids: string[]): HostModel[] =>
    ids.map((id) => ({ id, provider: id.slice(id.lastIndexOf("@") + 1), provider_aliases: [] }));
  const models = named("small@Local", "large@west@OpenAI", "*@Groq");
  for (const id of ["small@Local", "small", "small@local", "large@OpenAI", "large@west@OpenAI", "any@Groq"]) {
    assert.ok(isListed(models, id), id);
  }
  assert.ok(isListed(models, "SMALL"), "in another case");
  for (const id of ["small@OpenAI", "large@Local", "any@Elsewhere"]) assert.ok(!isListed(models, id), id);
  assert.ok(!isListed(named("small@Local"), "large"));
  assert.ok(isListed(named("small@Local", "gpt-4@OpenAI"), "gpt-4@OpenAI"), "an alias of the configuration");
  assert.ok(isListed(named("small@Local", "*"), "gpt-4@OpenAI"), "an alias for all other ids");
  const qwen = { id: "qwen-max@Tongyi-Qianwen", provider: "Tongyi-Qianwen", provider_aliases: ["Qwen"] };
  assert.ok(isListed([qwen], "qwen-max@qwen"), "another name of the provider");
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
  assert.match(widgetTag(embed, true), /data-user-id="USER_ID"\s+data-user-signature="SIGNATURE"\s+defer><\/script>$/);
  assert.doesNotMatch(tag, /data-user/);
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
      return { run: "r", session: "s", frames: some(started, said) };
    },
    follow: async (run: string, session: string): Promise<Stream> => {
      calls.push(`follow ${run} of ${session}`);
      if (calls.length === 2) throw new ChatError("unreachable", "", true);
      return { run, session, frames: some(started, said, said, over) };
    },
    cancel: async () => undefined,
    latest: async () => undefined,
  };
  const talk = new Conversation(
    client,
    "k",
    () => undefined,
    undefined,
    async () => undefined,
  );
  await talk.ask({ query: "hi" });
  assert.deepEqual(calls, ["ask", "follow r of s", "follow r of s"]);
  const [turn] = talk.turns;
  assert.deepEqual([turn?.phase, turn?.state.answers[0]?.parts], ["done", [{ kind: "text", text: "hellohello" }]]);
});

test("a signed visitor continues the last conversation of another device, unless it was dropped here", async () => {
  const asked: (string | undefined)[] = [];
  let recalled = 0;
  const client = {
    ask: async ({ session }: Question): Promise<Stream> => {
      asked.push(session);
      return { run: "r", session: session || "new", frames: some({ ...started, session_id: session || "new" }, over) };
    },
    follow: async (): Promise<Stream> => Promise.reject(new Error("not followed")),
    cancel: async () => undefined,
    latest: async () => {
      recalled++;
      return {
        id: "other-device",
        messages: [
          { role: "assistant", content: "Welcome" },
          { role: "user", content: "hello" },
          { role: "assistant", content: "hi [1]", reference: { chunks: {}, doc_aggs: {} } as Reference },
        ],
      };
    },
  };
  const place = new Map<string, string>();
  const storage = {
    getItem: (key: string) => place.get(key) ?? null,
    setItem: (key: string, value: string) => void place.set(key, value),
    removeItem: (key: string) => void place.delete(key),
  };
  const open = async (): Promise<Conversation> => {
    const talk = new Conversation(client, "k", () => undefined, storage);
    await talk.restore();
    return talk;
  };
  const talk = await open();
  const [turn] = talk.turns;
  assert.deepEqual([turn?.query, turn?.phase, turn?.state.answers[0]?.parts[0]?.text], ["hello", "done", "hi [1]"]);
  assert.ok(turn?.state.answers[0]?.reference);
  await talk.ask({ query: "more" });
  assert.deepEqual((await open()).turns.length, 2, "the tab keeps it");
  talk.restart();
  const fresh = await open();
  assert.deepEqual([fresh.turns.length, recalled], [0, 1], "a dropped conversation is not recalled");
  await fresh.ask({ query: "fresh" });
  assert.deepEqual(asked, ["other-device", ""]);
});

test("a conversation that cannot be continued begins again when it is tried again", async () => {
  const asked: (string | undefined)[] = [];
  const client = {
    ask: async ({ session }: Question): Promise<Stream> => {
      asked.push(session);
      if (session) throw new ChatError("over");
      return { run: "r", session: "s", frames: some(started, said, over) };
    },
    follow: async (): Promise<Stream> => Promise.reject(new Error("not followed")),
    cancel: async () => undefined,
    latest: async () => undefined,
  };
  const talk = new Conversation(client, "k", () => undefined);
  await talk.ask({ query: "one" });
  await talk.ask({ query: "two" });
  assert.deepEqual([talk.turns[1]?.phase, talk.turns[1]?.fault], ["failed", "over"]);
  await talk.again();
  assert.deepEqual([talk.turns[1]?.phase, asked], ["done", ["", "s", ""]]);
});

test("requests of a chat prove whose they are, and a wrong signature has its own words", async () => {
  const seen: string[] = [];
  let answer = (): Response => Response.json({ code: 0, data: { sessions: [] } });
  const real = globalThis.fetch;
  globalThis.fetch = (async (url: URL, init: RequestInit) => {
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as Record<string, unknown>) : {};
    seen.push(`${url.pathname}${url.search} ${String(body["user_id"])} ${String(body["user_signature"])}`);
    return answer();
  }) as typeof fetch;
  try {
    const address = "https://h/agent/chat#agent=a&token=t&language=en";
    const anonymous = new Client({ ...ofAddress(new URL(address)), user: "claimed" });
    const signed = new Client(ofAddress(new URL(`${address}&user_id=u%201&user_signature=9.f`)));
    const { signal } = new AbortController();
    assert.equal(await anonymous.latest(), undefined);
    assert.equal(await signed.latest(), undefined);
    await anonymous.cancel("r", "s");
    await signed.cancel("r", "s");
    answer = () => Response.json({ code: 108, message: "user_signature expired at noon" }, { status: 403 });
    await assert.rejects(signed.ask({ query: "x" }, signal), { word: "unsigned" });
    answer = () => Response.json({ code: 102, message: "Session not found!" });
    await assert.rejects(anonymous.follow("r", "s", signal), { word: "over" });
    answer = () => new Response("", { status: 403 });
    await assert.rejects(anonymous.ask({ query: "x" }, signal), { word: "refused" });
  } finally {
    globalThis.fetch = real;
  }
  const proof = "user_id=u+1&user_signature=9.f";
  assert.deepEqual(seen, [
    `/0.27/api/v1/agentbots/a/sessions?${proof}&page_size=1 undefined undefined`,
    "/0.27/api/v1/tasks/r/cancel?session_id=s undefined undefined",
    `/0.27/api/v1/tasks/r/cancel?${proof} undefined undefined`,
    "/0.27/api/v1/agentbots/a/completions u 1 9.f",
    "/0.27/api/v1/agentbots/a/events/r?session_id=s undefined undefined",
    "/0.27/api/v1/agentbots/a/completions claimed undefined",
  ]);
});

test("the programs for the server of a site sign as the host checks", async (t) => {
  process.env["EASEL_SIGNING_SECRET"] = "secret of the token";
  const canvas = "0123abcd";
  const users = ["ann", "日本 \"x\"", "a\nb", "1"];
  const module = `data:text/javascript,${encodeURIComponent(signingNode(canvas))}`;
  const { userSignature } = (await import(module)) as { userSignature(user: string): string };
  const lines = ["import json, sys", "print(json.dumps([user_signature(u) for u in json.load(sys.stdin)]))"];
  const python = [signingPython(canvas), ...lines].join("\n");
  const signed = [users.map((user) => userSignature(user))];
  if (spawnSync("python3", ["--version"]).status === 0) {
    const written = execFileSync("python3", ["-c", python], { input: JSON.stringify(users), encoding: "utf8" });
    signed.push(JSON.parse(written) as string[]);
  } else {
    t.diagnostic("the Python program is not run: there is no python3 here");
  }
  for (const list of signed) {
    for (const [i, signature] of list.entries()) {
      const [expires = "", mac] = signature.split(".");
      const text = `${canvas}\n${expires}\n${users[i]}`;
      assert.equal(mac, createHmac("sha256", "secret of the token").update(text).digest("hex"));
      const hours = (Number(expires) - Date.now() / 1000) / 3600;
      assert.ok(hours > 23 && hours <= 24, signature);
    }
  }
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
