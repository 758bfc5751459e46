// The README's program, over the toy engine: its imports lead to the sources, the rest runs as printed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createEngine as create } from "../src/node.ts";
import { scripted } from "../src/model/scripted.ts";
import { toy } from "./toy/module.ts";

test("the first program of the README does what its comment says", async () => {
  const [, program = ""] = /```js\n([^]*?)```/.exec(readFileSync(new URL("../README.md", import.meta.url), "utf8")) ?? [];
  const body = program.replace(/^import .*$/gm, "");
  const printed: string[] = [];
  const createEngine = () => create({ connect: async (host) => ({ module: toy(host), end: () => undefined }) });
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (...names: string[]) => (...values: unknown[]) => Promise<unknown>;
  const run = new AsyncFunction("createEngine", "scripted", "console", body + "\nreturn { status, answer }");
  const result = await run(createEngine, scripted, { log: (text: string) => printed.push(text) });
  assert.deepEqual(result, { status: "finished", answer: "It says: Yes." });
  assert.equal(printed.join(""), "It says: Yes.");
  assert.match(body, /"finished", "It says: Yes\."/);
});
