// Markdown that streams: the same result as for the whole text, with bounded work for each piece.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Growing, small } from "../run/growing.ts";
import { parse, type Block } from "../run/markdown.ts";

const paragraph = "Some **strong** words and a [link](https://a.example/) in a line.\n";
const texts: Record<string, string> = {
  paragraphs: `${paragraph}\n`,
  "one paragraph": paragraph,
  "one line": "words without an end ",
  list: "- an item with *words*\n",
  "loose list": "1. an item\n\n   with a paragraph\n\n",
  table: "| a | b |\n",
  code: "let x = 1;\n",
  quote: "> a quote\n",
};

/** answer returns a text of about the length. */
function answer(name: string, length: number): string {
  const head = { table: "| x | y |\n|---|---|\n", code: "```js\n" }[name] ?? "";
  const part = texts[name] as string;
  return (head + part.repeat(Math.ceil(length / part.length))).slice(0, length);
}

/** streamed reads a text in pieces and returns the number of characters that were parsed. */
function streamed(text: string, pieces: number): { parsed: number; blocks: Block[] } {
  let parsed = 0;
  const growing = new Growing((part) => {
    parsed += part.length;
    return parse(part);
  });
  for (let i = 1; i < pieces; i++) growing.read(text.slice(0, Math.round((text.length * i) / pieces)), true);
  return { parsed, blocks: growing.read(text).flat() };
}

for (const name of Object.keys(texts)) {
  test(`an answer of 100 KB in 1,000 pieces is parsed in linear work: ${name}`, () => {
    const [short, long] = [streamed(answer(name, 50_000), 500), streamed(answer(name, 100_000), 1_000)];
    const bound = (length: number, pieces: number): number => 11 * length + pieces * small;
    assert.ok(long.parsed <= bound(100_000, 1_000), `${long.parsed} characters`);
    assert.ok(long.parsed <= 2.5 * short.parsed, `${short.parsed} and ${long.parsed} characters`);
    assert.deepEqual(long.blocks, new Growing().read(answer(name, 100_000)).flat());
  });
}

test("sections that have ended are not parsed and not drawn again", () => {
  const growing = new Growing();
  const first = growing.read("# Title\n\nOne.\n\nTw", true);
  const second = growing.read("# Title\n\nOne.\n\nTwo.\n\nThree", true);
  assert.equal(first.length, 2, "the last line may still become an item of a list");
  assert.equal(second.length, 3);
  assert.equal(second[0], first[0]);
});

test("the unfinished end of long code is in the code", () => {
  const growing = new Growing();
  const begun = "```\n" + "x\n".repeat(small);
  growing.read(begun, true);
  const [blocks] = growing.read(begun + "y\nz", true);
  assert.deepEqual(blocks, [{ kind: "code", text: "x\n".repeat(small) + "y\nz" }]);
  assert.deepEqual(growing.read(begun + "y\nz"), [blocks]);
});

test("the unfinished end of a long section is plain until the answer ends", () => {
  const growing = new Growing();
  const begun = "- item\n".repeat(small / 5);
  growing.read(begun, true);
  assert.deepEqual(growing.read(begun + "- **la", true)[0]?.at(-1), { kind: "plain", text: "- **la" });
  assert.deepEqual(growing.read(begun + "- **last**"), [parse(begun + "- **last**")]);
});

test("another text in its place is read from its start", () => {
  const growing = new Growing();
  growing.read("```\ncode\n\nOne", true);
  assert.deepEqual(growing.read("Two\n\nThree\n").flat(), parse("Two\n\nThree\n"));
});

// Parts whose boundaries matter: they open and end blocks.
const parts = [
  "words", " ", "\n", "\n\n", "- ", "1. ", "> ", "# ", "```", "```\n", "~~~\n", "  ", "    ", "| a |\n|---|\n",
  "| b |\n", "---\n", "===\n", "*", "**", "`", "[x](https://a.example)", "\r\n", "[ID:1]",
];

test("a text gives the same blocks however it arrives", () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 500; round++) {
    const text = Array.from({ length: 1 + random(40) }, () => parts[random(parts.length)]).join("");
    const growing = new Growing();
    for (let at = 0; at < text.length; at += 1 + random(9)) growing.read(text.slice(0, at), true);
    assert.deepEqual(growing.read(text), new Growing().read(text), JSON.stringify(text));
  }
});

test("text in sections gives the blocks of the whole text", () => {
  const text = [
    "# Title", "One\ntwo.", "- a\n\n  more\n\n- b\n  ```\n  code\n\n  code\n  ```", "```\nx\n\n\ny\n```", "> q\n\n> r",
    "1. a\n\n\n2. b", "Last **words**",
  ].join("\n\n");
  assert.deepEqual(new Growing().read(text).flat(), parse(text));
  assert.ok(new Growing().read(text).length >= 5);
});
