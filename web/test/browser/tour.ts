// The main views of the page, in English, for pictures and for tests of all views.

import type { Page } from "playwright-core";
import { pack } from "../../canvas/link.ts";
import { answer, ask, modelServer, press, rewrite, said } from "./stage.ts";

// A canvas of a stranger: requests, a script, a plugin, tools and a model.
const stranger =
  "#" +
  (await pack(
    JSON.stringify({
      title: "Price watch",
      components: {
        begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Invoke:Prices"] },
        "Invoke:Prices": {
          obj: { component_name: "Invoke", params: { url: "https://prices.example/today" } },
          downstream: ["Invoke:Shop"],
          upstream: ["begin"],
        },
        "Invoke:Shop": {
          obj: { component_name: "Invoke", params: { url: "https://{sys.query}.shop.example/" } },
          downstream: ["CodeExec:Compare"],
          upstream: ["Invoke:Prices"],
        },
        "CodeExec:Compare": {
          obj: {
            component_name: "CodeExec",
            params: { lang: "javascript", script: "function main() { return { result: 1 } }" },
          },
          downstream: ["plugin:digest@1:Sum"],
          upstream: ["Invoke:Shop"],
        },
        "plugin:digest@1:Sum": {
          obj: { component_name: "plugin:digest@1", params: {} },
          downstream: ["LLM:Advice"],
          upstream: ["CodeExec:Compare"],
        },
        "LLM:Advice": {
          obj: { component_name: "LLM", params: {} },
          downstream: ["Message:Reply"],
          upstream: ["plugin:digest@1:Sum"],
        },
        "Message:Reply": {
          obj: { component_name: "Message", params: { content: ["{LLM:Advice@content}"] } },
          upstream: ["LLM:Advice"],
        },
      },
    }),
  ));

const done = (page: Page, name: string): Promise<void> =>
  page.locator(`.box[data-status="succeeded"]:has(.box-name b:text-is("${name}"))`).waitFor();
const node = (page: Page, name: string): Promise<void> =>
  page.locator(".react-flow__node", { hasText: name }).first().click();
const tab = (page: Page, name: string): Promise<void> => page.locator(`#tab-${name}`).click();
const teaTime =
  "<think>The brewing card knows. I should not forget the time.</think>Take water of **75 to 80 degrees** and three " +
  "grams to a cup, and give it two minutes [ID:248].\n\nBoiling water makes it bitter.";

/** Shot is a view: its name, address, settings of the page, and actions that lead to it. */
export type Shot = [
  name: string,
  hash: string,
  more: { dark?: boolean; width?: number; height?: number },
  act: (page: Page) => Promise<void>,
];

/** shots are the main views of the page without a host. */
export const shots: Shot[] = [
  ["gallery", "", {}, async (page) => { await page.waitForSelector(".card"); }],
  ["run", "#example=tea-house", {}, async (page) => {
    await answer(page, ["Tea", teaTime]);
    await ask(page, "How hot should the water be for green tea?");
    await done(page, "Answer");
  }],
  ["citation", "#example=tea-house", { dark: true }, async (page) => {
    await ask(page, "How hot should the water be for green tea?");
    await done(page, "Answer");
    await page.locator("button.cite").first().click();
  }],
  ["running", "#example=meeting-notes", {}, async (page) => {
    await modelServer(page, (count) => (count < 2 ? said("Ask around, then write it down by Friday.") : undefined));
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="running"]:has(.box-name b:has-text("Make a task"))').waitFor();
  }],
  ["timeline", "#example=piggy-bank", { dark: true }, async (page) => {
    await page.getByRole("button", { name: "Run" }).click();
    await done(page, "The result");
    await tab(page, "timeline");
    await page.locator(".turn summary").first().click();
  }],
  ["timeline-phone", "#example=meeting-notes", { width: 390, height: 844 }, async (page) => {
    await page.getByRole("button", { name: "Run" }).click();
    await done(page, "Task list");
    await tab(page, "timeline");
  }],
  ["preview", "#example=piggy-bank", { width: 1280, height: 640 }, async (page) => { // the picture in docs
    await page.getByRole("button", { name: "Run" }).click();
    await done(page, "The result");
    await tab(page, "timeline");
    await page.locator(".turn summary").first().click();
    await page.getByRole("button", { name: "Fit to view" }).click();
  }],
  ["consent", stranger, {}, async (page) => { await page.locator(".consent").waitFor(); }],
  ["consent-dark", stranger, { dark: true }, async (page) => { await page.locator(".consent").waitFor(); }],
  ["consent-phone", stranger, { width: 390, height: 844 },
    async (page) => { await page.locator(".consent").waitFor(); }],
  ["consent-phone-dark", stranger, { width: 390, height: 844, dark: true },
    async (page) => { await page.locator(".consent").waitFor(); }],
  ["replace", "#example=exchange", {}, async (page) => {
    await node(page, "Receipt");
    await rewrite(page.getByLabel("Text", { exact: true }), "Other words");
    await page.evaluate((hash) => { location.hash = hash; }, stranger);
    await page.locator("dialog[open]").waitFor();
  }],
  ["form", "#example=letter", {}, async (page) => {
    await answer(page, ["Dear Ada, what a telescope! May every night be clear."]);
    await page.getByLabel("To whom?").fill("Ada");
    await page.getByLabel("What is the occasion?").fill("A new telescope");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="paused"]').waitFor();
  }],
  ["inspector", "#example=tea-house", {}, async (page) => {
    await answer(page, ["Tea", teaTime]);
    await ask(page, "How hot should the water be for green tea?");
    await done(page, "Answer");
    await node(page, "Brewing advice");
    await page.locator("#part-tab-out").click();
    await page.locator(".values .value summary").last().click();
  }],
  ["agent", "#example=garden-desk", {}, async (page) => {
    await ask(page, "When do tomatoes need water?");
    await done(page, "Answer");
    await tab(page, "timeline");
  }],
  ["settings", "#example=exchange", {}, async (page) => { await node(page, "Do the sum"); }],
  ["alone", "#example=exchange", { dark: true }, async (page) => {
    await page.getByRole("button", { name: "Run" }).click();
    await done(page, "Receipt");
    await node(page, "Receipt");
    await page.getByRole("button", { name: "Run only this" }).click();
    await page.locator("form.alone").waitFor();
  }],
  ["edit", "#example=exchange", {}, async (page) => {
    await page.getByRole("button", { name: "Run" }).click();
    await done(page, "Receipt");
    await node(page, "Do the sum");
    await page.getByRole("button", { name: "Edit outputs and continue" }).click();
    await page.getByRole("textbox", { name: "Outputs" }).waitFor();
  }],
  ["variables", "#example=piggy-bank", {}, async (page) => {
    await page.getByRole("button", { name: "Run" }).click();
    await done(page, "The result");
    await tab(page, "variables");
  }],
  ["problems", "#example=garden-desk", {}, async (page) => {
    await page.locator("#tab-problems .count").waitFor();
    await tab(page, "problems");
  }],
  ["failed", "#example=exchange", {}, async (page) => {
    await node(page, "Do the sum");
    const script = page.getByLabel("Script", { exact: true });
    await rewrite(script, "function main() { throw new Error('the abacus lost a bead') }");
    await tab(page, "chat");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="failed"]').waitFor();
  }],
  ["chinese", "#example=morning-paper", { dark: true }, async (page) => {
    await press(page, "中文");
    await ask(page, "雨天");
    await done(page, "小报");
  }],
  ["chinese-gallery", "", {}, async (page) => {
    await press(page, "中文");
    await page.waitForSelector(".card");
  }],
  ["model", "#example=exchange", {}, async (page) => {
    await press(page, /^Model/);
    await page.getByText("OpenAI-compatible server").click();
  }],
  ["fault", "#c=AAAA", {}, async (page) => { await page.locator(".fault").waitFor(); }],
  ["narrow", "#example=tea-house", { width: 420, height: 800 },
    async (page) => { await page.locator(".box").first().waitFor(); }],
  ["narrow-gallery", "", { width: 420, height: 800 }, async (page) => { await page.waitForSelector(".card"); }],
];
