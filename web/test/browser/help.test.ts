// Help on the selected step, and the guides with their search.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { missing, raise, type Stage } from "./stage.ts";

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["EASEL_PICTURES"];
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
}

describe("help", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  const node = (page: Page, name: string): Locator =>
    page.locator(".react-flow__node", { has: page.locator(".box-name b", { hasText: name }) });

  test("? explains the selected step with an example, and leads to an open example and to the reference", async () => {
    const { page, done } = await stage.visit("#template=support-bot", { width: 1440, height: 900 });
    await node(page, "Contact form").click();
    await page.locator(".board").focus();
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Help: Ask the user" });
    await help.getByText("Shows a form to the user.").waitFor();
    await help.getByText("the run waits, and continues with both").waitFor();
    await help.getByText("it is called UserFillUp").waitFor();
    await help.getByRole("link", { name: "Open an example that has this step" }).waitFor();
    await audit(page, "help on a step");
    await picture(page, "help-1440");
    await help.getByRole("link", { name: "Reference of this component" }).click();
    await page.getByRole("heading", { name: "UserFillUp", exact: true }).waitFor();
    await page.waitForFunction(() => document.activeElement?.id === "guide-userfillup");
    await page.getByRole("button", { name: "Back" }).click();
    await node(page, "Contact form").waitFor();
    await done();
  });

  test("without a selection ? shows the keys and the way to guides, which are searched", async () => {
    const { page, done } = await stage.visit("#example=exchange", { width: 1440, height: 900 });
    await node(page, "Receipt").waitFor();
    await page.locator(".board").focus();
    await page.keyboard.press("?");
    const help = page.locator("dialog.help");
    await help.getByText("Add step").first().waitFor();
    await help.getByRole("link", { name: "API reference" }).click();
    await page.getByRole("heading", { name: "HTTP API", exact: true }).waitFor();
    const search = page.getByRole("searchbox", { name: "Search the guides" });
    await search.fill("publish canvas");
    await page.getByRole("link", { name: /publishCanvas/ }).first().waitFor();
    await audit(page, "search in the guides");
    await picture(page, "guides-search-1440");
    await page.getByRole("link", { name: /publishCanvas/ }).first().click();
    await page.waitForFunction(() => document.activeElement?.id === "guide-publishcanvas");
    await page.getByRole("navigation", { name: "Guides" }).getByRole("link", { name: "One machine" }).click();
    await page.getByRole("article").getByRole("link", { name: "scopes" }).first().click();
    await page.waitForFunction(() => document.activeElement?.id === "guide-scopes");
    await search.fill("xyzzyplugh");
    await page.getByText("Nothing found. Try another word.").waitFor();
    await done();
  });

  test("on a phone help and guides fit, in Chinese too", async () => {
    const { page, done } = await stage.visit("#example=exchange", { width: 390, height: 844 });
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "中文" }).click();
    await page.keyboard.press("Escape");
    await node(page, "Receipt").first().click();
    await page.locator(".inspector").getByRole("button", { name: "帮助与按键" }).click();
    const help = page.getByRole("dialog", { name: "帮助：回复" });
    await help.getByText("其中的标签会被替换为填写的地址").waitFor();
    await audit(page, "Chinese help on a phone");
    await picture(page, "help-390-zh");
    await help.getByRole("link", { name: "指南" }).click();
    await page.getByText("本指南目前只有英文版。").waitFor();
    await audit(page, "guides on a phone");
    await picture(page, "guides-390-zh");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await done();
  });
});
