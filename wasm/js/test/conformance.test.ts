// Every conformance case of the engine inside the real module: what it shows in Node must be what the engine shows
// natively. The stand-ins of a case are inside the module as well (build tag conformance). Each case is played twice:
// in one request, whose answer must be the same bytes, and turn by turn through the package, whose events must be the
// same.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "../src/client.ts";
import { compile, createEngine, isWire, type Engine, type RunEvent } from "../src/node.ts";
import { wasmStarter } from "../src/wasm.ts";
import { build, type Built } from "./module.ts";

const folder = fileURLToPath(new URL("../../../engine/testdata/cases/", import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();

// Cases that cannot go through JavaScript unchanged, with the reason.
const unlike: Record<string, string> = {
  "variables_paths_message.json": "its inputs have a key 0, which every JavaScript object puts first",
  "variables_paths_text.json": "the same",
};

type Observed = { runs: { tool_trace?: unknown[]; load_error?: string; error?: string; events?: unknown[] }[] };
type Case = { runs: { kwargs?: Record<string, unknown>; fresh?: boolean; debug?: unknown }[] };

// Tools that an agent calls at the same time may be logged in another order.
function inOrder(text: string): Observed {
  const seen = JSON.parse(text) as Observed;
  for (const run of seen.runs) run.tool_trace?.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return seen;
}

describe("conformance in Node", { timeout: 180_000 }, () => {
  let built: Built;
  let native: string[] = [];
  let canvases: string[] = [];
  const client = new Client();
  let engine: Engine;
  before(async () => {
    built = build("conformance");
    const cwd = fileURLToPath(new URL("./testdata/native/", import.meta.url));
    const lines = execFileSync("go", ["run", ".", folder], { cwd, encoding: "utf8", maxBuffer: 64 << 20 }).trimEnd().split("\n");
    native = lines.filter((_, i) => i % 2 === 0);
    canvases = lines.filter((_, i) => i % 2 === 1);
    client.attach(await wasmStarter(compile)({ wasm: built.wasm, runtime: built.runtime.href }, client, (why) => assert.fail(why)));
  });
  before(async () => {
    engine = await createEngine({ wasm: built.wasm, runtime: built.runtime, worker: new URL("../src/worker.node.ts", import.meta.url) });
  });
  after(() => { engine.close(); built.remove(); });

  test("there is a native line for each case", () => assert.equal(native.length, names.length));

  names.forEach((name, at) => {
    test(name.replace(".json", ""), async () => {
      const body = readFileSync(folder + name, "utf8");
      const seen = await client.request({ op: "play", concurrency: 1 } as never, body);
      const want = native[at] as string;
      if (seen !== want) assert.deepEqual(inOrder(seen), inOrder(want));
    });

    test(name.replace(".json", ", through the package"), { skip: unlike[name] ?? false }, async () => {
      const played = JSON.parse(readFileSync(folder + name, "utf8")) as Case;
      const want = (JSON.parse(native[at] as string) as Observed).runs;
      let stored = canvases[at] as string;
      for (const [n, { kwargs, fresh, debug }] of played.runs.entries()) {
        if (debug) return; // tells no events
        if (fresh) stored = canvases[at] as string;
        const { load_error, events, error } = want[n] as Observed["runs"][number];
        if (load_error !== undefined) {
          await assert.rejects(engine.load(stored), { message: load_error });
          continue;
        }
        const canvas = await engine.load(stored);
        const run = canvas.run({ ...kwargs, play: { case: played, run: n } } as Record<string, unknown>);
        const seen: RunEvent[] = [];
        for await (const event of run) if (isWire(event)) seen.push(event);
        assert.deepEqual(seen.map(({ seq: _, ...event }) => event), events);
        const result = await run.result;
        assert.equal(result.status === "failed" ? result.error?.message : undefined, result.status === "canceled" ? undefined : error);
        stored = await canvas.save();
        canvas.close();
      }
    });
  });
});
