// Fifteen steps from an empty page to a support bot that answers on a site of another origin.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { foreignSite, type Site } from "./foreign.ts";
import { parsed, root, serveHost, type Served } from "./host.ts";
import { ask, glimpse, missing, raise, type Stage } from "./stage.ts";

const desktop = { width: 1440, height: 900 };

const box = (page: Page, name: string): Locator =>
  page.locator(".react-flow__node", { has: page.locator(".box-name b", { hasText: name }) });

// refused matches Chromium's own messages about requests before the user has signed in.
const refused = /status of 401/;

describe("the support bot", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let site: Site;
  let stage: Stage;
  let dataset = "";

  before(async () => {
    host = await serveHost();
    site = await foreignSite(host.address);
    stage = await raise({ at: host.address + "/" });
    dataset = await shopDataset(host);
  });
  after(async () => {
    await stage?.close();
    await site?.close();
    await host?.close();
  });

  test("it is built, published and embedded by mouse", async () => {
    const { page, done } = await stage.visit("", desktop);
    // 1, 2: a canvas with a greeting.
    await page.getByRole("button", { name: /New canvas/ }).click();
    await box(page, "begin").click();
    await setting(page, "Greeting").fill("Hello! Ask me about returns.");
    // 3, 4: knowledge.
    await box(page, "begin").locator(".way").first().click();
    await pick(page, "Knowledge search");
    await page.locator(".settings .datasets input").first().fill(dataset);
    await page.keyboard.press("Enter");
    await box(page, "Knowledge search").getByText("one dataset").waitFor();
    // 5, 6: a model that answers from it.
    await box(page, "Knowledge search").locator(".way:not(.on-error)").click();
    await pick(page, "LLM");
    await setting(page, "Instructions").click();
    await refer(page, "Answer from these notes: ", "formalized_content");
    // 7, 8: its answer is sent.
    await box(page, "LLM").locator(".way:not(.on-error)").click();
    await pick(page, "Reply");
    await setting(page, "Text").click();
    await refer(page, "", /LLM.*content|content.*LLM/s);
    // 9: the whole canvas in view.
    await page.locator(".board").focus();
    await page.keyboard.press("1");
    await audit(page, "canvas");
    // 10: a run in the page.
    await page.locator("#tab-chat").click();
    await ask(page, "How long may I return shoes?");
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Reply"))').waitFor();
    // 11: saved on the host.
    await page.getByRole("button", { name: "Publish" }).click();
    await page.locator("dialog.publish").getByRole("button", { name: "Save to host" }).click();
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("textbox", { name: "Title" }).fill("Support bot");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    // 12: checked and published.
    await page.getByText("All changes are saved").waitFor();
    await page.locator(".bar .title", { hasText: "Support bot" }).waitFor();
    await audit(page, "publish");
    await page.getByRole("button", { name: /^Publish (anyway|this version)$/ }).click();
    await page.getByText("Published. Users get this version").waitFor();
    // 13: the line for a site.
    await page.getByRole("button", { name: "Put the chat on a site" }).click();
    await page.getByRole("button", { name: "Copy: Widget" }).waitFor();
    await audit(page, "embed");
    await page.getByRole("button", { name: /^Copy: Widget/ }).click();
    const line = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(line, /^<script src="[^"]+\/widget\.js"/);
    // 14, 15: on the site.
    await visitorAsks(line);
    await audit(page, "end");
    await done(refused);
  });

  test("it is built by keyboard alone", async () => {
    const { page, done } = await stage.visit("", desktop);
    const press = (key: string): Promise<void> => page.keyboard.press(key);
    const add = async (name: string): Promise<void> => {
      await press("a");
      await page.locator(".palette input").waitFor();
      await page.keyboard.type(name);
      await press("Enter");
      await box(page, name).and(page.locator(":focus")).waitFor();
      await press("Enter"); // its settings
      await page.locator(".inspector :focus").first().waitFor(); // a field in a shadow root counts twice
    };
    // 1, 2: a canvas with a greeting.
    await tabTo(page, page.locator(".card.new:enabled"));
    await press("Enter");
    await box(page, "begin").waitFor();
    await press("F6");
    await press("F6");
    await tabTo(page, box(page, "begin"));
    await press("Enter");
    await press("Enter");
    await tabTo(page, setting(page, "Greeting"));
    await page.keyboard.type("Hello! Ask me about returns.");
    // 3, 4: knowledge. F6 leads from the panel over the bar to the canvas.
    await backToCanvas(page, "begin");
    await add("Knowledge search");
    await tabTo(page, page.locator(".settings .datasets input").first());
    await page.keyboard.type(dataset);
    await press("Enter");
    await box(page, "Knowledge search").getByText("one dataset").waitFor();
    // 5, 6: a model that answers from it.
    await backToCanvas(page, "Knowledge search");
    await add("LLM");
    await tabTo(page, setting(page, "Instructions"));
    await referByKeys(page, "Answer from these notes: ", "formalized_content");
    // 7, 8: its answer is sent.
    await backToCanvas(page, "LLM");
    await add("Reply");
    await tabTo(page, setting(page, "Text"));
    await referByKeys(page, "", "content");
    await page.locator(".react-flow__edge").nth(2).waitFor({ state: "attached" });
    // 9: the whole canvas in view.
    await backToCanvas(page, "Reply");
    await press("1");
    await audit(page, "canvas");
    // 10: a run in the page.
    await press("F6");
    await page.locator('.panel [role="tab"]:focus').waitFor();
    while (!(await hasKeyboard(page.locator("#tab-chat")))) await press("ArrowLeft");
    await tabTo(page, page.locator(".composer textarea"));
    await page.keyboard.type("How long may I return shoes?");
    await press("Enter");
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Reply"))').waitFor();
    // 11: saved on the host.
    await press("F6");
    const enter = async (button: Locator): Promise<void> => {
      await tabTo(page, button);
      await press("Enter");
    };
    await enter(page.locator(".bar").getByRole("button", { name: "Publish" }));
    await enter(page.locator("dialog.publish").getByRole("button", { name: "Save to host" }));
    await tabTo(page, page.getByLabel("API key"));
    await page.keyboard.type(host.key);
    await press("Enter");
    await page.getByLabel("API key").waitFor({ state: "detached" });
    await tabTo(page, page.getByRole("textbox", { name: "Title" }));
    await press("Control+a");
    await page.keyboard.type("Support bot by keys");
    await press("Enter");
    // 12: checked and published.
    await page.getByText("All changes are saved").waitFor();
    await page.locator(".bar .title", { hasText: "Support bot" }).waitFor();
    await enter(page.getByRole("button", { name: /^Publish (anyway|this version)$/ }));
    await page.getByText("Published. Users get this version").waitFor();
    // 13: the line for a site.
    await enter(page.getByRole("button", { name: "Put the chat on a site" }));
    const copy = page.getByRole("button", { name: /^Copy: Widget/ });
    await glimpse(page, "button", /^Copied: Widget/, () => enter(copy));
    const line = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(line, /^<script src="[^"]+\/widget\.js"/);
    // 14, 15: on the site.
    await visitorAsks(line, true);
    await done(refused);
  });

  // visitorAsks opens the site with a line in it and waits for an answer from the dataset.
  async function visitorAsks(line: string, byKeys = false): Promise<void> {
    site.body = line;
    const { page, done } = await stage.visit();
    await page.goto(site.address);
    const chat = page.getByRole("button", { name: "Open the chat" });
    const field = page.getByRole("textbox", { name: "Write a message" });
    if (byKeys) {
      await tabTo(page, chat);
      await page.keyboard.press("Enter");
    } else await chat.click();
    await page.locator(".theirs", { hasText: "Hello! Ask me about returns." }).waitFor();
    if (byKeys) await tabTo(page, field);
    else await field.click();
    await page.keyboard.type("How long may I return shoes?");
    await page.keyboard.press("Enter");

    await page.locator(".theirs", { hasText: "thirty days" }).first().waitFor();
    await audit(page, "site");
    await done();
  }
});

async function pick(page: Page, name: string): Promise<void> {
  const option = page.locator(".palette-entry", { has: page.locator("b", { hasText: new RegExp(`^${name}$`) }) });
  await option.click();
  await box(page, name).waitFor();
}

// tabTo presses Tab until an element has the keyboard.
async function tabTo(page: Page, element: Locator): Promise<void> {
  const one = element.first();
  await one.waitFor();
  for (let steps = 0; steps < 120; steps++) {
    if (await hasKeyboard(one)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not lead to ${String(element)}`);
}

function hasKeyboard(element: Locator): Promise<boolean> {
  return element.evaluate((each) => (each.getRootNode() as Document | ShadowRoot).activeElement === each);
}

// backToCanvas leads from the panel to the selected box.
async function backToCanvas(page: Page, name: string): Promise<void> {
  await page.keyboard.press("F6");
  await page.keyboard.press("F6");
  await box(page, name).and(page.locator(":focus")).waitFor();
}

// referByKeys returns refer with the first of the offered variables that match.
async function referByKeys(page: Page, text: string, variable: string): Promise<void> {
  await page.keyboard.type(`${text}{${variable}`);
  const list = ".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)"; // it is filtered
  await page.locator(`${list} li[aria-selected]`, { hasText: variable }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".cm-focused .chip:not(.lost)").waitFor();
}

// setting returns a field of the selected node.
function setting(page: Page, label: string): Locator {
  return page.locator(".settings").getByLabel(label, { exact: true });
}

// refer types a text that ends with a variable, which the list behind { offers.
async function refer(page: Page, text: string, variable: string | RegExp): Promise<void> {
  await page.keyboard.type(`${text}{`);
  const option = page.locator(".cm-tooltip-autocomplete li", { hasText: variable }).first();
  await option.waitFor();
  await option.click();
  await page.locator(".cm-focused .chip:not(.lost)").waitFor();
}

// shopDataset returns a dataset with a document about returns, made by the API.
async function shopDataset(host: Served): Promise<string> {
  const { address, key } = host;
  const headers = { authorization: `Bearer ${key}` };
  const made = await fetch(`${address}/api/v2/datasets`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "shop" }),
  });
  const { id } = (await made.json()) as { id: string };
  const form = new FormData();
  const text = readFileSync(join(root, "host", "examples", "knowledge", "shop", "returns.md"));
  form.append("file", new Blob([text]), "returns.md");
  const sent = await fetch(`${address}/api/v2/datasets/${id}/documents?parse=true`, {
    method: "POST",
    headers,
    body: form,
  });
  assert.ok(sent.ok, await sent.text());
  await parsed(host, id);
  return id;
}
