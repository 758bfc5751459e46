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

/** raw is a server that sends a body as it is. */
function raw(body: string, type = "text/event-stream"): typeof fetch {
  return () => Promise.resolve(new Response(body, { headers: { "content-type": type } }));
}

const said = '{"choices":[{"delta":{"content":"he"}}]}';
const rest = '{"choices":[{"delta":{"content":"llo"},"finish_reason":"stop"}]}';
const shapes: Record<string, string> = {
  "a BOM": `\ufeffdata: ${said}\n\ndata: ${rest}\n\n`,
  "CR alone": `data: ${said}\r\rdata: ${rest}\r\r`,
  "one newline between events": `data:${said}\ndata:${rest}\n`,
  "data over several lines": `data: {"choices":\ndata: [{"delta":{"content":"hello"}}]}\n\n`,
  "comments and words": `: busy\n\ndata: ping\n\ndata: : x\n\ndata: null\n\ndata: ${said}\n\ndata: ${rest}\n\n`,
  "choices null": `data: {"choices":null}\n\ndata: ${said}\n\ndata: ${rest}\n\n`,
  "whole JSON": '{"choices":[\n{"message":{"content":"hello"},"finish_reason":"stop"}]}',
  "JSON lines": `${said}\n${rest}\n`,
  "parts": 'data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"no"}]},' +
    '{"type":"text","text":"hello"}]}}]}\n\n',
  "numbers as text": 'data: {"id":7,"created":"x","choices":[{"index":"0","delta":{"content":"hello"},' +
    '"finish_reason":1}]}\n\n',
};

for (const [name, body] of Object.entries(shapes)) {
  test(`a model server sends ${name}`, async () => {
    assert.equal(text(await ask(openai({ url: "http://box", fetch: raw(body) }))), "hello");
  });
}

test("a stream ends after its finish reason although the connection stays open", async () => {
  const open: typeof fetch = () => {
    const stream = new ReadableStream<Uint8Array>({
      start(controller) { controller.enqueue(new TextEncoder().encode(`data: ${said}\n\ndata: ${rest}\n\n`)); },
    });
    return Promise.resolve(new Response(stream));
  };
  assert.equal(text(await ask(openai({ url: "http://box", fetch: open }))), "hello");
});

test("errors of a model server have its reason in every form", async () => {
  for (const body of [
    '{"error":"overloaded"}', '[{"error":{"message":"overloaded"}}]', '{"detail":"overloaded"}',
    `data: ${said}\n\ndata: {"error":{"message":"overloaded"}}\n\n`,
    'data: {"choices":[{"delta":{},"finish_reason":"error","error":{"message":"overloaded"}}]}\n\n',
  ]) {
    await assert.rejects(ask(openai({ url: "http://box", fetch: raw(body) })), /overloaded/, body);
  }
});

test("parallel calls stay separate, and attached members come back", async () => {
  const call = (id: string, args: string): string =>
    `data: {"choices":[{"delta":{"reasoning_content":"x","tool_calls":[{"index":0,"id":"${id}",` +
    `"extra_content":{"sign":"${id}"},"function":{"name":"f","arguments":${args}}}]}}]}\n\n`;
  const body = call("a", '{"q":1}') + call("b", '"{\\"q\\":2}"');
  const pieces = await ask(openai({ url: "http://box", fetch: raw(body) }));
  const last = pieces.at(-1);
  assert.deepEqual(last?.tool_calls, [
    { id: "a", name: "f", arguments: '{"q":1}' }, { id: "b", name: "f", arguments: '{"q":2}' },
  ]);
  let sent = "";
  const again: typeof fetch = (_, init) => {
    sent = String(init?.body);
    return raw(`data: ${rest}\n\n`)("", {});
  };
  const calls = last.tool_calls?.map(({ id, name, arguments: args }) => ({
    id, type: "function", function: { name, arguments: args },
  }));
  const message = { role: "assistant", content: "", tool_calls: calls, opaque: last.opaque };
  await ask(openai({ url: "http://box", fetch: again }), { ...request, messages: [message] });
  assert.match(sent, /"reasoning_content":"xx"/);
  assert.match(sent, /"extra_content":\{"sign":"b"\}/);
  assert.doesNotMatch(sent, /opaque/);
});

test("an answer that ends in rubbish, or has no message, is an error", async () => {
  const begun = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
  for (const [body, want] of [
    [begun + "data: <html>502</html>\n\n", /not JSON/], ['{"choices": 3}', /no message/], ["null", /no message/],
  ] as const) {
    await assert.rejects(ask(openai({ url: "http://box", fetch: raw(body) })), want, body);
  }
  const ended = begun + "data: <html>\n\ndata: [DONE]\n\n";
  assert.equal((await ask(openai({ url: "http://box", fetch: raw(ended) })))[0]?.text, "a");
});
