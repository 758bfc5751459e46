// Runs the canvases of the page to their end, without a model or a network.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after } from "node:test";
import { createEngine } from "../../wasm/js/src/node.ts";
import { build } from "../../wasm/js/test/module.ts";
import { open } from "../canvas/dsl.ts";
import { search, type Passage } from "../run/knowledge.ts";
import { standInsOf } from "../run/standins.ts";
import { watched } from "../run/substitutes.ts";

const demo = new URL("../demo/passages.json", import.meta.url);
const passages = JSON.parse(readFileSync(demo, "utf8")) as Passage[];
const built = build();

/** engine is the engine of the page. */
export const engine = await createEngine({
  wasm: built.wasm,
  runtime: built.runtime,
  worker: new URL("../../wasm/js/src/worker.node.ts", import.meta.url),
});

/** standIns answer for components with outside effects. */
export const standIns = standInsOf(await engine.components(), Promise.resolve(engine));

after(() => {
  engine.close();
  built.remove();
});

type Form = Record<string, { value?: unknown; options?: unknown[] }>;

function filled(form: Form): Record<string, unknown> {
  const value = (field: Form[string]): unknown => field.value ?? field.options?.[0] ?? "some text";
  return Object.fromEntries(Object.entries(form).map(([name, field]) => [name, { ...field, value: value(field) }]));
}

/** runsOffline asserts that a canvas has no error and answers; its forms are filled in. */
export async function runsOffline(file: string, query: string): Promise<string> {
  const { text, dsl } = open(file);
  assert.deepEqual((await engine.validate(text)).filter((problem) => problem.severity === "error"), []);
  const inputs = filled((dsl.components["begin"]?.obj.params["inputs"] ?? {}) as Form);
  let run = (await engine.load(text)).run({ query, inputs }, {
    ...watched({ retrieve: search(passages) }, { standIns, invents: true, here: new Set(), noted: () => undefined }),
    fetch: () => Promise.resolve(Response.json({ rates: { CNY: 8, USD: 1 } })),
    code: ({ script, arguments: args }) =>
      Promise.resolve({ result: new Function(`${script}; return main(arguments[0])`)(args) as unknown }),
  });
  for (let forms = 0; ; forms++) {
    for await (const event of run) {
      if (event.event === "node_finished") assert.equal(event.data.error ?? "", "", event.data.component_id);
    }
    const result = await run.result;
    if (result.status === "paused" && forms < 3) {
      run = run.resume(filled(result.form?.inputs as Form));
      continue;
    }
    assert.equal(result.status, "succeeded");
    assert.notEqual(result.answer, "");
    return result.answer;
  }
}
