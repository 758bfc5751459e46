// The words of the areas, and their addresses.

import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../words/areas.en.ts";
import { zh } from "../words/areas.zh.ts";

test("the areas have the same texts in both languages, with the same places for values", () => {
  assert.deepEqual(Object.keys(zh), Object.keys(en));
  const places = (text: string): string[] => [...text.matchAll(/\{\d\}/g)].map(([place]) => place).sort();
  for (const [key, text] of Object.entries(en)) assert.deepEqual(places(zh[key as keyof typeof en]), places(text), key);
  const latin = Object.entries(zh).filter(
    ([key, text]) => !/\p{Script=Han}/u.test(text) && !/^[\s\p{P}\d{}]*$/u.test(text) && key !== "dataset.id",
  );
  assert.deepEqual(latin, []);
});
