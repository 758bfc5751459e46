// From a wish in words to a canvas: drafts by a model, shown before they are added.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { answer, counted, missing, press, raise, type Stage } from "./stage.ts";

const step = (component: string, name: string, params: object, next: string[] = []): object =>
  ({ component, name, params, next });
const inputs = { number: { name: "Order number", type: "line", optional: false } };
const form = { enable_tips: true, tips: "Your order", inputs };
const bot = [
  { path: ["steps", "UserFillUp:Order"], after: step("UserFillUp", "Ask for the order", form, ["Message:Done"]) },
  { path: ["steps", "Message:Done"],
    after: step("Message", "Say thanks <b>", { content: ["Order {UserFillUp:Order@number}"] }) },
  { path: ["steps", "begin", "next"], after: ["UserFillUp:Order"] },
];
const faq = JSON.parse(readFileSync(new URL("../../templates/support-faq.json", import.meta.url), "utf8")) as {
  dsl: { components: Record<string, { downstream: string[] }> };
};
const inFront = [
  { path: ["steps", "UserFillUp:Order"],
    after: step("UserFillUp", "Ask for the order", form, faq.dsl.components["begin"]?.downstream) },
  { path: ["steps", "begin", "next"], after: ["UserFillUp:Order"] },
];
const lost = [{ path: ["steps", "begin", "next"], after: ["LLM:Nowhere"] }];
const prose = `Sure [see below]!\n\`\`\`json\n${JSON.stringify(bot)}\n\`\`\``;
const dialog = (page: Page): Locator => page.getByRole("dialog");

async function look(page: Page, name: string): Promise<void> {
  if (process.env["LOOK"]) await page.screenshot({ path: `${process.env["LOOK"]}/${name}.png` });
}

describe("drafts by a model", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  test("a wish at home becomes a canvas after its changes were shown, and one undo takes them back", async () => {
    const { page, done } = await stage.visit("", { width: 1440, height: 900 });
    await page.getByRole("heading", { name: "What should it do?" }).waitFor();
    await page.getByRole("region", { name: "First steps" }).waitFor();
    await look(page, "home-1440");
    await audit(page, "home");
    await answer(page, [{ text: prose }]);
    await page.getByLabel("Describe what you want").fill("Ask customers for their order number");
    await page.getByRole("button", { name: "Build it" }).click();
    await dialog(page).getByText("Ask for the order", { exact: false }).first().waitFor();
    await dialog(page).getByText("Say thanks <b>").first().waitFor();
    await dialog(page).getByText("{UserFillUp:Order@number}").waitFor(); // settings of new steps are shown too
    await counted(page.locator(".react-flow__node"), 1, "nothing is added before it was accepted");
    await look(page, "draft-1440");
    await audit(page, "a draft");
    await dialog(page).getByRole("button", { name: "Add these changes" }).click();
    await counted(page.locator(".react-flow__node"), 3);
    await counted(page.locator(".react-flow__edge"), 2);
    await look(page, "drafted-1440");
    await page.locator(".board").focus();
    await page.keyboard.press("Control+z");
    await counted(page.locator(".react-flow__node"), 1);
    await done();
  });

  test("an open canvas is edited; a bad answer goes back once, and is never added in silence", async () => {
    const { page, done } = await stage.visit("#template=support-faq", { width: 1440, height: 900 });
    await page.locator(".react-flow__node").nth(2).waitFor();
    const nodes = await page.locator(".react-flow__node").count();
    const wish = async (replies: unknown[]): Promise<void> => {
      await answer(page, replies);
      await page.getByRole("button", { name: "Describe a change" }).click();
      await dialog(page).getByLabel("What should this canvas do?").fill("Add a form that asks for the order number");
      await dialog(page).getByRole("button", { name: "Make a draft" }).click();
    };
    await wish([{ text: JSON.stringify(lost) }, { text: JSON.stringify(inFront) }]);
    await dialog(page).getByText(/^Answers: 2,/).waitFor();
    await counted(dialog(page).getByRole("alert"), 0);
    await dialog(page).getByRole("button", { name: "Add these changes" }).click();
    await counted(page.locator(".react-flow__node"), nodes + 1);
    await wish([{ text: "I would rather not." }]);
    await dialog(page).getByRole("alert").getByText("no JSON list of changes").waitFor();
    await counted(dialog(page).getByRole("button", { name: /^Add/ }), 0);
    await look(page, "draft-refused-1440");
    await audit(page, "an answer that cannot be used");
    await dialog(page).getByRole("button", { name: "Discard" }).click();
    await dialog(page).getByRole("button", { name: "Close" }).click();
    await counted(page.locator(".react-flow__node"), nodes + 1, "nothing was added");
    await done();
  });

  test("without a model the nearest template opens, in Chinese on a phone too", async () => {
    const { page, done } = await stage.visit("", { width: 390, height: 844 });
    await press(page, "中文");
    await page.getByRole("heading", { name: "想让它做什么？" }).waitFor();
    await look(page, "home-zh-390");
    await audit(page, "home, Chinese, phone");
    await page.getByLabel("描述您想要的内容").fill("把文章翻译成英文");
    await page.getByRole("button", { name: "开始搭建" }).click();
    await dialog(page).getByText("此画布由最接近的模板创建").waitFor();
    const { width = 0, x = 0 } = (await dialog(page).boundingBox()) ?? {};
    assert.ok(x >= 0 && x + width <= 390, `the dialog reaches from ${x} to ${x + width}`);
    await look(page, "draft-zh-390");
    await dialog(page).getByRole("button", { name: "关闭" }).click();
    await page.locator("h1.title", { hasText: "翻译" }).waitFor({ state: "attached" }); // a phone hides it
    await done();
  });
});
