// Help: an example for each component in both languages, and guides whose sections are found.

import assert from "node:assert/strict";
import { test } from "node:test";
import { anchorOf, find, partsOf, type Guide } from "../run/guides.ts";
import { inEnglish } from "../words/docs.ts";
import { examples } from "../words/examples.ts";
import { specs } from "./specs.ts";

test("every component has an example in both languages, and no other is listed", () => {
  const names = [...new Set([...specs.values()].map(({ name }) => name))];
  assert.deepEqual(Object.keys(examples).toSorted(), names.toSorted());
  for (const [name, { en, zh }] of Object.entries(examples)) {
    assert.ok(en.length > 20 && !/\p{Script=Han}/u.test(en.replace("连续三年分红的银行股", "")), name);
    assert.match(zh, /\p{Script=Han}/u, name);
    assert.ok(Math.max(en.length, zh.length) <= 200, `${name}: an example is short`);
  }
});

const guide: Guide = {
  id: "g", group: "use", title: "Guide",
  text: "Before.\n\n## Limits of `x`\n\nA [word](#docs=g/a) here.\n\n```\n## no heading\n```\n\n" +
    "## Limits of `x`\n\n| a | b |\n| - | - |\n| needle | two |\n",
};

test("a guide is divided at its headings, and equal headings have different anchors", () => {
  const found = partsOf(guide).map(({ anchor, level }) => [anchor, level]);
  assert.deepEqual(found, [["", 1], ["limits-of-x", 2], ["limits-of-x-1", 2]]);
  assert.match(partsOf(guide)[1]?.text ?? "", /## no heading/);
  assert.equal(anchorOf("PUT /api/v2, and 中文!"), "put-apiv2-and-中文");
});

test("lines of a paragraph are one, those of lists, tables and code are not", () => {
  const text = "One\nparagraph\nof `x`\n\n- a\n- b\n\n| t |\n| - |\n| 1 |\n\n```\nc\nd\n```\n1. one\n2. two\n";
  const [part] = partsOf({ id: "t", group: "use", title: "T", text });
  assert.equal(part?.text.replace(/\n+$/, "\n"), text.replace("One\nparagraph\nof", "One paragraph of"));
});

test("sections are found by all words, those with them in the heading first", () => {
  assert.deepEqual(find([guide], "needle two").map(({ part, snippet }) => [part.anchor, snippet]), [
    ["limits-of-x-1", "a b needle two"],
  ]);
  assert.deepEqual(find([guide], "limits").map(({ part }) => part.anchor), ["limits-of-x", "limits-of-x-1"]);
  assert.deepEqual(find([guide], "  "), []);
  assert.deepEqual(find([guide], "needle absent"), []);
});

test("a Chinese search finds what the English guides have", () => {
  assert.equal(inEnglish("backup"), "backup");
  assert.equal(inEnglish("知识库 备份"), "dataset backup");
  assert.equal(inEnglish("流水线"), "pipeline", "longer words come before those inside of them");
  const guide: Guide = { id: "a", group: "operate", title: "Operate",
    text: "# Backup\n\nHow to back up: easel backup.\n" };
  assert.equal(find([guide], "备份").length, 0);
  assert.equal(find([guide], inEnglish("备份")).length, 1);
});
