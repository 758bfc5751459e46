// The words of the areas, and their addresses.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { unreadOf } from "../view/knowledge/unread.tsx";
import { en } from "../words/areas.en.ts";
import { zh } from "../words/areas.zh.ts";
import { texts as connect } from "../words/connect.ts";
import { texts as home } from "../words/home.ts";
import { texts as settings } from "../words/settings.ts";
import { texts as tests } from "../words/tests.ts";

test("the areas have the same texts in both languages, with the same placeholders", () => {
  assert.deepEqual(Object.keys(zh), Object.keys(en));
  const places = (text: string): string[] => [...text.matchAll(/\{\d\}/g)].map(([place]) => place).sort();
  for (const [key, text] of Object.entries(en)) assert.deepEqual(places(zh[key as keyof typeof en]), places(text), key);
  const latin = Object.entries(zh).filter(
    ([key, text]) => !/\p{Script=Han}/u.test(text) && !/^[\s\p{P}\d{}]*$/u.test(text) && key !== "dataset.id",
  );
  assert.deepEqual(latin, []);
});

for (const [view, texts] of Object.entries({ connect, home, settings, tests })) {
  test(`the texts of ${view} are the same in both languages, with the same placeholders`, () => {
    assert.deepEqual(Object.keys(texts.zh), Object.keys(texts.en));
    const places = (text: string): string[] => [...text.matchAll(/\{\d\}/g)].map(([place]) => place).sort();
    const chinese: Record<string, string> = texts.zh;
    for (const [key, text] of Object.entries(texts.en)) {
      assert.deepEqual(places(chinese[key] ?? ""), places(text), key);
      const same = /^[\s\p{P}\d{}]*$/u.test(text) || ["MCP", "URL"].includes(text);
      assert.ok(same || /\p{Script=Han}/u.test(chinese[key] ?? ""), `${key} is not translated`);
    }
  });
}

test("every reason why the host cannot read a document has words", () => {
  const source = readFileSync(new URL("../../host/internal/document/errors.go", import.meta.url), "utf8");
  const reasons = [...source.matchAll(/Err(\w+) = errors\.New\("(.+)"\)/g)].filter(([, name]) => name !== "Missing");
  assert.ok(reasons.length >= 6);
  assert.deepEqual(reasons.filter(([, , text = ""]) => unreadOf(`${text}: page 3`) === undefined), []);
});
