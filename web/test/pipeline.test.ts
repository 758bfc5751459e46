// The view of a pipeline: the pieces of each node, and their positions in the source.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Step } from "@easel/engine/state";
import { payloadOf, placeOf } from "../run/pipeline.ts";

const step = (outputs: Record<string, unknown>): Step => ({ outputs }) as unknown as Step;

test("blocks and chunks are lists of pieces, other formats are one text", () => {
  const chunks = [
    { text: "a", doc_type_kwd: "text" },
    { content_with_weight: "b", doc_type_kwd: "table", keywords: ["k"], q_2_vec: [1, 2] },
    "no object",
  ];
  assert.deepEqual(payloadOf(step({ output_format: "chunks", chunks })), {
    format: "chunks",
    pieces: [
      { text: "a", kind: "", extra: [] },
      { text: "b", kind: "table", extra: [["keywords", ["k"]]] },
    ],
  });
  assert.deepEqual(payloadOf(step({ output_format: "markdown", markdown: "# T" }))?.pieces, [
    { text: "# T", kind: "", extra: [] },
  ]);
  assert.equal(payloadOf(step({ file: {} })), undefined);
  assert.equal(payloadOf(undefined), undefined);
});

test("a piece is found in the source despite different marks and spaces", () => {
  const source = "# Returns\n\nGoods can be\nreturned, within **thirty** days.\n\n# End";
  const cut = (piece: string): string | undefined => {
    const at = placeOf(source, piece);
    return at && source.slice(at.from, at.to);
  };
  assert.equal(cut("Goods can be returned within thirty days"), "Goods can be\nreturned, within **thirty** days");
  assert.equal(cut("<td>Returns</td>"), "Returns");
  assert.equal(cut("not there"), undefined);
  assert.equal(cut("***"), undefined);
});

test("a long piece extends from its first words to its last", () => {
  const words = Array.from({ length: 400 }, (_, i) => `word${i}`);
  const source = ["before", ...words, "after"].join(" ");
  const at = placeOf(source, words.join("\n"));
  assert.equal(at && source.slice(at.from, at.to), words.join(" "));
});
