// The examples of the gallery, against the engine they are examples of.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { createEngine } from "../../wasm/js/src/node.ts";
import { build } from "../../wasm/js/test/module.ts";
import { isObject, open } from "../canvas/dsl.ts";
import { search, type Passage } from "../run/knowledge.ts";
import { standInsOf } from "../run/standins.ts";
import { watched } from "../run/substitutes.ts";

const folder = new URL("../examples/", import.meta.url);
const files = readdirSync(folder);
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");
const passages = JSON.parse(readFileSync(new URL("../demo/passages.json", import.meta.url), "utf8")) as Passage[];

const built = build();
const engine = await createEngine({ wasm: built.wasm, runtime: built.runtime, worker: new URL("../../wasm/js/src/worker.node.ts", import.meta.url) });
const standIns = standInsOf(await engine.components(), Promise.resolve(engine));
after(() => {
  engine.close();
  built.remove();
});

// kinds are the components of a canvas, tools of agents and of their agents among them.
function kinds(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(kinds);
  if (!isObject(value)) return [];
  const own = typeof value["component_name"] === "string" ? [value["component_name"]] : [];
  return [...own, ...Object.values(value).flatMap(kinds)];
}

test("there are eight examples, and between them they show every component that runs", async () => {
  assert.equal(files.length, 8);
  const shown = new Set(files.flatMap((file) => kinds(open(read(file)).dsl.components)));
  const specs = await engine.components();
  assert.ok(specs.length > 40);
  const alone = specs.filter(({ name }) => name !== "Canvas"); // which needs a second canvas beside it
  assert.deepEqual(alone.filter((spec) => !spec.pipeline && ![spec.name, ...(spec.aliases ?? [])].some((name) => shown.has(name))).map((spec) => spec.name), []);
  assert.deepEqual([...shown].filter((kind) => !specs.some((spec) => spec.name === kind)), [], "and none that the engine does not know");
});

test("a stand-in answers for every component that works outside, and for no other", async () => {
  const outside: string[] = [];
  for (const { name, pipeline } of await engine.components()) {
    if (pipeline) continue;
    const canvas = { components: { begin: { obj: { component_name: "Begin", params: {} }, downstream: ["x"] }, x: { obj: { component_name: name, params: {} }, upstream: ["begin"] } } };
    const problems = await engine.validate(canvas);
    if (problems.some(({ code }) => code === "needs_host")) outside.push(name);
  }
  assert.deepEqual(Object.keys(standIns).toSorted(), outside.toSorted());
});

for (const file of files) {
  test(`${file} runs to its end with the offline model`, async () => {
    const { text, dsl } = open(read(file));
    assert.deepEqual((await engine.validate(text)).filter((problem) => problem.severity === "error"), []);
    const fields = (dsl.components["begin"]?.obj.params["inputs"] ?? {}) as Record<string, { value?: unknown; options?: unknown[] }>;
    const filled = (form: typeof fields): Record<string, unknown> => Object.fromEntries(Object.entries(form).map(([name, field]) => [name, { ...field, value: field.value ?? field.options?.[0] ?? "some text" }]));
    let run = (await engine.load(text)).run({ query: "How hot should the water be for green tea?", inputs: filled(fields) }, {
      ...watched({ retrieve: search(passages) }, { standIns, invents: true, here: new Set(), noted: () => undefined }),
      fetch: () => Promise.resolve(Response.json({ rates: { CNY: 8, USD: 1 } })),
      code: ({ script, arguments: args }) => Promise.resolve({ result: new Function(`${script}; return main(arguments[0])`)(args) as unknown }),
    });
    for (let forms = 0; ; forms++) {
      for await (const event of run) if (event.event === "node_finished") assert.equal(event.data.error ?? "", "", event.data.component_id);
      const result = await run.result;
      if (result.status === "paused" && forms < 3) {
        run = run.resume(filled(result.form?.inputs as typeof fields));
        continue;
      }
      assert.equal(result.status, "succeeded");
      assert.notEqual(result.answer, "");
      break;
    }
  });
}
