// The voice of a chat: what is spoken in one request, and in which order sounds are fetched.

import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOf, passages, speak, transcribe } from "../run/voice.ts";

test("a text is cut where sentences end, and nothing of it is lost", () => {
  assert.deepEqual(passages("One. Two! Three?", 10), ["One. Two!", "Three?"]);
  assert.deepEqual(passages("第一句。第二句！", 5), ["第一句。", "第二句！"]);
  assert.deepEqual(passages("… — \n\n"), [], "nothing to speak");
  const long = "word ".repeat(500);
  const parts = passages(long);
  assert.ok(parts.every((part) => part.length <= 600));
  assert.equal(parts.join(" ").replaceAll(/\s+/g, ""), long.replaceAll(/\s+/g, ""));
  for (const each of passages("😀".repeat(2000))) assert.ok(encodeURIComponent(each));
  assert.deepEqual(passages("It costs 3.20 euros. Yes.", 22), ["It costs 3.20 euros.", "Yes."]);
});

test("the next passage is fetched while one is played, and the signal ends both", async () => {
  const log: string[] = [];
  const ask = async (_method: string, path: string, body: unknown): Promise<Response> => {
    log.push(`fetch ${(body as { text: string }).text.slice(0, 1)}`);
    assert.equal(path, "/api/v2/models/speech");
    return new Response("sound");
  };
  const text = ["a", "b", "c"].map((letter) => letter.repeat(400) + ".").join(" ");
  const stop = new AbortController();
  let played = 0;
  const play = async (): Promise<void> => {
    log.push("play");
    if (++played === 2) stop.abort();
  };
  await assert.rejects(speak({ ask }, text, play, stop.signal), { name: "AbortError" });
  assert.deepEqual(log, ["fetch a", "fetch b", "play", "fetch c", "play"]);
});

test("a failed request ends the speech with its reason", async () => {
  const ask = (): Promise<Response> => Promise.reject(new Error("no speech model is set"));
  const { signal } = new AbortController();
  await assert.rejects(speak({ ask }, "Hello.", async () => undefined, signal), /no speech model/);
});

test("a recording is sent as a file, and the text returns", async () => {
  const sent: FormData[] = [];
  const ask = async (_method: string, _path: string, body: unknown): Promise<Response> => {
    sent.push(body as FormData);
    return Response.json({ text: "hello" });
  };
  assert.equal(await transcribe({ ask }, new Blob(["x"], { type: "audio/webm" })), "hello");
  assert.equal((sent[0]?.get("file") as File).type, "audio/webm");
});

test("each reason of a browser has its words", () => {
  const named = (name: string): Error => Object.assign(new Error(), { name });
  const names = ["NotAllowedError", "NotFoundError", "NotReadableError", "TypeError"];
  const reasons = names.map((name) => faultOf(named(name)));
  assert.deepEqual(reasons, ["refused", "missing", "busy", "failed"]);
});
