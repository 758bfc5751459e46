// Header lines as rows, from and to the forms that documents have.

import assert from "node:assert/strict";
import { test } from "node:test";
import { badHeader, headersAs, headersOf } from "../canvas/headers.ts";

const accept = { name: "Accept", value: "*/*" };
const key = { name: "X-Key", value: "{{secret:KEY}}" };

test("headers are read from an object and from its JSON text", () => {
  assert.deepEqual(headersOf({ Accept: "*/*", "X-Key": "{{secret:KEY}}" }), [accept, key]);
  assert.deepEqual(headersOf(`{\n  "Accept": "*/*",\n  "X-Key": "{{secret:KEY}}"\n}`), [accept, key]);
  for (const nothing of [undefined, null, "", "  ", "{}", {}]) assert.deepEqual(headersOf(nothing), []);
  const deep = [{ name: "n", value: 1 }, { name: "deep", value: { n: "x" } }];
  assert.deepEqual(headersOf(`{"n": 1, "deep": {"n": "x"}}`), deep);
});

test("other values, and a text with a name twice, are not read", () => {
  for (const text of ["[]", "null", "x", `{"a": "b"`, `Accept: */*`, `{begin@headers}`, `{"a": "1", "a": "2"}`,
    `{"a": "1", "b": {"a": 2}, "\\u0061": "3"}`, `"text"`, "1"]) assert.equal(headersOf(text), undefined, text);
  for (const value of [1, true, [1]]) assert.equal(headersOf(value), undefined);
  assert.deepEqual(headersOf(`{"a": "x\\",\\"a\\":{", "b": "a"}`)?.length, 2, "quotes inside of a value");
});

test("rows are written in the form that was there", () => {
  assert.deepEqual(headersAs({ Old: "x" }, [accept, key]), { Accept: "*/*", "X-Key": "{{secret:KEY}}" });
  assert.deepEqual(headersAs(undefined, [accept]), { Accept: "*/*" });
  assert.equal(headersAs(`{"a": "b"}`, [accept, key]), `{"Accept": "*/*", "X-Key": "{{secret:KEY}}"}`);
  assert.equal(headersAs(`{\n    "a": "b"\n}`, [accept]), `{\n    "Accept": "*/*"\n}`);
  assert.equal(headersAs("", [accept]), `{\n  "Accept": "*/*"\n}`);
  assert.equal(headersAs(`{"a": "b"}`, []), "{}");
});

test("the usual texts of editors come back byte by byte", () => {
  const texts = [
    `{\n  "Accept": "*/*",\n  "Cache-Control": "no-cache",\n  "Connection": "keep-alive"\n}`,
    `{"Accept": "*/*", "X-Quote": "say \\"hi\\""}`, `{\n\t"A": "1"\n}`, `{"数": "值"}`,
  ];
  for (const text of texts) assert.equal(headersAs(text, headersOf(text) ?? assert.fail(text)), text);
});

test("rows that were written are read again, whatever they hold", () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  const letters = [..."aZ9 {}[]\":,\\\n\t'\u2028é数\u{1f600}"];
  const made = (): string => Array.from({ length: random(9) }, () => letters[random(letters.length)]).join("");
  for (let i = 0; i < 2000; i++) {
    const lines = [...new Set(Array.from({ length: random(4) }, made))]
      .filter((name) => !/^\d+$/.test(name)).map((name) => ({ name, value: made() }));
    for (const before of [undefined, "", `{"a": 1}`, `{\n   "a": 1\n}`]) {
      const written = headersAs(before, lines);
      assert.deepEqual(headersOf(written), lines, JSON.stringify(written));
    }
  }
});

test("names of headers have no spaces, colons or other letters", () => {
  assert.deepEqual(["Accept", "X-Key_1", "a.b~c"].filter(badHeader), []);
  assert.equal(["", "a b", "a:", "é", "a\n", "{x}", "(a)"].filter(badHeader).length, 7);
});
