// Design rules of all views: names instead of ids, no truncated text.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { ask, missing, press, raise, rewrite, type Stage } from "./stage.ts";

interface Rect { x: number; y: number; width: number; height: number }

const rect = async (element: Locator): Promise<Rect> => (await element.boundingBox()) ?? assert.fail("not drawn");
const node = (page: Page, name: string): Locator => page.locator(".react-flow__node", { hasText: name }).first();

describe("the design", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  test("the button of a long dialog has space below it", async () => {
    const { page, done } = await stage.visit("#example=exchange", { height: 560 });
    await press(page, /^Model/);
    await page.getByText("OpenAI-compatible server").click();
    const dialog = page.locator("dialog[open]");
    const [outer, inner] = [await rect(dialog), await rect(dialog.getByRole("button", { name: "Done" }))];
    assert.ok(outer.y + outer.height - inner.y - inner.height >= 8, "it ends at the edge of the dialog");
    await done();
  });

  test("citations are numbered like their sources, and a passage is in the middle of the window", async () => {
    const { page, done } = await stage.visit("#example=tea-house");
    await ask(page, "How hot should the water be for green tea?");
    const cite = page.locator("button.cite").first();
    const label = (await cite.textContent())?.trim() ?? "";
    await cite.click();
    const passage = page.locator(".passage:popover-open");
    const title = (await passage.locator("b").textContent()) ?? "";
    const { y, height } = await rect(passage);
    assert.ok(Math.abs(y + height / 2 - 410) < 20, `its middle is at ${y + height / 2}`);
    await page.keyboard.press("Escape");
    await page.locator(".sources summary").first().click();
    assert.equal(await page.locator(".sources li b").nth(Number(label) - 1).textContent(), `${label} ${title}`);
    await done();
  });

  test("a failed run links to its node by name", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await node(page, "Do the sum").click();
    await rewrite(page.getByLabel("Script", { exact: true }), "function main() { throw new Error('no bead') }");
    await page.locator("#tab-chat").click();
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.chat [role="alert"]', { hasText: "no bead" }).waitFor();
    await page.locator(".chat").getByRole("button", { name: "Show “Do the sum”" }).click();
    await page.getByRole("heading", { name: "Do the sum" }).waitFor();
    await done();
  });

  test("inputs of a step are named by their node", async () => {
    const { page, done } = await stage.visit("#example=tea-house");
    await ask(page, "How hot should the water be for green tea?");
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:text-is("Answer"))').waitFor();
    await node(page, "Brewing advice").click();
    await page.getByRole("tab", { name: "In", exact: true }).click();
    await page.locator(".value-name", { hasText: "Look in our notes · formalized_content" }).first().waitFor();
    await done();
  });

  test("settings of a new node are not marked as changed, and variables are offered with space", async () => {
    const { page, done } = await stage.visit();
    await page.getByRole("button", { name: /New canvas/ }).click();
    await node(page, "begin").locator(".way").first().click();
    await page.locator(".palette-entry", { has: page.locator("b", { hasText: /^Knowledge search$/ }) }).click();
    await page.locator(".settings").getByText("What to look for", { exact: true }).waitFor();
    assert.equal(await page.locator(".setting-head .chip").count(), 0);
    await rewrite(page.locator(".settings").getByLabel("What to look for", { exact: true }), "{");
    const option = page.locator(".cm-tooltip-autocomplete li").first();
    await option.waitFor();
    assert.ok((await rect(option)).height >= 24, "the rows are narrow");
    await done();
  });

  test("buttons of the bar have space between them on a phone, and tabs at the edge", async () => {
    const { page, done } = await stage.visit("#example=exchange", { width: 390, height: 800 });
    const publish = await rect(page.locator(".bar").getByRole("button", { name: "Publish" }));
    const panel = await rect(page.locator(".bar > button").last());
    assert.ok(panel.x - publish.x - publish.width >= 4, "the last buttons touch");
    const tabs = page.locator(".tabs button").first();
    const indent = await tabs.evaluate(
      (each) => each.getBoundingClientRect().x + parseFloat(getComputedStyle(each).paddingLeft),
    );
    assert.ok(indent >= 8, `the first tab begins at ${indent}`);
    await done();
  });

  test("a filled form shows the labels of its fields, also of a form in the middle", async () => {
    const { page, done } = await stage.visit("#example=letter");
    await page.getByLabel("To whom?").fill("Ada");
    await page.getByLabel("What is the occasion?").fill("A telescope");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByLabel("Verdict").selectOption({ index: 1 });
    const terms = page.locator(".filled").first().locator("dt");
    assert.deepEqual((await terms.allTextContents()).slice(0, 2), ["To whom?", "What is the occasion?"]);
    await page.getByRole("button", { name: "Continue" }).click();
    assert.equal(await page.locator(".filled").nth(1).locator("dt").first().textContent(), "Verdict");
    await done();
  });

  test("a variable has one name in cards, settings and the form of a single run", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:text-is("Receipt"))').waitFor();
    await node(page, "Do the sum").click();
    await page.locator(".settings .chip", { hasText: "begin · amount" }).waitFor();
    await node(page, "Receipt").click();
    await page.getByRole("button", { name: "Run only this" }).click();
    await page.locator("form.alone").getByLabel("Do the sum · result").waitFor();
    await done();
  });

  test("help texts are sentences, shown on demand, and a setting without a value is not null", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await node(page, "Receipt").click();
    await page.getByRole("button", { name: "About Text" }).click();
    await page.locator(".setting small:visible").first().waitFor();
    const texts = await page.locator(".setting > small").allTextContents();
    assert.deepEqual(texts.filter((text) => /^[a-z]/.test(text)), []);
    assert.equal(await page.locator(".json-button", { hasText: "null" }).count(), 0);
    await done();
  });

  test("a card does not show generated ids of datasets", async () => {
    const { page, done } = await stage.visit();
    const retrieval = { component_name: "Retrieval", params: { kb_ids: ["4f3c2b1a09d8e7f64f3c2b1a09d8e7f6", "tea"] } };
    await page.setInputFiles('input[type="file"][accept*="json"]', {
      name: "ids.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({
        components: {
          begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Retrieval:R"], upstream: [] },
          "Retrieval:R": { obj: retrieval, downstream: [], upstream: ["begin"] },
        },
      })),
    });
    await page.locator(".summary", { hasText: "tea, one dataset" }).waitFor();
    await done();
  });

  test("plugins are found by name: at home, beside the steps, and in the commands", async () => {
    const { page, done } = await stage.visit();
    const dialog = page.getByRole("dialog", { name: "Plugins" });
    const leave = async (): Promise<void> => {
      await dialog.getByLabel("Add a plugin").waitFor();
      await dialog.getByRole("button", { name: "Done" }).click();
    };
    assert.equal(await page.getByRole("button", { name: "Open file" }).count(), 0, "home imports files");
    await page.locator(".bar").getByRole("button", { name: "Plugins" }).click();
    await leave();
    await page.getByRole("button", { name: /New canvas/ }).click();
    await page.getByRole("button", { name: "Add step" }).click();
    await page.getByRole("button", { name: "Add a plugin" }).press("Enter");
    await leave();
    await page.locator(".board").focus();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("plugins");
    await page.keyboard.press("Enter");
    await leave();
    await done();
  });

  test("a long title has two lines, no kind stands below an equal name, and nothing is under the tools", async () => {
    const { page, done } = await stage.visit("", { width: 1440, height: 900 });
    const box = (component_name: string, upstream: string[], downstream: string[]): object =>
      ({ obj: { component_name, params: {} }, upstream, downstream });
    const name = "Ask the customer for the number of the order and the day";
    await page.setInputFiles('input[type="file"][accept*="json"]', {
      name: "titles.json", mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({
        components: { begin: box("Begin", [], ["UserFillUp:A"]), "UserFillUp:A": box("UserFillUp", ["begin"], []) },
        graph: { nodes: [
          { id: "begin", type: "beginNode", position: { x: 0, y: 0 }, data: { label: "Begin", name: "Start" } },
          { id: "UserFillUp:A", type: "ragNode", position: { x: 300, y: 900 }, data: { label: "UserFillUp", name } },
        ], edges: [] },
      })),
    });
    const title = node(page, name).locator(".box-name b");
    const { height } = await rect(title);
    assert.ok(height > 30 && height < 50, `the title is ${height} high`);
    assert.equal(await node(page, "Start").locator(".box-name small").count(), 0);
    assert.equal(await node(page, name).locator(".box-name small").textContent(), "Ask the user");
    await page.locator(".board").focus();
    await page.keyboard.press("Shift+1");
    const tools = await rect(page.locator(".toolbar"));
    await page.waitForFunction((least) => {
      const tops = [...document.querySelectorAll(".react-flow__node")].map((each) => each.getBoundingClientRect().top);
      return Math.min(...tops) >= least;
    }, tools.y + tools.height);
    await done();
  });
});
