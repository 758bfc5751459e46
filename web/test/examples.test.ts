// The examples of the gallery with the real engine.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isObject, open } from "../canvas/dsl.ts";
import { engine, runsOffline, standIns } from "./offline.ts";

const folder = new URL("../examples/", import.meta.url);
const files = readdirSync(folder);
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");

// kinds returns the components of a canvas, tools of agents and of their agents among them.
function kinds(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(kinds);
  if (!isObject(value)) return [];
  const own = typeof value["component_name"] === "string" ? [value["component_name"]] : [];
  return [...own, ...Object.values(value).flatMap(kinds)];
}

test("there are eight examples, which together contain every component that runs", async () => {
  assert.equal(files.length, 8);
  const shown = new Set(files.flatMap((file) => kinds(open(read(file)).dsl.components)));
  const specs = await engine.components();
  assert.ok(specs.length > 40);
  const alone = specs.filter(({ name }) => name !== "Canvas"); // it needs a second canvas
  assert.deepEqual(
    alone
      .filter((spec) => !spec.pipeline && ![spec.name, ...(spec.aliases ?? [])].some((name) => shown.has(name)))
      .map((spec) => spec.name),
    [],
  );
  assert.deepEqual(
    [...shown].filter((kind) => !specs.some((spec) => spec.name === kind)),
    [],
    "and none that the engine does not know",
  );
});

test("exactly the components with outside effects have stand-ins", async () => {
  const outside: string[] = [];
  for (const { name, pipeline } of await engine.components()) {
    if (pipeline) continue;
    const canvas = {
      components: {
        begin: { obj: { component_name: "Begin", params: {} }, downstream: ["x"] },
        x: { obj: { component_name: name, params: {} }, upstream: ["begin"] },
      },
    };
    const problems = await engine.validate(canvas);
    if (problems.some(({ code }) => code === "needs_host")) outside.push(name);
  }
  assert.deepEqual(Object.keys(standIns).toSorted(), outside.toSorted());
});

for (const file of files) {
  test(`${file} runs to its end with the offline model`, async () => {
    await runsOffline(read(file), "How hot should the water be for green tea?");
  });
}
