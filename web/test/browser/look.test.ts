// Accessibility of the page: keyboard, screen reader, themes and languages.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pack } from "../../canvas/link.ts";
import { audit } from "./audit.ts";
import { ask, missing, raise, rewrite, type Stage } from "./stage.ts";

const stranger = JSON.stringify({
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Invoke:A"] },
    "Invoke:A": {
      obj: { component_name: "Invoke", params: { url: "https://api.example/x" } },
      downstream: ["Message:B"],
      upstream: ["begin"],
    },
    "Message:B": {
      obj: { component_name: "Message", params: { content: ["{Invoke:A@result}"] } },
      upstream: ["Invoke:A"],
    },
  },
});

describe("the look", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  test("everything works from the keyboard", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.locator(".react-flow__node").first().waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "page");
    await page.locator('.react-flow__node:has(.box-name b:has-text("Receipt"))').focus();
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Chat" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: "Receipt" }).waitFor();
    await done();
  });

  test("theme and language are remembered, and every text has both languages", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.getByRole("button", { name: "中文" }).click();
    await page.getByRole("button", { name: "切换明暗" }).click();
    await page.reload();
    await page.getByRole("tab", { name: "对话" }).waitFor();
    assert.deepEqual(
      await page.evaluate(() => [document.documentElement.lang, document.documentElement.dataset["theme"]]),
      ["zh", "dark"],
    );
    await done();
  });

  test("this machine has fonts for both languages: a picture shows no placeholder glyphs", async () => {
    const { page, done } = await stage.visit();
    const drawn = await page.evaluate(() => {
      const draw = (text: string): string => {
        const canvas = document.createElement("canvas");
        const pen = canvas.getContext("2d");
        if (!pen) throw new Error("no canvas");
        pen.font = getComputedStyle(document.body).font;
        pen.fillText(text, 10, 30);
        return canvas.toDataURL();
      };
      return ["A", "B", "中", "文", "画", "布"].map(draw);
    });
    assert.equal(new Set(drawn).size, drawn.length, "build/setup installs a font");
    await done();
  });

  for (const { dark, language } of [{ dark: false, language: "English" }, { dark: true, language: "中文" }]) {
    test(`axe finds nothing, ${dark ? "dark" : "light"}, ${language}`, async () => {
      const { page, done } = await stage.visit("", { dark });
      await page.locator(".card").first().waitFor();
      if (language !== "English") await page.getByRole("button", { name: "中文" }).click();
      await audit(page, "gallery");
      await page.locator(".card").last().click();
      await ask(page, "green tea");
      await page.locator('.box[data-status="succeeded"] .box-name', { hasText: /^Answer/ }).waitFor();
      await page.locator(".stand-ins").waitFor();
      await page
        .locator('.composer input[type="file"]')
        .setInputFiles({ name: "old.doc", mimeType: "application/msword", buffer: Buffer.from("d0cf11e0", "hex") });
      await page.locator(".composer .fault").waitFor();
      for (const tab of ["chat", "timeline", "node", "variables", "problems"]) {
        if (tab === "node") {
          await page.locator('.react-flow__node:has(.box-name b:has-text("Brewing advice"))').click();
          await page.locator(".actions button", { has: page.locator(".icon") }).first().click();
          await page.locator(".box .badge.pinned").waitFor();
          await page.locator(".actions button").nth(2).click();
          await page.locator("form.alone").waitFor();
        }
        await page.locator(`#tab-${tab}`).click();
        await audit(page, tab);
      }
      for (const key of ["a", "Control+f", "Control+k", "?"]) {
        await page.locator(".board").focus();
        await page.keyboard.press(key);
        await page.locator(".overlay, dialog.help").waitFor();
        await audit(page, `overlay ${key}`);
        await page.keyboard.press("Escape");
        await page.locator(".overlay, dialog.help").waitFor({ state: "detached" });
      }
      for (const name of [/What is it about|这是/, /Brewing advice/]) {
        const box = page.locator(".react-flow__node", { has: page.locator(".box-name b", { hasText: name }) });
        if (await box.count() === 0) continue;
        await box.first().click();
        await page.locator("#tab-node").click();
        const closed = page.locator(".settings > details.more:not([open]) > summary");
        while (await closed.count() > 0) await closed.first().click();
        await audit(page, "settings");
        await page.locator(".prompt-field .full").first().click();
        await page.locator("dialog.full-screen").waitFor();
        await audit(page, "full screen");
        await page.keyboard.press("Escape");
        await page.locator("dialog.full-screen").waitFor({ state: "detached" });
      }
      await page.locator("#tab-chat").click();
      await page.locator("button.cite").first().or(page.locator("#tab-chat")).last().click();
      await page.locator("header.bar button:not(.me)", { has: page.locator("span.action-label") }).last().click();
      await page.locator("dialog[open]").waitFor();
      await audit(page, "dialog");
      await page.locator("dialog .choice").nth(2).click();
      for (const address of ["localhost:3000", "https://public.example"]) {
        await page.locator(".locals input").fill(address);
        await page.locator(".locals button[type=submit]").click();
      }
      await page.locator(".locals .fault").waitFor();
      await audit(page, "dialog with fields");
      await page.locator("dialog button.primary[type=submit]").click();
      await page.evaluate((hash) => { location.hash = hash; }, await pack(stranger));
      await page.locator(".consent").waitFor();
      await audit(page, "consent");
      await page.locator('.react-flow__node:has(.box-name b:has-text("Message"))').click();
      await page.locator("#tab-node").click();
      await rewrite(page.locator(".settings .cm-content").first(), "changed");
      await page.evaluate(() => { location.hash = "example=exchange"; });
      await page.locator("dialog[open] h2#replace-title").waitFor();
      await audit(page, "replace");
      await done();
    });
  }
});
