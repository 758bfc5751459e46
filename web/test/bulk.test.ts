// Acts on many documents in pieces, and metadata as people write it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bulk, piece, type Bulk } from "../run/bulk.ts";
import { textOf, typeOf, valueOf } from "../run/metadata.ts";

const ids = (count: number): string[] => Array.from({ length: count }, (_, i) => `d${i}`);

test("an act that fails in the middle says what was done, and the rest can be repeated", async () => {
  const seen: Bulk[] = [];
  let requests = 0;
  const act = async (documents: string[]): Promise<{ accepted: number; refused: never[] }> => {
    if (++requests === 3) throw new Error("500");
    return { accepted: documents.length, refused: [] };
  };
  const first = await bulk(ids(5 * piece), act, (state) => seen.push(state));
  assert.deepEqual([first.done, first.left.length, first.running], [2 * piece, 3 * piece, false]);
  assert.match(String(first.fault), /500/);
  assert.deepEqual(seen.map(({ done }) => done), [0, piece, 2 * piece, 2 * piece]);
  const second = await bulk(first.left, act, () => undefined);
  assert.deepEqual([second.done, second.left.length, second.fault], [3 * piece, 0, undefined]);
});

test("refused documents are named, and what was done before counts as done", async () => {
  const refused = [
    { document: "d0", code: "changed", message: "is queued" },
    { document: "d1", code: "not_found", message: "is gone" },
  ];
  const { done, refused: named } = await bulk(ids(3), async () => ({ accepted: 1, refused }), () => undefined, [
    "not_found",
  ]);
  assert.deepEqual([done, named.map(({ document }) => document)], [2, ["d0"]]);
});

test("metadata is read by its type, and nothing is guessed", () => {
  assert.deepEqual(
    [typeOf("a"), typeOf(3), typeOf("2026-11-28"), typeOf("2026-13-40"), typeOf(["a", 1])],
    ["text", "number", "date", "text", "list"],
  );
  assert.deepEqual(valueOf("list", " a, b，c "), ["a", "b", "c"]);
  assert.equal(valueOf("number", "1e3"), 1000);
  const wrong = [
    ["number", "ten"], ["number", "1e999"], ["date", "28.11.2026"], ["date", "2026-02-30"],
    ["text", " "], ["list", ","],
  ] as const;
  for (const [type, text] of wrong)
    assert.equal(valueOf(type, text), undefined, `${type} ${text}`);
  assert.equal(valueOf("text", "007"), "007");
  assert.equal(textOf(["a", 1]), "a, 1");
});
