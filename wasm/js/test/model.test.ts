import assert from "node:assert/strict";
import { test } from "node:test";
import { blank, record, replay } from "../src/model/record.ts";
import type { Model, ModelPiece, ModelRequest } from "../src/model/model.ts";
import { openai } from "../src/model/openai.ts";
import { proxy } from "../src/model/proxy.ts";
import { scripted } from "../src/model/scripted.ts";

const request: ModelRequest = {
  model: "tiny@Vendor",
  mode: "stream",
  messages: [{ role: "user", content: "what is blue?" }],
};

async function ask(model: Model, given = request): Promise<ModelPiece[]> {
  const pieces: ModelPiece[] = [];
  for await (const piece of await model.chat(given, { signal: new AbortController().signal })) pieces.push(piece);
  return pieces;
}

const text = (pieces: ModelPiece[]): string => pieces.map((piece) => piece.text ?? "").join("");

test("a script answers each request with the first matching reply", async () => {
  const model = scripted([{ match: "red", text: "no" }, { text: "sky" }]);
  assert.equal(text(await ask(model)), "sky");
  await assert.rejects(ask(model), /script exhausted/);
});

test("a script can fail in the middle", async () => {
  const model = scripted([{ chunks: ["a", { raise: "cut" }] }], { fallback: { text: "again" } });
  await assert.rejects(ask(model), /cut/);
  assert.equal(text(await ask(model)), "again");
});

test("a recording answers the same request again, in order", async () => {
  const tape = blank();
  const live = record(scripted([{ text: "one" }, { text: "two" }]), tape);
  await ask(live);
  await ask(live);
  const again = replay(JSON.parse(JSON.stringify(tape)) as typeof tape);
  assert.deepEqual([text(await ask(again)), text(await ask(again)), text(await ask(again))], ["one", "two", "two"]);
  await assert.rejects(ask(again, { ...request, model: "other" }), /nothing recorded/);
});

function server(lines: string[], check: (url: string, init: RequestInit) => void = () => undefined): typeof fetch {
  return (url, init) => {
    check(String(url), init as RequestInit);
    const body = lines.map((line) => `data: ${line}\r\n\r\n`).join("");
    // Divided at arbitrary positions, as by networks.
    const bytes = new TextEncoder().encode(body);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
        controller.close();
      },
    });
    return Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
  };
}

test("an OpenAI stream becomes pieces, with whole tool calls and usage", async () => {
  const fetch = server(
    [
      '{"choices":[{"delta":{"reasoning_content":"hm"}}]}',
      '{"choices":[{"delta":{"content":"天"}}]}',
      '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"se","arguments":"{\\"q\\""}}]}}]}',
      '{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"arch","arguments":":1}"}}]},' +
      '"finish_reason":"tool_calls"}]}',
      '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}',
      "[DONE]",
    ],
    (url, init) => {
      assert.equal(url, "http://box/v1/chat/completions");
      assert.equal(new Headers(init.headers).get("authorization"), "Bearer secret");
      assert.deepEqual([init.credentials, init.referrerPolicy], ["omit", "no-referrer"]);
      assert.equal((JSON.parse(String(init.body)) as { model: string }).model, "tiny");
    },
  );
  const pieces = await ask(openai({ url: "http://box/v1/", key: "secret", fetch }));
  assert.equal(pieces[0]?.reasoning, "hm");
  assert.equal(text(pieces), "天");
  assert.deepEqual(pieces.at(-1)?.tool_calls, [{ id: "c1", name: "search", arguments: '{"q":1}' }]);
  assert.equal(pieces.find((piece) => piece.usage)?.usage?.total_tokens, 3);
});

test("faults of a model server are reported", async () => {
  const refuse: typeof fetch = () => Promise.resolve(new Response("slow down", { status: 429 }));
  await assert.rejects(ask(openai({ url: "http://box", fetch: refuse })), {
    code: "provider",
    retry: true,
    message: /429: slow down/,
  });
  await assert.rejects(ask(openai({ url: "http://box", fetch: server(["<html>"]) })), /not JSON/);
  await assert.rejects(
    ask(openai({ url: "http://box", fetch: server(['{"error":{"message":"overloaded"}}']) })),
    /overloaded/,
  );
});

test("the host's proxy gets no key", async () => {
  const fetch = server(['{"choices":[{"delta":{"content":"ok"}}]}'], (url, init) => {
    assert.equal(url, "/api/llm/chat/completions");
    assert.equal(new Headers(init.headers).has("authorization"), false);
    assert.deepEqual([init.credentials, new Headers(init.headers).get("x-easel-page")], ["same-origin", "run"]);
    assert.equal(
      (JSON.parse(String(init.body)) as { model: string }).model,
      request.model,
      "the host knows whole names",
    );
  });
  assert.equal(text(await ask(proxy({ fetch }))), "ok");
});
