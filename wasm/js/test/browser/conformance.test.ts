// Every conformance case of the engine inside the real module, in a Worker of headless Chromium.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build, type Built } from "../module.ts";
import { names, played, sameTurns, sameWhole, unlike, type Played } from "../native.ts";
import type { Cases } from "./conformance.page.ts";
import { missing, raise, type Stage } from "./stage.ts";

declare const cases: Cases;

describe("conformance in Chromium", { skip: missing, timeout: 1_200_000 }, () => {
  let built: Built;
  let stage: Stage;
  let page: Page;
  let faults: string[];
  let all: Map<string, Played>;
  before(async () => {
    built = build("conformance");
    all = played();
    stage = await raise(["conformance.page.ts", "../../src/worker.browser.ts"], {
      "engine.wasm": built.wasm,
      "wasm_exec.js": fileURLToPath(built.runtime),
    });
    ({ page, faults } = await stage.open());
  });
  after(async () => { await stage?.close(); built?.remove(); });

  for (const name of names) {
    test(name, async () => {
      const each = all.get(name) as Played;
      sameWhole(await page.evaluate((body) => cases.whole(body), each.body), each);
    });
    test(`${name}, through the package`, { skip: unlike[name] ?? false }, async () => {
      const each = all.get(name) as Played;
      sameTurns(await page.evaluate(({ body, canvas }) => cases.turns(body, canvas), each), each);
    });
  }

  test("the console has no messages", () => assert.deepEqual(faults, []));
});
