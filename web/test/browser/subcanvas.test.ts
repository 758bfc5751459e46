// A selection is extracted into a separate canvas in the page, runs as before, and is merged back.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { serveHost, type Served } from "./host.ts";
import { ask, counted, glimpse, missing, raise, type Stage } from "./stage.ts";

const desktop = { width: 1440, height: 900 };

const box = (page: Page, name: string): Locator =>
  page.locator(".react-flow__node", { has: page.locator(".box-name b", { hasText: new RegExp(`^${name}$`) }) });

// dsl is begin -> Make -> Wrap -> Say.
const dsl = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["T:Make"], upstream: [] },
    "T:Make": step("notes on {sys.query}", "T:Wrap", "begin"),
    "T:Wrap": step("<{T:Make@result}>", "M:Say", "T:Make"),
    "M:Say": {
      obj: { component_name: "Message", params: { content: ["{T:Wrap@result} {T:Make@result}"] } },
      downstream: [],
      upstream: ["T:Wrap"],
    },
  },
  graph: {
    nodes: ["begin", "T:Make", "T:Wrap", "M:Say"].map((id, at) => ({
      id,
      position: { x: at * 280, y: 0 },
      data: { label: id, name: id.split(":").at(-1) },
    })),
    edges: [],
  },
};

function step(script: string, next: string, before: string): object {
  const params = { method: "merge", script, delimiters: [""], outputs: { result: { type: "string", value: "" } } };
  return { obj: { component_name: "StringTransform", params }, downstream: [next], upstream: [before] };
}

describe("a part of a canvas as a canvas of its own", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  before(async () => {
    host = await serveHost();
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  test("it runs as before, is undone in one step, and is replaced by its steps again", async () => {
    const { page, done } = await stage.visit("login", desktop);
    await page.getByLabel("Password or API key").fill(host.key);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL((url) => url.pathname === "/");
    const headers = { authorization: `Bearer ${host.key}`, "content-type": "application/json" };
    const body = JSON.stringify({ title: "Whole", dsl });
    const made = await fetch(`${host.address}/api/v2/canvases`, { method: "POST", headers, body });
    const { id } = (await made.json()) as { id: string };
    await page.goto(`${host.address}/#host`);
    await page.locator(".on-host .cards").waitFor();
    await page.goto(`${host.address}/#canvas=${id}`);
    await box(page, "Make").waitFor();

    const answers = async (): Promise<void> => {
      await page.locator("#tab-chat").click();
      const before = await page.getByText("<notes on tea> notes on tea").count();
      await ask(page, "tea");
      await page.getByText("<notes on tea> notes on tea").nth(before).waitFor();
    };
    await answers();

    await box(page, "Make").click();
    await box(page, "Wrap").click({ modifiers: ["Control"] });
    await page.keyboard.press("g");
    await box(page, "Make \\+1").waitFor();
    await box(page, "Wrap").waitFor({ state: "detached" });
    await counted(page.locator(".react-flow__edge"), 2);
    await answers();

    await page.keyboard.press("Escape");
    await page.locator(".board").focus();
    await page.keyboard.press("Control+z");
    await box(page, "Wrap").waitFor();
    await counted(page.locator(".react-flow__node"), 4);
    await page.keyboard.press("Control+Shift+z");
    await box(page, "Make \\+1").waitFor();

    const all = await fetch(`${host.address}/api/v2/canvases`, { headers });
    const { items } = (await all.json()) as { items: { title: string }[] };
    assert.deepEqual(new Set(items.map(({ title }) => title)), new Set(["Whole", "Make +1"]));

    await box(page, "Make \\+1").click();
    await page.locator(".board").focus();
    await page.keyboard.press("Control+k");
    await page.locator("input:focus").waitFor();
    await page.keyboard.type("by its steps");
    await page.keyboard.press("Enter");
    await box(page, "Wrap").waitFor();
    await counted(page.locator(".react-flow__node"), 4);
    await answers();
    await done();
  });

  test("without a host the new canvas is stored in this browser, and a refusal shows the reason", async () => {
    const { page, done } = await stage.visit("", desktop);
    await page.getByRole("button", { name: /New canvas/ }).click();
    await box(page, "begin").click();
    await page.locator(".board").focus();
    await glimpse(page, ".notice[data-shown]", /The start of a canvas/, () => page.keyboard.press("g"));
    await page.keyboard.press("a");
    await page.locator(".palette input").waitFor();
    await page.keyboard.type("StringTransform");
    await page.keyboard.press("Enter");
    await page.locator(".overlay").waitFor({ state: "detached" });
    await page.locator(".react-flow__node.selected").waitFor();
    await page.keyboard.press("g");
    await page.locator('.react-flow__node[data-id^="Canvas:"]').waitFor();
    await page.getByRole("button", { name: "easel, Home" }).click();
    await page.getByText("Text", { exact: true }).first().waitFor();
    await done();
  });
});
