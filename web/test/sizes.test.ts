// Sizes are written by one function, in the unit that suits people.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { sizeText } from "../view/text.ts";

test("a size has three digits and the unit that suits it", () => {
  const sizes: [number, string][] = [
    [0, "0 B"], [-1, "0 B"], [999, "999 B"], [999.6, "1 KB"], [1000, "1 KB"], [1536, "1.5 KB"], [99_949, "99.9 KB"],
    [99_960, "100 KB"], [999_600, "1 MB"], [5_368_709_120, "5.4 GB"], [2e15, "2000 TB"],
  ];
  for (const [bytes, text] of sizes) assert.equal(sizeText(bytes), text);
});

test("views write no sizes by themselves", () => {
  const views = new URL("../view/", import.meta.url);
  const off = readdirSync(views, { recursive: true, encoding: "utf8" }).filter((name) => {
    if (!/\.tsx?$/.test(name) || name === "text.ts") return false;
    return /["`][^"`\n]*[ }][KMGT]i?B["`]/.test(readFileSync(new URL(name, views), "utf8"));
  });
  assert.deepEqual(off, []);
});
