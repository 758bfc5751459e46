// Runs in a real browser, from the gallery to a rerun.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { answer, ask, counted, glimpse, missing, raise, rewrite, type Stage } from "./stage.ts";

const examples = new URL("../../examples/", import.meta.url);

describe("running", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  test("the gallery lists every example, and one runs with the offline model", async () => {
    const { page, done } = await stage.visit();
    await page.waitForSelector(".examples .card");
    await counted(page.locator(".examples .card"), readdirSync(examples).length);
    await page.getByRole("button", { name: /The tea house/ }).click();
    await ask(page, "How hot should the water be for green tea?");
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Answer"))').waitFor();
    await page.locator("button.cite").first().click();
    assert.match(await page.locator(".passage:popover-open").innerText(), /75 to 80 degrees/);
    await done();
  });

  test("the page is as high as its window, whatever the conversation holds", async () => {
    const { page, done } = await stage.visit("#example=tea-house");
    for (let turn = 1; turn <= 12; turn++) {
      await ask(page, `How hot should the water be for tea ${turn}?`);
      await counted(page.locator(".bubble.mine"), turn);
      await counted(page.locator(".chat .spinner"), 0);
    }
    const [high, window_, held] = await page.evaluate(() => [
      document.documentElement.scrollHeight,
      innerHeight,
      document.querySelector(".transcript")?.scrollHeight ?? 0,
    ]);
    assert.ok((held ?? 0) > 1500, `the conversation is ${held} px high`);
    assert.equal(high, window_);
    await done();
  });

  test("a form starts a run, and a form in the middle is filled in", async () => {
    const { page, done } = await stage.visit("#example=letter");
    await page.getByLabel("To whom?").fill("Ada");
    await page.getByLabel("What is the occasion?").fill("A <b>birthday</b>");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="paused"]:has(.box-name b:has-text("Is it good?"))').waitFor();
    await page.getByLabel("Verdict").selectOption("change it");
    await page.getByLabel("What should change?").fill("shorter");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Revised letter"))').waitFor();
    const draft = page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Draft"))');
    await counted(draft, 1, "what ran before the pause stays lit");
    await counted(page.locator(".transcript b", { hasText: "birthday" }), 0);
    await done();
  });

  test("an answer streams, and its reasoning is folded", async () => {
    const { page, done } = await stage.visit("#example=morning-paper");
    await answer(page, ["<think>先想一想</think>" + "头条 ".repeat(400), "<think>再想一想</think>" + "小诗 ".repeat(40)]);
    await glimpse(page, ".bubble.theirs[data-open]", /头条/, () => ask(page, "雨天"));
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("小报"))').waitFor();
    const thoughts = page.locator("details.think").first();
    assert.equal(await thoughts.getAttribute("open"), null);
    await thoughts.locator("summary").click();
    await thoughts.getByText("先想一想").waitFor();
    await done();
  });

  test("a file is attached, and a generated one is downloaded", async () => {
    const { page, done } = await stage.visit("#example=garden-desk");
    await page
      .locator('.composer input[type="file"]')
      .setInputFiles({ name: "bed.txt", mimeType: "text/plain", buffer: Buffer.from("tomatoes, basil") });
    await page.getByRole("button", { name: "Remove bed.txt" }).waitFor();
    await ask(page, "When do tomatoes need water?");
    await page.locator(".bubble.mine", { hasText: "bed.txt" }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "leaflet.html" }).click(),
    ]);
    assert.equal(file.suggestedFilename(), "leaflet.html");
    await done();
  });

  test("a script runs in the sandbox", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("100 EUR = 782.00 CNY").first().waitFor();
    await done();
  });

  test("stop ends a run", async () => {
    const { page, done } = await stage.visit("#example=morning-paper");
    await answer(page, ["word ".repeat(4000), "word ".repeat(4000)]);
    await ask(page, "x");
    await page.locator(".bubble.theirs", { hasText: "word word" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".transcript").getByText("canceled").waitFor();
    await page.locator('.box[data-status="canceled"]').first().waitFor();
    await counted(page.locator('.box[data-status="failed"], .box[data-status="running"]'), 0);
    await done();
  });

  test("a node is inspected and pinned, and the run continues from it with other outputs", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Receipt"))').waitFor();
    await page.locator('.react-flow__node:has(.box-name b:has-text("Do the sum"))').click();
    await page.getByRole("tab", { name: /^Out/ }).click();
    await page.locator(".values", { hasText: "Outputs" }).getByText("100 EUR = 782.00 CNY", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Pin outputs" }).click();
    const box = page.locator('.box[data-pinned]:has(.box-name b:has-text("Do the sum"))');
    await box.locator(".badge.pinned", { hasText: "pinned" }).waitFor();
    await page.getByRole("button", { name: "Run to here" }).click();
    await page.locator("#tab-timeline").click();
    await page.locator(".step", { hasText: "Do the sum" }).locator(".pinned").waitFor();
    await counted(page.locator(".step .pinned"), 1);
    await page.locator("#tab-node").click();
    await page.getByRole("button", { name: "Unpin" }).click();
    await box.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit outputs and continue" }).click();
    await rewrite(page.getByRole("textbox", { name: "Outputs" }), '{"result": "edited by hand"}');
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await page.getByRole("tab", { name: "Chat" }).click();
    await page.getByText("edited by hand").first().waitFor();
    await done();
  });

  test("a run ends after a node, and one node runs alone with other values", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.locator('.react-flow__node:has(.box-name b:has-text("Do the sum"))').click();
    await page.getByRole("button", { name: "Run to here" }).click();
    await page
      .locator('.box:is([data-status="failed"], [data-status="succeeded"]):has(.box-name b:has-text("Do the sum"))')
      .waitFor();
    await counted(page.locator('.box[data-status="idle"]:has(.box-name b:has-text("Receipt"))'), 1);
    await page.locator('.react-flow__node:has(.box-name b:has-text("Receipt"))').click();
    await page.getByRole("button", { name: "Run only this" }).click();
    const form = page.locator("form.alone");
    await form.getByRole("textbox").fill("only me");
    await form.getByRole("button", { name: "Run only this" }).click();
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Receipt"))').waitFor();
    await page.locator(".values", { hasText: "Outputs" }).locator("pre", { hasText: "only me" }).waitFor();
    await done();
  });

  test("prompts, tokens and tools of nested agents are shown", async () => {
    const { page, done } = await stage.visit("#example=garden-desk");
    await ask(page, "When do tomatoes need water?");
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Answer"))').waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.locator(".uses .uses b", { hasText: "wikipedia_search" }).waitFor();
    await page.getByRole("button", { name: /Gardener/ }).last().click();
    const prompts = page.locator(".values", { hasText: "Prompts" }).last();
    await prompts.locator("details").last().locator("summary").click();
    await prompts.getByText("You are a patient gardener").last().waitFor();
    await done();
  });

  test("stepping back through the records draws the run as it was", async () => {
    const { page, done } = await stage.visit("#example=meeting-notes");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Task list"))').waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await counted(page.locator(".turn"), 3);
    await page.getByRole("button", { name: "First record" }).click();
    await counted(page.locator('.box[data-status="succeeded"]'), 0);
    const forward = page.getByRole("button", { name: "Next record" });
    for (let lit = 0; lit === 0;) {
      await forward.click();
      lit = await page.locator('.box[data-status="succeeded"]').count();
    }
    await counted(page.locator('.box[data-status="succeeded"]'), 1);
    await page.getByRole("button", { name: "Previous record" }).click();
    await counted(page.locator('.box[data-status="succeeded"]'), 0);
    await page.getByRole("button", { name: "Latest" }).click();
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Task list"))').waitFor();
    await done();
  });

  test("a variable is changed, and a run starts with it", async () => {
    const { page, done } = await stage.visit("#example=morning-paper");
    await ask(page, "雨天");
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("小报"))').waitFor();
    await page.getByRole("tab", { name: "Variables" }).click();
    await page.getByLabel("Value of env.motto").fill("早点睡觉");
    await page.getByLabel("Run from").selectOption("Message:Paper");
    await page.locator(".variables").getByRole("button", { name: "Run" }).click();
    await page.getByRole("tab", { name: "Chat" }).click();
    await page.getByText("早点睡觉").waitFor();
    await done();
  });

  test("a status change redraws only its node", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.locator(".react-flow__node").nth(3).waitFor();
    // The parser of Markdown is loaded when the note is first shown, and redraws it.
    await page.locator(".note .markdown :not(.plain)").first().waitFor();
    await page.evaluate(() => {
      const touched = new Map<string, number>();
      Object.assign(globalThis, { touched });
      for (const box of document.querySelectorAll(".react-flow__node")) {
        new MutationObserver(() => touched.set(box.getAttribute("data-id") ?? "", 1)).observe(box, {
          subtree: true,
          childList: true,
          attributes: true,
          characterData: true,
        });
      }
    });
    await page.locator('.react-flow__node:has(.box-name b:has-text("Do the sum"))').focus();
    await page.evaluate(() => (globalThis as unknown as { touched: Map<string, number> }).touched.clear());
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Receipt"))').waitFor();
    await page.evaluate(() => (globalThis as unknown as { touched: Map<string, number> }).touched.clear());
    await page.getByRole("tab", { name: "Timeline" }).click();
    // Between these two records only the receipt is finished.
    const back = page.getByRole("button", { name: "Previous record" });
    while ((await page.locator('.box[data-status="running"]:has(.box-name b:has-text("Receipt"))').count()) === 0)
      await back.click();
    assert.deepEqual(
      await page.evaluate(() => [...(globalThis as unknown as { touched: Map<string, number> }).touched.keys()]),
      ["Message:Receipt"],
    );
    await done();
  });
});
