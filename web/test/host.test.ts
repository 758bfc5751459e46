// The list of the host's canvases: searches that overlap, and what makes the list outdated.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Host, type HostCanvas } from "../run/host.ts";

before(() => {
  (globalThis as { location?: unknown }).location = { origin: "https://easel.example" };
});

const named = (title: string): HostCanvas => ({ id: title, title, description: "", permission: "me", updated: "" });

// serve returns a host whose answers to searches are sent by `answer`.
function serve(): { host: Host; answer(words: string): void; asked: string[] } {
  const waiting = new Map<string, () => void>();
  const asked: string[] = [];
  const host = new Host((input) => {
    const { pathname, searchParams } = new URL(String(input));
    if (pathname !== "/api/v2/canvases") return Promise.resolve(Response.json({ csrf: "proof", id: "new" }));
    const words = searchParams.get("keywords") ?? "";
    asked.push(words);
    return new Promise((resolve) => {
      waiting.set(words, () => resolve(Response.json({ items: [named(words)], total: 1 })));
    });
  });
  return { host, answer: (words) => waiting.get(words)?.(), asked };
}

test("the list is that of the last search, whichever is answered last", async () => {
  const { host, answer } = serve();
  const [first, last] = [host.find("to"), host.find("town")];
  answer("town");
  await last;
  answer("to");
  await first;
  const { canvases, found } = host.state.get();
  assert.deepEqual([canvases.map(({ title }) => title), found], [["town"], "town"]);
});

test("the answer to a search does not reach the next person", async () => {
  const { host, answer } = serve();
  const first = host.find("town");
  void host.connect("key of another person");
  answer("town");
  await first;
  assert.deepEqual(host.state.get().canvases, []);
});

test("a stored canvas makes the list outdated", async () => {
  const { host, answer } = serve();
  const search = host.find("town");
  answer("town");
  await search;
  assert.equal(host.state.get().found, "town");
  await host.save({ id: "1", rev: 1 }, "{}");
  assert.equal(host.state.get().found, undefined);
});

test("a search that waits for its answer is not sent again, and one that is answered is", async () => {
  const { host, answer, asked } = serve();
  const both = [host.find("town"), host.find(" town ")];
  answer("town");
  await Promise.all(both);
  const again = host.find("town");
  answer("town");
  await again;
  assert.deepEqual(asked, ["town", "town"]);
});
