// Markdown of answers: its rendering, and that its time is linear in the length.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { parse } from "../run/markdown.ts";
import { Markdown } from "../view/markdown.tsx";

const html = (text: string): string =>
  renderToStaticMarkup(createElement(Markdown, { text })).replace(/^<div class="markdown">|<\/div>$/g, "");

const drawn: [text: string, html: string][] = [
  ["plain", "<p>plain</p>"],
  ["one\ntwo\n\nthree", "<p>one<br/>two</p><p>three</p>"],
  ["# Title\ntext", '<p class="h h1" role="heading" aria-level="4">Title</p><p>text</p>'],
  ["a **bold *word*** and `code`", "<p>a <strong>bold *word</strong>* and <code>code</code></p>"],
  ["*a* _b_ snake_case_name 2*3*4", "<p><em>a</em> <em>b</em> snake_case_name 2*3*4</p>"],
  ["***both***", "<p>*<strong>both</strong>*</p>"],
  ["open ** and `tick and [x", "<p>open ** and `tick and [x</p>"],
  [
    "[site](https://a.example/x_(y)) ![p](https://a.example/p.png) [no](javascript:x)",
    '<p><a href="https://a.example/x_(y)" target="_blank" rel="noreferrer noopener">site</a> <a ' +
    'href="https://a.example/p.png" target="_blank" rel="noreferrer noopener">p</a> no</p>',
  ],
  ["see [ID:12] and ![", "<p>see [ID:12] and ![</p>"],
  ["- a\n  more\n- b", "<ul><li>a<br/>more</li><li>b</li></ul>"],
  ["1. a\n2) b", "<ol><li>a</li><li>b</li></ol>"],
  ["- - -", "<hr/>"],
  ["> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"],
  ["```js\n> *x*\n```\nafter", '<pre tabindex="0"><code>&gt; *x*</code></pre><p>after</p>'],
  ["```\nunended", '<pre tabindex="0"><code>unended</code></pre>'],
  [
    "| a | b |\n|---|---|\n| 1 | 2 | 3 |",
    '<div class="scroll" tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>' +
    '2</td></tr></tbody></table></div>',
  ],
  ["<b>no</b>", "<p>&lt;b&gt;no&lt;/b&gt;</p>"],
];

for (const [text, expected] of drawn) {
  test(`Markdown is drawn: ${JSON.stringify(text).slice(0, 60)}`, () => assert.equal(html(text), expected));
}

test("quotes are drawn to a bounded depth, and the text of deeper ones is there", () => {
  const quoted = html(">".repeat(5_000) + " deep");
  assert.ok(quoted.split("<blockquote>").length - 1 <= 10);
  assert.match(quoted, /<p>deep<\/p>/);
});

// What a model may repeat, or a stranger may send. Each is repeated to a length.
const hostile = [
  ">",
  "> ",
  "> \n",
  ">\n>",
  "- ",
  "- \n",
  "* - + ",
  "  ",
  "  - x\n",
  "1. ",
  "1",
  "[",
  "]",
  "[]",
  "[](",
  "[](x",
  "[a](b ",
  "![",
  "(",
  "[ID:",
  "[ID:1",
  "`",
  "``` ",
  "```\n",
  "`a",
  "``a",
  "*",
  "**",
  "***",
  "*a",
  "**a",
  "**a*",
  "_",
  "__",
  "_a ",
  "a_",
  "#",
  "# ",
  "###### \n",
  "|",
  "|a",
  "|\n",
  "|-",
  "|\n|-\n",
  "-",
  "_ ",
  "- - ",
  "\n",
  " ",
  "\u2028",
  "# \u2028",
  "x\n",
  "**`[*_![](",
  "\\",
];

const repeated = (part: string, length: number): string => part.repeat(Math.ceil(length / part.length));

function cost(text: string): number {
  const from = process.cpuUsage(); // other programs do not count
  parse(text);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

// 20 times the length is about 20 times the work, or 400 times if it is quadratic. A busy machine
// may disturb one measurement; a parser that is worse than linear fails each.
function linear(part: string, end: string): boolean {
  const [short, long] = [repeated(part, 5_000) + end, repeated(part, 100_000) + end];
  return [1, 2, 3, 4, 5].some(() => cost(long) < 100 * Math.max(cost(short), 0.2));
}

test("no repeated mark overflows the stack or takes more than linear time", () => {
  for (const part of hostile) {
    for (const end of ["", " x", "\n|-", "\u2028x"]) assert.ok(linear(part, end), JSON.stringify(part + end));
  }
});

test("texts of random marks are drawn, whatever they are", () => {
  let seed = 1;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 400; round++) {
    const text = Array.from({ length: 1 + random(60) }, () => hostile[random(hostile.length)]).join("");
    assert.equal(typeof html(text), "string", JSON.stringify(text));
  }
});
