// Runs of a host: their events, events that a takeover withdraws, and their end.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "@easel/engine";
import { Files, type Descriptor } from "../run/files.ts";
import { Records } from "../run/records.ts";
import { Runs, type Takeover } from "../run/remote.ts";
import { serverEvents } from "../run/sse.ts";

const started = (node: string): object => ({
  event: "node_started",
  data: { component_id: node, component_name: node, component_type: "X", inputs: null, created_at: 1, thoughts: "" },
});
const frame = (id: string, name: string, data: object): string =>
  `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

// site responds with a stream of events, and records the requests.
function site(stream: BodyInit): { runs: Runs; asked: [string, string, unknown][] } {
  const asked: [string, string, unknown][] = [];
  const runs = new Runs({
    ask: (method, path, body) => {
      asked.push([method, path, body]);
      return Promise.resolve(
        path.endsWith("/events")
          ? new Response(stream)
          : Response.json({ id: path.endsWith("/sessions") ? "s1" : "r1" }),
      );
    },
  });
  return { runs, asked };
}

test("frames are read completely, wherever the network divides them", async () => {
  const text = ": still here\n\n" + frame("1-2", "a", { text: "é\n" }) + frame("2-5", "b", {});
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(control) {
      for (const byte of bytes) control.enqueue(Uint8Array.of(byte));
      control.close();
    },
  });
  const events = [];
  for await (const event of serverEvents(new Response(body))) events.push(event);
  assert.deepEqual(events, [
    { id: "1-2", name: "a", data: '{"text":"é\\n"}' },
    { id: "2-5", name: "b", data: "{}" },
  ]);
});

test("a takeover withdraws the events from its number on", async () => {
  const { runs } = site(
    frame("1-1", "node_started", started("A")) +
      frame("2-2", "node_started", started("B")) +
      frame("2-3~2", "takeover", { attempt: 2 }) +
      frame("2-4~2", "node_started", started("C")) +
      frame("3-5~2", "end", { status: "succeeded" }),
  );
  const run = runs.stored("r1");
  const records = new Records();
  for await (const event of run) {
    if (event.event === "takeover") records.truncate((event as Takeover).keep);
    else records.push([event as RunEvent]);
  }
  assert.deepEqual(
    records.at(Infinity).steps.map(({ node }) => node),
    ["A", "C"],
  );
  assert.deepEqual(await run.result, { status: "succeeded" });
});

test("a failed run has its reason, and an interrupted stream is not an end", async () => {
  const { runs } = site(frame("1-1", "end", { status: "failed", code: "node", error: "node A: no" }));
  const run = runs.stored("r1");
  for await (const _ of run) assert.fail("the end is no event of the run");
  assert.deepEqual(await run.result, { status: "failed", error: { code: "", message: "node A: no" } });
  const cut = site(frame("1-1", "node_started", started("A"))).runs.stored("r1");
  await assert.rejects(async () => {
    for await (const _ of cut);
  }, /ended the stream/);
  await assert.rejects(cut.result, /ended the stream/);
});

test("questions of a conversation share a session until the revision of the canvas changes", async () => {
  const { runs, asked } = site("");
  const origin = { id: "c1", rev: 3 };
  await runs.start(origin, { query: "a" }).id;
  await runs.start(origin, { query: "b" }).id;
  await runs.start({ ...origin, rev: 4 }, { query: "c" }).id;
  runs.forget();
  await runs.start({ ...origin, rev: 4 }, { query: "d" }).id;
  assert.equal(asked.filter(([, path]) => path.endsWith("/sessions")).length, 3);
  assert.deepEqual(
    asked.filter(([, path]) => path.endsWith("/runs")).map(([, , body]) => body),
    ["a", "b", "c", "d"].map((query) => ({ query, session: "s1" })),
  );
});

test("a run to a node is no turn of the conversation", async () => {
  const { runs, asked } = site("");
  await runs.start({ id: "c1", rev: 3 }, { query: "a", until: "LLM:A" }).id;
  assert.deepEqual(asked.map(([, path, body]) => [path.split("/").at(-1), body]), [
    ["runs", { query: "a", until: "LLM:A" }],
  ]);
});

test("dropping records restores the state after the remaining ones", () => {
  const records = new Records();
  const all = Array.from({ length: 200 }, (_, i) => started(`N${i}`) as RunEvent);
  records.push(all);
  for (const count of [200, 130, 64, 63, 0]) {
    records.truncate(count);
    const fresh = new Records();
    fresh.push(all.slice(0, count));
    assert.deepEqual([records.events.length, records.at(Infinity)], [count, fresh.at(Infinity)]);
    assert.deepEqual(records.at(Math.floor(count / 2)), fresh.at(Math.floor(count / 2)));
  }
});

test("who leaves a run ends its events and not the run", async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const asked: string[] = [];
  const runs = new Runs({
    ask: (method, path, _body, options) => {
      asked.push(`${method} ${path}`);
      signals.push(options?.signal);
      const body = new ReadableStream({
        start: (control) => {
          options?.signal?.addEventListener("abort", () => control.error(new DOMException("left", "AbortError")));
        },
      });
      return Promise.resolve(new Response(body));
    },
  });
  const run = runs.stored("r1");
  const followed = assert.rejects(async () => {
    for await (const _ of run);
  }, /left/);
  await new Promise((resolve) => setTimeout(resolve, 10));
  run.leave();
  await followed;
  assert.equal(signals[0]?.aborted, true);
  assert.deepEqual(asked, ["GET /api/v2/runs/r1/events"]);
});

test("files of the page are stored on the host once, before the question that names them", async () => {
  const asked: [string, unknown][] = [];
  const stored: [string, string][] = [];
  const runs = new Runs(
    { ask: (_method, path, body) => { asked.push([path, body]); return Promise.resolve(Response.json({ id: "r" })); } },
    (canvas, name) => {
      stored.push([canvas, name]);
      if (stored.length === 1) return Promise.reject(new Error("no room"));
      return Promise.resolve({ id: "h1", name, created_by: "me" } as Descriptor);
    },
  );
  const files = new Files(() => Promise.resolve("text"));
  const file = await files.add(new File(["x"], "a.txt"));
  const question = { query: "q", files: [file], inputs: { f: { type: "file", value: [file, { id: "other" }] } } };
  await assert.rejects(runs.start({ id: "c", rev: 1 }, { ...question, inputs: {} }, files).id, /no room/);
  await runs.start({ id: "c", rev: 1 }, question, files).id;
  await runs.resume(runs.stored("r0"), "c", { f: file }, files).id;
  assert.deepEqual(stored, [["c", "a.txt"], ["c", "a.txt"]]);
  const host = { id: "h1", name: "a.txt", created_by: "me" };
  const [, body] = asked.findLast(([path]) => path.endsWith("/runs")) ?? [];
  const { files: sent, inputs } = body as typeof question;
  assert.deepEqual(sent, [host]);
  assert.deepEqual(inputs.f.value, [host, { id: "other" }]);
  assert.deepEqual(asked.at(-1), ["/api/v2/runs/r0/resume", { inputs: { f: host } }]);
});
