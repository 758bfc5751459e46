// Canvases of users, from the folder EASEL_CANVASES: they load, are laid out and saved
// unchanged, and a run with the offline model ends.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createEngine, type Engine } from "../src/node.ts";
import { build, type Built } from "./module.ts";

const folder = process.env["EASEL_CANVASES"];

describe("real canvases", { skip: folder ? false : "EASEL_CANVASES names no folder", timeout: 1_200_000 }, () => {
  let built: Built;
  let engine: Engine;
  before(async () => {
    built = build();
    engine = await createEngine({
      wasm: built.wasm,
      runtime: built.runtime,
      worker: new URL("../src/worker.node.ts", import.meta.url),
    });
  });
  after(() => { engine?.close(); built?.remove(); });

  for (const name of folder ? readdirSync(folder).filter((file) => file.endsWith(".json")) : []) {
    test(name, async () => {
      const text = readFileSync(join(folder as string, name), "utf8");
      const canvas = await engine.load(text);
      const saved = await canvas.save(); // older ones are upgraded
      const nodes = Object.keys((JSON.parse(saved) as { components: object }).components);
      assert.ok(nodes.length > 0);
      assert.deepEqual(
        (await engine.validate(text)).filter(
          ({ node }) => node !== undefined && !nodes.includes(node) && !node.includes("-->"),
        ),
        [],
        "problems are about nodes of the canvas",
      );
      const { nodes: places } = await engine.layout(saved);
      assert.deepEqual(nodes.filter((node) => !places[node]), [], "nodes without a place");
      const again = await engine.load(saved);
      assert.equal(await again.save(), saved, "what was saved is saved again");
      again.close();
      const run = canvas.run("What is on sale?", { signal: AbortSignal.timeout(60_000), patience: 10_000 });
      const { status, error } = await run.result.catch((err: { code: string; message: string }) => ({
        status: "refused",
        error: err,
      }));
      assert.ok(["succeeded", "paused", "failed", "refused"].includes(status), `${status}: ${error?.message}`);
      if (status === "failed" || status === "refused") assert.ok(error?.code && error.message, "a failure says why");
      canvas.close();
    });
  }
});
