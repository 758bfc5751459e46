// The style sheets keep to their scales.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { slow } from "../view/motion.ts";

const folder = new URL("../style/", import.meta.url);

// Rules whose spacing is a position that is computed with other sizes: steps of the timeline, whose
// bars begin at one line, and what is aligned with their names.
const aligned = /^\s*\.(steps?|step-\w+|totals|swatch|uses|many|turn|stations)\b/;

test("paddings, margins and gaps outside of the canvas are steps of one scale", () => {
  const off: string[] = [];
  for (const name of readdirSync(folder)) {
    if (name === "canvas.css") continue; // cards have the sizes of canvas/places.ts
    for (const rule of readFileSync(new URL(name, folder), "utf8").split("}")) {
      const [selector = "", body = ""] = rule.split("{").slice(-2);
      if (aligned.test(selector.replace(/\/\*[^]*?\*\//g, "").trim())) continue;
      for (const [all, value = ""] of body.matchAll(/(?:^|[\s;])(?:padding|margin|gap)[a-z-]*:([^;]*)/g)) {
        if (/(?:^|[^\w.])-?(?:[2-9]|\d\d+)px/.test(value)) off.push(`${name}: ${selector.trim()}: ${all.trim()}`);
      }
    }
  }
  assert.deepEqual(off, []);
});

// rulesOf returns the declarations of a property in all style sheets, with their selectors.
function declared(property: RegExp): { where: string; value: string }[] {
  return readdirSync(folder).flatMap((name) =>
    readFileSync(new URL(name, folder), "utf8").replace(/\/\*[^]*?\*\//g, "").split("}").flatMap((rule) => {
      const [selector = "", body = ""] = rule.split("{").slice(-2);
      return [...body.matchAll(property)].map(([, value = ""]) => ({ where: `${name}: ${selector.trim()}`, value }));
    }));
}

test("texts have four sizes, one for the heading of Home, and two weights", () => {
  const sizes = declared(/(?:^|[\s;])(?:font-size|font):([^;]*)/g);
  assert.ok(sizes.length > 80);
  const size =
    /^\s*(inherit|(600 )?var\(--t[1-4]\)(\/[\d.]+(px)?)?( .*)?|600 var\(--t-home\)\/36px var\(--serif\))\s*$/;
  assert.deepEqual(sizes.filter(({ value }) => !size.test(value)), []);
  const weights = declared(/(?:^|[\s;])font-weight:([^;]*)/g);
  assert.deepEqual(weights.filter(({ value }) => !["400", "600"].includes(value.trim())), []);
});

test("what moves has the durations of the tokens, and stands still for those who want that", () => {
  const moves = declared(/(?:^|[\s;])(?:transition|animation)(?:-duration)?:([^;]*)/g);
  assert.ok(moves.length > 6);
  const still = /^\s*(none|0s)( !important)?\s*$/;
  const off = moves.filter(({ value }) => !still.test(value) && !/var\(--(fast|mid|slow|pulse|turn)\)/.test(value));
  assert.deepEqual(off, []);
  assert.deepEqual(moves.filter(({ value }) => /[\d.]m?s\b/.test(value) && !still.test(value)), []);
  assert.match(readFileSync(new URL("page.css", folder), "utf8"), /prefers-reduced-motion: reduce/);
});

test("views set no sizes of texts and no durations beside the tokens", () => {
  const off: string[] = [];
  const views = new URL("../view/", import.meta.url);
  for (const name of readdirSync(views, { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(name)) continue;
    const own = /fontSize: (?!"var\(--t[1-4]\)")|\bduration: .*\d{2}/;
    const lines = readFileSync(new URL(name, views), "utf8").split("\n");
    off.push(...lines.filter((line) => own.test(line)).map((line) => `${name}: ${line}`));
  }
  assert.deepEqual(off, []);
  const [, css] = /--slow: (\d+)ms/.exec(readFileSync(new URL("page.css", folder), "utf8")) ?? [];
  assert.equal(slow, Number(css), "the canvas moves as long as the style sheet says");
});
