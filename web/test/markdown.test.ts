// Markdown of answers: its rendering, and that the work for hostile text is bounded.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createElement } from "react";
import { renderToStaticMarkup, renderToString } from "react-dom/server";
import { deepest, longestRun, parse, type Block, type Inline } from "../run/markdown.ts";
import Drawn from "../view/drawn.tsx";
import { Markdown } from "../view/markdown.tsx";

const html = (text: string): string => renderToStaticMarkup(createElement(Drawn, { text }));
const site = (label: string, address = "https://a.example/"): string =>
  `<a href="${address}" target="_blank" rel="noreferrer noopener">${label}</a>`;

const drawn: [text: string, html: string][] = [
  ["plain", "<p>plain</p>"],
  ["one\ntwo\n\nthree", "<p>one<br/>two</p><p>three</p>"],
  ["# Title\ntext", '<p class="h h1" role="heading" aria-level="4">Title</p><p>text</p>'],
  ["a **bold *word*** and `code`", "<p>a <strong>bold <em>word</em></strong> and <code>code</code></p>"],
  ["*a* _b_ ~~c~~ snake_case_name 2*3*4", "<p><em>a</em> <em>b</em> <del>c</del> snake_case_name 2<em>3</em>4</p>"],
  ["open ** and `tick and [x", "<p>open ** and `tick and [x</p>"],
  ["[site](https://a.example/x_(y))", `<p>${site("site", "https://a.example/x_(y)")}</p>`],
  ["https://a.example/?a&b.", `<p>${site("https://a.example/?a&amp;b", "https://a.example/?a&amp;b")}.</p>`],
  ["![a **picture**](https://a.example/)", `<p>${site("a <strong>picture</strong>")}</p>`],
  ["![](https://a.example/)", `<p>${site("https://a.example/")}</p>`],
  ["see [ID:12], **[ID:3]**[ID:4] and ![", "<p>see [ID:12], <strong>[ID:3]</strong>[ID:4] and ![</p>"],
  ["- a\n  more\n- b\n  - c", "<ul><li>a<br/>more</li><li>b<ul><li>c</li></ul></li></ul>"],
  ["- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"],
  ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
  ["- [x] done\n- [ ] open", "<ul><li>☑ done</li><li>☐ open</li></ul>"],
  ["- - -", "<hr/>"],
  ["> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"],
  ["```js\n> *x*\n```\nafter", '<pre tabindex="0"><code>&gt; *x*</code></pre><p>after</p>'],
  ["```\nunended", '<pre tabindex="0"><code>unended</code></pre>'],
  [
    "| a | b |\n|---|--:|\n| 1 | 2 | 3 |",
    '<div class="scroll" tabindex="0"><table><thead><tr><th>a</th><th data-align="right">b</th></tr></thead><tbody>' +
      '<tr><td>1</td><td data-align="right">2</td></tr></tbody></table></div>',
  ],
  ["A &amp; B &#60;i&gt; &copy; &#0;", "<p>A &amp; B &lt;i&gt; &amp;copy; \ufffd</p>"],
];

for (const [text, expected] of drawn) {
  test(`Markdown is drawn: ${JSON.stringify(text).slice(0, 60)}`, () => assert.equal(html(text), expected));
}

// Each would run a script, load something or change the page if it became markup or an address.
const unsafe = [
  "<b>no</b>",
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "a <svg onload=alert(1)> b",
  "<div>\n\n**x**\n\n</div>",
  "<!-- -->\n<style>*{display:none}</style>",
  "[a](javascript:alert(1))",
  "[a](JaVaScRiPt:alert(1))",
  "[a](java\tscript:alert(1))",
  "[a](&#106;avascript:alert(1))",
  "[a](javascript&colon;alert(1))",
  "[a](<javascript:alert(1)>)",
  "[a]( \u0001javascript:alert(1))",
  "[a](data:text/html,<script>alert(1)</script>)",
  "[a](vbscript:x) [b](file:///etc/passwd) [c](//a.example) [d](/login)",
  "![a](data:image/svg+xml,<svg onload=alert(1)>)",
  "<javascript:alert(1)>",
  "[a][b]\n\n[b]: javascript:alert(1)",
  '[a](https://a.example "onmouseover=alert(1)")',
  '[a](https://a.example/"onmouseover="alert(1))',
];

for (const text of unsafe) {
  test(`no markup and no unsafe address: ${JSON.stringify(text).slice(0, 60)}`, () => {
    const allowed = /^<\/?(p|br|em|strong|code|pre|ul|ol|li|hr|blockquote)( tabindex="0")?\/?>$/;
    for (const [tag] of html(text).matchAll(/<[^>]*>/g)) {
      const link = /^<a href="(https:[^"]*)" target="_blank" rel="noreferrer noopener">$/.test(tag) || tag === "</a>";
      assert.ok(link || allowed.test(tag), tag);
    }
  });
}

test("a link definition somewhere else changes nothing", () => {
  const address = site("https://a.example/x", "https://a.example/x");
  assert.equal(html("[a]\n\n[a]: https://a.example/x"), `<p>[a]</p><p>[a]: ${address}</p>`);
});

test("until the parser is loaded a text is shown as it is", () => {
  const shown = renderToString(createElement(Markdown, { text: "**a** <b>" }));
  assert.match(shown, /^<div class="markdown">[^]*<p class="plain">\*\*a\*\* &lt;b&gt;<\/p>/);
});

/** depth counts how deep a tree of Markdown is. */
function depth(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Math.max(0, ...Object.values(value).map(depth));
  return Array.isArray(value) ? inner : 1 + inner;
}

const words = (value: unknown): string => JSON.stringify(value).replace(/[^a-z]/g, "");

test("what is nested deeper than the limit is text", () => {
  const nested = {
    quotes: "> ".repeat(10_000) + "deep",
    lists: "- ".repeat(10_000) + "deep",
    numbers: "1. ".repeat(10_000) + "deep",
    brackets: "[".repeat(10_000) + "deep" + "](x)".repeat(10_000),
    links: "[a".repeat(500) + "deep" + "](https://a.example)".repeat(500),
    stars: "*a ".repeat(500) + "deep" + " a*".repeat(500),
    lines: Array.from({ length: 300 }, (_, i) => " ".repeat(2 * i) + "- deep").join("\n"),
  };
  for (const [name, text] of Object.entries(nested)) {
    const tree = parse(text);
    assert.ok(depth(tree) <= 3 * (deepest + 2), `${name}: ${depth(tree)}`);
    assert.match(words(tree), /deep/, name);
  }
});

test("a table has no more cells than its text has room for", () => {
  const wide = "|a".repeat(5_000) + "|\n" + "|-".repeat(5_000) + "|\n" + "|\n".repeat(5_000);
  const cells = (blocks: Block[]): number =>
    blocks.reduce((sum, block) => sum + (block.kind === "table" ? block.rows.flat().length : 0), 0);
  assert.ok(cells(parse(wide)) <= 2 * wide.length);
  const long = "|a|b|c|\n|-|-|-|\n" + "|1|2|3|\n".repeat(10_000);
  assert.equal(cells(parse(long)), 30_000);
  assert.equal(cells(parse("|a|b|\n|-|-|\n|||\n|||\n")), 4, "empty cells are no reason");
});

test("a long paragraph is searched in parts, and keeps all its words", () => {
  const lines = Array.from({ length: 2_000 }, (_, i) => `line ${i} with **strong ${i}** words`);
  const [block, ...rest] = parse(lines.join("\n"));
  assert.deepEqual(rest, []);
  assert.ok(block?.kind === "paragraph");
  const text = (parts: Inline[]): string =>
    parts
      .map((part) => {
        if (typeof part === "string") return part;
        return part.kind === "break" ? "\n" : part.kind === "strong" ? `**${text(part.content)}**` : "?";
      })
      .join("");
  assert.equal(text(block.content), lines.join("\n"));
  const solid = "x".repeat(3 * longestRun);
  assert.deepEqual(parse(solid), [{ kind: "paragraph", content: [solid] }]);
});

// Marks that a model may repeat or a stranger may send. Each is repeated to a length.
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
  "| a |\n|-|-|\n",
  "> a\nb\n",
  "<",
  "<!--",
  "<https:",
  "~~",
  "~a",
  "[a]: ",
  "&#",
  "http://",
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
  const from = process.cpuUsage(); // other programs are not counted
  parse(text);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

// 20 times the length is about 20 times the work, or 400 times if it is quadratic. Processor time
// counts, not time that passes, and a parser that is worse than linear fails each of five attempts.
function linear(part: string, end: string): boolean {
  const [short, long] = [repeated(part, 2_000) + end, repeated(part, 40_000) + end];
  return [1, 2, 3, 4, 5].some(() => cost(long) < 150 * Math.max(cost(short), 1));
}

test("no repeated mark overflows the stack or takes more than linear time", () => {
  for (const part of hostile) {
    for (const end of ["", " x", "\n|-"]) assert.ok(linear(part, end), JSON.stringify(part + end));
  }
});

test("random marks are drawn without an error", () => {
  let seed = 1;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 400; round++) {
    const text = Array.from({ length: 1 + random(60) }, () => hostile[random(hostile.length)]).join("");
    assert.equal(typeof html(text), "string", JSON.stringify(text));
  }
});
