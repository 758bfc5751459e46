// The style sheets keep to their scales.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

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
