// Every conformance case of the engine inside the real module, in Node: whole cases in this thread,
// run by run through the package in a worker thread.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client } from "../src/client.ts";
import { createEngine, type Engine } from "../src/node.ts";
import { compile } from "../src/platform.node.ts";
import { wasmStarter } from "../src/wasm.ts";
import { turns, whole } from "./conformance.ts";
import { build, type Built } from "./module.ts";
import { names, played, sameTurns, sameWhole, unlike, type Played } from "./native.ts";

describe("conformance in Node", { timeout: 1_200_000 }, () => {
  let built: Built;
  let cases: Map<string, Played>;
  let engine: Engine;
  const client = new Client();
  before(async () => {
    built = build("conformance");
    cases = played();
    client.attach(
      await wasmStarter(compile)({ wasm: built.wasm, runtime: built.runtime.href }, client, (why) => assert.fail(why)),
    );
    engine = await createEngine({
      wasm: built.wasm,
      runtime: built.runtime,
      worker: new URL("../src/worker.node.ts", import.meta.url),
    });
  });
  after(() => { engine.close(); built.remove(); });

  for (const name of names) {
    test(name, async () => {
      const each = cases.get(name) as Played;
      sameWhole(await whole(client, each.body), each);
    });
    test(`${name}, through the package`, { skip: unlike[name] ?? false }, async () => {
      const each = cases.get(name) as Played;
      sameTurns(await turns(engine, each.body, each.canvas), each);
    });
  }
});
