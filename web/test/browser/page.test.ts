// The page in a real browser: what a person does, from the gallery to a rerun.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { missing, raise, type Stage } from "./stage.ts";

const examples = new URL("../../examples/", import.meta.url);
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe("the page", { skip: missing(), timeout: 240_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  const open = async (hash = "", more = {}): Promise<{ page: Page; done(): Promise<void> }> => {
    const { page, faults } = await stage.open(hash, more);
    return {
      page,
      async done() {
        assert.deepEqual(faults, [], "the console is silent");
        await page.context().close();
      },
    };
  };

  test("the gallery shows every example, and one runs with the offline model", async () => {
    const { page, done } = await open();
    await page.waitForSelector(".card");
    assert.equal(await page.locator(".card").count(), readdirSync(examples).length);
    await page.getByRole("button", { name: /The tea house/ }).click();
    await page.getByRole("textbox", { name: "Your message" }).fill("How hot should the water be for green tea?");
    await page.keyboard.press("Enter");
    await page.locator('.box[data-status="done"]', { hasText: "Answer" }).waitFor();
    const cite = page.locator("button.cite").first();
    await cite.click();
    assert.match(await page.locator(".passage:popover-open").innerText(), /75 to 80 degrees/);
    await done();
  });

  test("a form starts a run, a form in the middle is answered, reasoning folds", async () => {
    const { page, done } = await open("#example=letter");
    await page.getByLabel("To whom?").fill("Ada");
    await page.getByLabel("What is the occasion?").fill("A <b>birthday</b>");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="waiting"]').waitFor();
    await page.getByLabel("Verdict").selectOption("change it");
    await page.getByLabel("What should change?").fill("shorter");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator('.box[data-status="done"]', { hasText: "Revised letter" }).waitFor();
    await page.getByText("Thoughts").first().waitFor();
    assert.equal(await page.locator(".transcript b", { hasText: "birthday" }).count(), 0);
    await done();
  });

  test("a script runs in the sandbox", async () => {
    const { page, done } = await open("#example=exchange");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("100 EUR = 782.00 CNY").first().waitFor();
    await done();
  });

  test("stop ends a run", async () => {
    const { page, done } = await open("#example=morning-paper");
    await page.getByRole("button", { name: /Model/ }).click();
    await page.getByText("Prepared answers").click();
    await page.locator("dialog textarea").fill("word ".repeat(400));
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("textbox", { name: "Your message" }).fill("x");
    await page.keyboard.press("Enter");
    await page.locator(".bubble.theirs", { hasText: "word word" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".transcript").getByText("stopped").waitFor();
    await done();
  });

  test("a node is inspected, pinned, and the run goes on from it with other outputs", async () => {
    const { page, done } = await open("#example=exchange");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="done"]', { hasText: "Receipt" }).waitFor();
    await page.locator(".react-flow__node", { hasText: "Do the sum" }).click();
    await page.getByRole("button", { name: "Pin outputs" }).click();
    await page.locator(".badge.pinned").waitFor();
    await page.getByRole("button", { name: "Unpin" }).click();
    await page.getByRole("button", { name: "Edit outputs and run on" }).click();
    const editor = page.locator(".editor .cm-content");
    await editor.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type('{"result": "edited by hand"}');
    await page.getByRole("button", { name: "Run on", exact: true }).click();
    await page.getByRole("tab", { name: "Chat" }).click();
    await page.getByText("edited by hand").first().waitFor();
    await done();
  });

  test("stepping back through the records draws the run as it was", async () => {
    const { page, done } = await open("#example=meeting-notes");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="done"]', { hasText: "Task list" }).waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    assert.equal(await page.locator(".turn").count(), 3);
    await page.getByRole("button", { name: "First record" }).click();
    assert.equal(await page.locator('.box[data-status="done"]').count(), 0);
    for (let i = 0; i < 4; i++) await page.getByRole("button", { name: "One record forward" }).click();
    assert.equal(await page.locator('.box[data-status="done"]').count(), 1);
    await page.getByRole("button", { name: "Latest" }).click();
    await page.locator('.box[data-status="done"]', { hasText: "Task list" }).waitFor();
    await done();
  });

  test("settings are edited for the preview, undone, and go into a link", async () => {
    const { page, done } = await open("#example=exchange");
    await page.locator(".react-flow__node", { hasText: "Receipt" }).click();
    await page.getByLabel("content", { exact: true }).fill("Changed {CodeExec:Abacus@result}");
    await page.getByText("changed", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.waitForFunction(() => location.hash.startsWith("#c="));
    const link = page.url();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("changed", { exact: true }).waitFor({ state: "detached" });
    await done();
    const again = await open(new URL(link).hash);
    await again.page.locator(".react-flow__node", { hasText: "Receipt" }).click();
    assert.match(await again.page.getByLabel("content", { exact: true }).inputValue(), /^Changed/);
    await again.done();
  });

  test("problems lead to their node", async () => {
    const { page, done } = await open("#example=exchange");
    await page.locator(".react-flow__node", { hasText: "Receipt" }).click();
    await page.getByLabel("content", { exact: true }).fill("{LLM:Nobody@content}");
    const tab = page.getByRole("tab", { name: /Problems/ });
    await tab.locator(".count").waitFor();
    await tab.click();
    await page.getByRole("button", { name: /Show Receipt/ }).click();
    await page.getByRole("heading", { name: "Receipt" }).waitFor();
    await done();
  });

  test("files can be dropped; hostile ones become a message", async () => {
    const { page, done } = await open();
    await page.waitForSelector(".card");
    const drop = (text: string, name = "x.json"): Promise<void> => page.evaluate(({ text: body, name: title }) => {
      const data = new DataTransfer();
      data.items.add(new File([body], title));
      document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
    }, { text, name });
    for (const [text, message] of [["{", /not JSON/], ["[]", /not a canvas/], [`{"components":{"a":1}}`, /not a canvas/], ["[".repeat(100_000), /not JSON/]] as const) {
      await drop(text);
      await page.locator(".banner", { hasText: message }).waitFor();
    }
    const evil = "<img src=x onerror=window.hit=1><script>window.hit=1</script>";
    await drop(JSON.stringify({ title: evil, components: {
      begin: { obj: { component_name: "Begin", params: { prologue: `${evil} [x](javascript:window.hit=1)` } }, downstream: [evil] },
      [evil]: { obj: { component_name: evil, params: { [evil]: evil } }, downstream: [] },
    } }));
    await page.locator(".react-flow__node").nth(1).click();
    await page.locator(".inspector").waitFor();
    assert.equal(await page.evaluate(() => (globalThis as { hit?: number }).hit), undefined);
    await done();
  });

  const folder = process.env["EASEL_CANVASES"];
  test("real canvas files open and are drawn", { skip: folder ? false : "EASEL_CANVASES names no folder" }, async () => {
    const { page, done } = await open();
    for (const file of readdirSync(folder as string).filter((name) => name.endsWith(".json"))) {
      await page.setInputFiles('input[type="file"][accept*="json"]', `${folder}/${file}`);
      await page.locator("h1.title").waitFor();
      await page.locator(".react-flow__node").first().waitFor();
      assert.equal(await page.locator(".banner").count(), 0, file);
      await page.getByRole("button", { name: "easel, Gallery" }).click();
      await page.locator(".card").first().waitFor();
    }
    await done();
  });

  test("everything works from the keyboard", async () => {
    const { page, done } = await open("#example=exchange");
    await page.locator(".react-flow__node").first().waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "page");
    await page.locator(".react-flow__node", { hasText: "Receipt" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Chat" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: "Receipt" }).waitFor();
    await done();
  });

  for (const look of [{ dark: false, language: "English" }, { dark: true, language: "中文" }]) {
    test(`axe finds nothing, ${look.dark ? "dark" : "light"}, ${look.language}`, async () => {
      const { page, done } = await open("", { dark: look.dark });
      await page.locator(".card").first().waitFor();
      if (look.language !== "English") await page.getByRole("button", { name: "中文" }).click();
      await audit(page, "gallery");
      await page.locator(".card").last().click();
      await page.locator(".composer textarea").fill("green tea");
      await page.keyboard.press("Enter");
      await page.locator('.box[data-status="done"]', { hasText: /Answer/ }).waitFor();
      for (const tab of ["chat", "timeline", "node", "variables", "problems"]) {
        if (tab === "node") await page.locator(".react-flow__node", { hasText: "Brewing advice" }).click();
        await page.locator(`#tab-${tab}`).click();
        await page.waitForTimeout(50);
        await audit(page, tab);
      }
      await page.locator("header.bar button", { has: page.locator("span.action-label") }).last().click();
      await page.locator("dialog[open]").waitFor();
      await audit(page, "dialog");
      await done();
    });
  }
});

async function audit(page: Page, where: string): Promise<void> {
  await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> } };
    return (await axe.run()).violations.map((each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + " " + (node.failureSummary ?? "").slice(0, 240)).join(" | ")}`);
  });
  assert.deepEqual(violations, [], where);
}
