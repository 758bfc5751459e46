// The panel of a node: three parts, a search, the keyboard, its size on each kind of screen.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { counted, missing, raise, still, type Stage } from "./stage.ts";

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["EASEL_PICTURES"];
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
}

describe("the panel of a node", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  const node = (page: Page, name: string): Locator =>
    page.locator(".react-flow__node", { has: page.locator(".box-name b", { hasText: name }) });

  // ran opens the exchange example and runs it.
  async function ran(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Receipt"))').waitFor();
  }

  test("Settings, In and Out are tabs at a normal width, and Out has a dot after a run", async () => {
    const { page, done } = await stage.visit("#example=exchange", { width: 1440, height: 900 });
    await node(page, "Do the sum").click();
    await page.getByRole("tab", { name: "Out" }).click();
    await page.getByText("No run yet. This step will give:").waitFor();
    await page.getByRole("tab", { name: "Chat" }).click();
    await ran(page);
    await node(page, "Do the sum").click();
    await page.getByRole("img", { name: "has results of the last run" }).waitFor();
    await page.getByText("100 EUR = 782.00 CNY", { exact: true }).filter({ visible: true }).first().waitFor();
    await audit(page, "out");
    await picture(page, "out-1440");
    await page.getByRole("tab", { name: /^Out/ }).press("ArrowLeft");
    await page.getByRole("tabpanel", { name: "In", exact: true }).waitFor();
    await page.getByRole("button", { name: "Insert amount" }).waitFor();
    await audit(page, "in");
    await page.getByRole("tab", { name: "In", exact: true }).press("ArrowLeft");
    await page.getByRole("tabpanel", { name: "Settings" }).waitFor();
    await done();
  });

  test("Shift+Enter shows the three parts beside each other, and a value goes into the field by a click", async () => {
    const { page, done } = await stage.visit("#example=exchange", { width: 1440, height: 900 });
    await ran(page);
    await node(page, "Receipt").click();
    await node(page, "Receipt").focus();
    await page.keyboard.press("Shift+Enter");
    const parts = ["In", "Settings", "Out"].map((name) => page.locator(`.node-part[aria-label="${name}"]`));
    const [given, settings, out] = await still(...parts);
    assert.ok(given && settings && out);
    assert.ok(given.x + given.width <= settings.x + 1 && settings.x + settings.width <= out.x + 1);
    assert.ok(settings.width >= 360, `${settings.width}`);
    await audit(page, "three parts");
    await picture(page, "wide-1440");
    const text = page.locator(".settings .cm-content").first();
    await text.click();
    await page.keyboard.press("Control+End");
    await page.getByRole("button", { name: /^Insert Do the sum · result/ }).click();
    await page.locator('[role="status"]', { hasText: "Inserted" }).waitFor();
    await counted(text.locator(".cm-ref, .chip").filter({ hasText: "Do the sum" }), 2);
    await node(page, "Receipt").focus();
    await page.keyboard.press("Shift+Enter");
    await page.getByRole("tab", { name: "Settings" }).waitFor();
    await done();
  });

  test("several selected steps have their acts and common settings", async () => {
    const { page, done } = await stage.visit("#example=exchange", { width: 1440, height: 900 });
    await node(page, "Receipt").click();
    await page.locator(".board").press("Control+d");
    await page.locator(".inspector[data-node]").waitFor();
    const names = page.locator(".react-flow__node .box-name b", { hasText: /^Receipt/ });
    await counted(names, 2);
    assert.deepEqual((await names.allInnerTexts()).toSorted(), ["Receipt", "Receipt 2"]);
    assert.equal(await page.locator(".node-name").inputValue(), "Receipt 2", "the panel follows the copy");
    await node(page, "Receipt").first().click({ modifiers: ["Control"] });
    const several = page.locator(".inspector.several");
    await several.getByRole("heading", { name: "2 steps" }).waitFor();
    await several.getByText("Changes count for all 2 steps.").waitFor();
    await audit(page, "several steps");
    await picture(page, "several");
    await several.locator("summary", { hasText: "Output" }).click();
    await several.getByLabel("Also as a file", { exact: true }).selectOption({ label: "PDF" });
    const formats = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const at of [0, 1]) {
        await node(page, "Receipt").nth(at).click();
        const settings = page.locator(".inspector[data-node] .settings");
        await settings.locator("summary", { hasText: "Output" }).click();
        found.push(await settings.getByLabel("Also as a file", { exact: true }).inputValue());
      }
      return found;
    };
    assert.deepEqual(await formats(), ["pdf", "pdf"]);
    await node(page, "Receipt").first().click({ modifiers: ["Control"] });
    await several.getByRole("button", { name: "Delete" }).click();
    await counted(names, 0);
    await done();
  });

  test("Enter lands in the most important field of a step", async () => {
    const { page, done } = await stage.visit("#template=support-bot", { width: 1440, height: 900 });
    const fields = [["Answer from the handbook", "Message"], ["Reply", "Text"], ["Start", "Greeting"]] as const;
    for (const [name, label] of fields) {
      await node(page, name).first().focus();
      await page.keyboard.press("Enter");
      await page.keyboard.press("Enter");
      await page.waitForFunction((wanted) => {
        const row = document.activeElement?.closest(".setting");
        return row?.querySelector(".setting-head label")?.textContent === wanted;
      }, label);
      await page.locator(".board").focus();
    }
    await done();
  });

  test("a setting is found by its name, its options or its Chinese name, and opened", async () => {
    const { page, done } = await stage.visit("#template=support-bot", { width: 1440, height: 900 });
    await node(page, "Search the handbook").click();
    const search = page.getByRole("combobox", { name: "Search the settings" });
    await search.fill("rerank");
    await audit(page, "search in a form");
    await page.getByRole("option", { name: "Reranking model" }).waitFor();
    await search.press("Enter");
    await page.locator('.setting[data-param="rerank_id"][data-found]').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.closest("details")?.open), true);
    await search.fill("候选数");
    await page.getByRole("option", { name: "Candidates" }).click();
    await page.waitForFunction(() =>
      document.activeElement?.closest(".setting")?.getAttribute("data-param") === "top_k");
    await search.fill("nothing like this");
    await page.getByText("No setting is called that.").waitFor();
    await search.press("Escape");
    await page.getByRole("tab", { name: "Settings" }).focus();
    await page.keyboard.press("/");
    await page.waitForFunction(() => document.activeElement?.matches(".form-search input"));
    await done();
  });

  test("the panel is dragged and moved by arrows, and keeps its width", async () => {
    const { page, done } = await stage.visit("#example=exchange", { width: 1440, height: 900 });
    const grip = page.getByRole("separator", { name: "Width of the panel" });
    const [edge] = await still(grip);
    assert.ok(edge);
    await page.mouse.move(edge.x + 4, 500);
    await page.mouse.down();
    await page.mouse.move(edge.x - 196, 500, { steps: 4 });
    await page.mouse.up();
    const width = (): Promise<number> => page.locator(".panel").evaluate((panel) => panel.clientWidth);
    const dragged = await width();
    assert.ok(Math.abs(dragged - 600) < 12, `${dragged}`);
    await grip.press("ArrowRight");
    await page.waitForFunction((before) => (document.querySelector(".panel")?.clientWidth ?? 0) < before - 20, dragged);
    const before = await width();
    await page.reload();
    await still(grip);
    assert.equal(await width(), before);
    await done();
  });

  for (const width of [1024, 390]) {
    test(`at ${width} px the parts are tabs, nothing is wider than the window, and axe finds nothing`, async () => {
      const { page, done } = await stage.visit("#example=exchange", { width, height: 844 });
      await ran(page);
      await node(page, "Do the sum").first().click();
      for (const part of ["In", "Out", "Settings"]) {
        await page.getByRole("tab", { name: new RegExp(`^${part}`) }).click();
        await page.locator(`#part-${part.toLowerCase()}`).waitFor();
        await audit(page, `${part} at ${width}`);
        await picture(page, `${part}-${width}`);
      }
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
      await done();
    });
  }

  test("on a phone the sheet is pulled up, and what is pressed is 44 px high", async () => {
    const { page, done } = await stage.visit("#example=exchange", { width: 390, height: 844 });
    await node(page, "Do the sum").first().click();
    await page.locator(".settings").waitFor();
    const small = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>(".panel :is(button, select, input)")]
        .filter((each) => !each.matches('[type="checkbox"], [type="radio"], [type="range"]'))
        .filter((each) => each.checkVisibility() && !each.matches(".about, .field-dot, .link, .chip-remove"))
        .map((each) =>
          [each.getAttribute("aria-label") ?? each.textContent, Math.round(each.getBoundingClientRect().height)])
        .filter(([, height]) => Number(height) < 44));
    assert.deepEqual(small, []);
    const grip = page.getByRole("separator", { name: "Height of the panel" });
    await grip.click();
    await page.waitForFunction(() => (document.querySelector(".panel")?.clientHeight ?? 0) > 700);
    await picture(page, "sheet-390");
    await grip.click();
    await page.waitForFunction(() => (document.querySelector(".panel")?.clientHeight ?? 0) < 500);
    await done();
  });

  test("by keyboard alone the first step follows the start, and F6 goes from bar to canvas to panel", async () => {
    const { page, done } = await stage.visit("", { width: 1440, height: 900 });
    await page.getByRole("button", { name: /^(New|Empty) canvas/ }).first().press("Enter");
    await page.locator(".board").focus();
    await page.keyboard.press("a");
    await page.locator(".palette input").fill("answer");
    await page.keyboard.press("Enter");
    await node(page, "Reply").waitFor();
    await counted(page.locator(".react-flow__edge"), 1, "it follows the start");
    const region = (): Promise<string> => page.evaluate(() =>
      [".bar", ".board", ".panel"].find((each) => document.activeElement?.closest(each)) ?? "");
    await page.locator(".bar button").first().focus();
    const seen: string[] = [];
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press("F6");
      seen.push(await region());
    }
    assert.deepEqual(seen, [".board", ".panel", ".bar"]);
    await page.locator(".board").focus();
    await page.keyboard.press("a");
    await page.locator(".palette input").fill("webhook");
    await page.getByRole("option", { name: /^Start/ }).getByText("In this canvas already").waitFor();
    await page.keyboard.press("Enter");
    await page.locator('.inspector[data-node="begin"]').waitFor();
    await done();
  });

  test("the parts and their names are Chinese in a Chinese page", async () => {
    const { page, done } = await stage.visit("#example=exchange", { width: 1440, height: 900 });
    await ran(page);
    await page.getByRole("button", { name: "中文" }).click();
    await node(page, "Do the sum").click();
    for (const name of [/^输入/, /^输出/, /^设置/]) await page.getByRole("tab", { name }).click();
    await page.locator(".node-title").getByText("代码执行 · CodeExec").waitFor();
    await audit(page, "Chinese panel");
    await done();
  });
});
