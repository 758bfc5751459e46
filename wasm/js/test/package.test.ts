// The package as it is published: its files, and the first steps of its users.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { install, readme, write, type Installed } from "./package.ts";

const tsc = fileURLToPath(new URL("../node_modules/.bin/tsc", import.meta.url));

type Conditions = string | { [condition: string]: Conditions };

describe("the published package", { timeout: 1_200_000 }, () => {
  let installed: Installed;
  before(() => { installed = install(); });
  after(() => installed.remove());

  const manifest = (): { exports: Record<string, Conditions>; dependencies?: object; license: string } =>
    JSON.parse(readFileSync(join(installed.home, "package.json"), "utf8")) as never;

  const node = (program: string): string =>
    execFileSync(process.execPath, [write(installed.folder, "program.mjs", program)], {
      cwd: installed.folder,
      encoding: "utf8",
      timeout: 60_000,
    });

  test("contains the engine, types, the protocol and the license, and no tests", () => {
    for (const needed of [
      "README.md",
      "PROTOCOL.md",
      "package.json",
      "dist/LICENSE",
      "dist/THIRD-PARTY.txt",
      "dist/engine.wasm",
      "dist/wasm_exec.js",
      "dist/types/index.d.ts",
      "golden/run.json",
    ]) {
      assert.ok(installed.files.includes(needed), needed);
    }
    assert.deepEqual(installed.files.filter((file) => /test|\.map$|(?<!\.d)\.ts$|node_modules/.test(file)), []);
  });

  test("has no dependencies", () => {
    assert.equal(manifest().dependencies, undefined);
    assert.deepEqual(
      readdirSync(join(installed.folder, "node_modules")).filter((name) => !name.startsWith(".")),
      ["@easel"],
    );
  });

  test("every export is a file", () => {
    const leaves = (at: Conditions): string[] => (typeof at === "string" ? [at] : Object.values(at).flatMap(leaves));
    for (const file of Object.values(manifest().exports).flatMap(leaves))
      assert.ok(existsSync(join(installed.home, file)), file);
  });

  test("the first program of the README has the result of its comment, and ends on its own", () => {
    const program = readme();
    assert.match(program, /"succeeded", "It says: Yes\."/);
    assert.equal(node(program + "\nconsole.log(status, answer);"), "It says: \nYes.\nsucceeded It says: Yes.\n");
  });

  test("an engine that is not closed does not keep Node running", () => {
    assert.equal(node(readme().replace("engine.close();", "")), "It says: \nYes.\n");
  });

  test("its modules load in Node", () => {
    const modules = Object.keys(manifest().exports)
      .filter((name) => !/worker|wasm|json/.test(name))
      .map((name) => "@easel/engine" + name.slice(1));
    assert.ok(modules.length > 6);
    assert.equal(
      node(
        modules.map((name, i) => `import * as m${i} from ${JSON.stringify(name)};`).join("\n") +
          `\nconsole.log([${modules.map((_, i) => `Object.keys(m${i}).length > 0`).join()}].every(Boolean));`,
      ),
      "true\n",
    );
  });

  for (const resolution of ["bundler", "nodenext"]) {
    test(`its types are complete for users, resolved as by ${resolution}`, () => {
      write(installed.folder, "consumer.ts", consumer);
      const options = [
        "--noEmit",
        "--strict",
        "--exactOptionalPropertyTypes",
        "--target",
        "es2022",
        "--lib",
        "es2023,dom,dom.iterable,dom.asynciterable",
        "--moduleResolution",
        resolution,
        "--module",
        resolution === "bundler" ? "esnext" : "nodenext",
      ];
      try {
        execFileSync(tsc, [...options, "consumer.ts"], { cwd: installed.folder, encoding: "utf8" });
      } catch (err) {
        assert.fail((err as { stdout: string }).stdout);
      }
    });
  }
});

const consumer = `
import { createEngine, EngineError, type Canvas, type Engine, type Model, type RunEvent, type RunOptions, type RunResult, type Tool } from "@easel/engine";
import { sandbox } from "@easel/engine/code";
import { openai } from "@easel/engine/model/openai";
import { proxy } from "@easel/engine/model/proxy";
import { blank, record, replay } from "@easel/engine/model/record";
import { scripted } from "@easel/engine/model/scripted";
import { emptyState, reduce, type RunState } from "@easel/engine/state";

const search: Tool = { description: "finds", run: (args, { signal }) => (signal.aborted ? "" : String(args["query"])) };
const own: Model = { can: { tools: true }, async *chat(request) { yield { text: request.messages.length.toString() }; } };
const options: RunOptions = {
  llm: record(own, blank()), tools: { Search: search }, code: sandbox({ timeout: 100 }), seed: 1, now: Date.now(),
  retrieve: ({ query }) => ({ chunks: [{ content: query }] }), fetch,
};
const engine: Engine = await createEngine({ watchdog: 1000 });
const canvas: Canvas = await engine.load("{}");
let state: RunState = emptyState;
const run = canvas.run({ query: "x" }, { ...options, onEvent: (event: RunEvent) => { state = reduce(state, event); } });
for await (const event of run) {
  if (event.event === "node_finished") console.log(event.data.elapsed_time.toFixed(2), event.data.outputs["content"]);
  // @ts-expect-error: a message has no elapsed time
  if (event.event === "message") console.log(event.data.elapsed_time);
}
const result: RunResult = await run.result;
if (result.status === "paused") run.resume({ name: "Ada" });
try { await canvas.form("A"); } catch (err) { if (err instanceof EngineError) console.log(err.code); }
export const models: Model[] = [openai({ url: "x" }), proxy(), replay(blank()), scripted([{ text: "y" }])];
`;
