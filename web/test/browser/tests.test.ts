// Tests of a canvas in a real browser: a run is saved, played again, fails after an edit, and the
// new result is accepted.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { answer, ask, counted, missing, press, raise, rewrite, type Stage } from "./stage.ts";

const node = (page: Page, name: string): ReturnType<Page["locator"]> =>
  page.locator(`.react-flow__node:has(.box-name b:has-text("${name}"))`);
const verdict = (page: Page, words: string): ReturnType<Page["locator"]> =>
  page.locator(".cases .badge", { hasText: words });

describe("tests of a canvas", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  test("a run becomes a test, which an edit fails and the new result passes again", async () => {
    const { page, done } = await stage.visit("#example=letter", { width: 2600, height: 900 }); // every node is in view
    await answer(page, ["Dear Ada, happy birthday."]);
    await page.getByLabel("To whom?").fill("Ada");
    await page.getByLabel("What is the occasion?").fill("a birthday");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByLabel("Verdict").selectOption("change it");
    await page.getByLabel("What should change?").fill("shorter");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Save as a test" }).click();
    await verdict(page, "Passed").waitFor();
    await audit(page, "passed");

    await node(page, "Revised letter").click();
    await page.locator("#tab-node").click();
    await rewrite(page.getByLabel("Text", { exact: true }).first(), "The new letter");
    await page.locator("#tab-tests").click();
    await page.locator(".cases .stale", { hasText: "out of date" }).waitFor();
    await page.getByRole("button", { name: "Run again" }).click();
    await verdict(page, "Failed").waitFor();
    await page.locator(".cases summary").click();
    const first = page.locator(".findings > li").first();
    await first.locator("dd", { hasText: "Dear Ada, happy birthday." }).waitFor();
    await first.locator("dd", { hasText: "The new letter" }).waitFor();
    await first.getByText("Revised letter: message to the user").waitFor();
    await audit(page, "failed");
    await first.getByRole("button", { name: "Show Revised letter" }).click();
    await page.locator('#tab-node[aria-selected="true"]').waitFor();
    await page.locator("#tab-tests").click();

    await page.locator(".tests header select").selectOption("recorded");
    await page.getByRole("button", { name: "Run all" }).click();
    await verdict(page, "Passed").waitFor();
    await page.locator(".tests header select").selectOption("current");
    await verdict(page, "Failed").waitFor();
    await page.locator(".cases summary").click();
    await page.getByRole("button", { name: "Accept the new result" }).click();
    await page.getByRole("button", { name: "Accept", exact: true }).click();
    await verdict(page, "Passed").waitFor();
    await page.getByRole("button", { name: "Undo" }).last().waitFor();

    await page.reload();
    await page.locator("#tab-tests").click();
    await counted(page.locator(".cases > li"), 1, "it is still there");
    await page.getByRole("button", { name: "Run all" }).click();
    await verdict(page, "Passed").waitFor();
    await page.getByLabel("Run after edits").check();
    await node(page, "Revised letter").click();
    await page.locator("#tab-node").click();
    await rewrite(page.getByLabel("Text", { exact: true }).first(), "Another letter");
    await page.locator("#tab-tests").click();
    await verdict(page, "Failed").waitFor();
    await done();
  });

  test("cases are opened from files, renamed, exported and removed, on a phone and in Chinese", async () => {
    const { page, done } = await stage.visit("#example=tea-house", { width: 390, height: 844, dark: true });
    await page.locator("#tab-tests").click();
    await page.getByText("No tests yet").waitFor();
    await audit(page, "empty");
    await page.locator("#tab-chat").click();
    await ask(page, "How hot should the water be for green tea?");
    await page.getByRole("button", { name: "Save as a test" }).click();
    await verdict(page, "Passed").waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).last().click(),
    ]);
    const path = await file.path();
    const broken = { name: "broken.json", mimeType: "application/json", buffer: Buffer.from('{"name":"x"}') };
    await page.locator('.tests input[type="file"]').setInputFiles(broken);
    await page.getByText("broken.json is no case: it has no canvas.").waitFor();
    await page.locator('.tests input[type="file"]').setInputFiles([path, path]);
    await counted(page.locator(".cases > li"), 3);
    await page.locator(".cases").getByRole("button", { name: "Rename" }).first().click();
    await page.getByLabel("Name of the test").fill("Green tea");
    await page.keyboard.press("Enter");
    await page.locator(".cases b", { hasText: /^Green tea$/ }).waitFor();
    await page.locator(".cases").getByRole("button", { name: "Remove" }).first().click();
    await counted(page.locator(".cases > li"), 2);
    await page.locator(".tests .undo").getByRole("button", { name: "Undo" }).click();
    await counted(page.locator(".cases > li"), 3);
    await page.getByRole("button", { name: "Run all" }).click();
    await page.getByText("3 passed, 0 failed, 0 not played").waitFor();
    await press(page, "中文");
    await page.getByText("3 个通过，0 个失败，0 个未重放").waitFor();
    await audit(page, "phone");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
    await done();
  });
});
