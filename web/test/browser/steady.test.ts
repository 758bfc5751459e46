// Cards and their handles stay where they are first drawn: the pointer may already be on its way.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { ask, missing, raise, type Stage } from "./stage.ts";

// places returns the rectangles of cards and of their handles, in order.
function places(page: Page): Promise<string[]> {
  return page.locator(".react-flow__node, .react-flow__node .react-flow__handle").evaluateAll((all) =>
    all.map((each) => {
      const { x, y, width, height } = each.getBoundingClientRect();
      const card = each.closest(".react-flow__node")?.getAttribute("data-id") ?? "";
      return [card, ...[x, y, width, height].map((value) => Math.round(value * 10) / 10)].join(" ");
    }));
}

describe("the canvas at rest", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  for (const { example, byForm = false } of [
    { example: "tea-house" }, { example: "exchange", byForm: true }, { example: "garden-desk" },
  ]) {
    test(`${example}: nothing moves when the engine has started, and when it runs`, async () => {
      const { page, done } = await stage.visit("icon.svg", { width: 1440, height: 900 });
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => { release = resolve; });
      await page.route("**/*.wasm", async (route) => {
        await released;
        await route.continue();
      });
      await page.goto(`${stage.address}#example=${example}`);
      await page.locator(".react-flow__edge path").first().waitFor({ state: "attached" });
      const early = await places(page);
      assert.ok(early.length > 10, `${early.length} cards and handles`);
      release();
      if (byForm) await page.locator(".composer button[type=submit]").click();
      else await ask(page, "When do tomatoes need water?");
      await page.locator('.box[data-status="succeeded"] .box-name', { hasText: /^begin/ }).waitFor();
      assert.deepEqual(await places(page), early);
      await done(/404/); // of the icon, which is not a page
    });
  }
});
