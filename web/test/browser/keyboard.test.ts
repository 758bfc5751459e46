// The canvas by keyboard: one stop of Tab, arrows between nodes, and no key that leaves the page.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { counted, missing, raise, type Stage } from "./stage.ts";

const desktop = { width: 1440, height: 900 };

const box = (page: Page, name: string): Locator =>
  page.locator(".react-flow__node", { has: page.locator(".box-name b", { hasText: name }) });

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset["id"] ?? "");

describe("the keyboard on the canvas", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => {
    stage = await raise();
  });
  after(() => stage.close());

  test("Tab stops once at the canvas, and arrows move through all nodes", async () => {
    const { page, done } = await stage.visit("#example=tea-house", desktop);
    await box(page, "Brewing advice").waitFor();
    const stops = page.locator('.react-flow__node[tabindex="0"]');
    await counted(stops, 1);
    await stops.focus();
    const start = await focused(page);
    await page.keyboard.press("Tab");
    const inside = await page.evaluate(() => document.activeElement?.matches(".react-flow__node"));
    assert.equal(inside, false, "the next Tab leaves the boxes");
    await page.keyboard.press("Shift+Tab");
    assert.equal(await focused(page), start, "and the way back leads to the same box");

    await page.keyboard.press("ArrowRight");
    const next = await focused(page);
    assert.notEqual(next, start);
    await counted(page.locator(".react-flow__node.selected"), 0, "arrows alone select nothing");
    assert.equal(await stops.getAttribute("data-id"), next, "Tab stops where the keyboard was");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await focused(page), start);

    const all = await page.locator(".react-flow__node").count();
    const seen = new Set<string>();
    for (let steps = 0; steps < all; steps++) {
      await page.keyboard.press("PageDown");
      seen.add(await focused(page));
    }
    assert.equal(seen.size, all);
    await done();
  });

  test("keys that compose a letter choose nothing and close nothing", async () => {
    const { page, done } = await stage.visit("#example=tea-house", desktop);
    await box(page, "Brewing advice").waitFor();
    const boxes = await page.locator(".react-flow__node").count();
    await page.keyboard.press("a");
    const palette = page.getByRole("dialog", { name: "Add step" });
    const search = palette.getByRole("combobox");
    await search.fill("message");
    for (const key of ["Enter", "Escape"]) {
      await search.dispatchEvent("keydown", { key, isComposing: true, keyCode: 229, bubbles: true });
      assert.ok(await palette.isVisible());
    }
    await page.keyboard.press("Enter");
    await palette.waitFor({ state: "detached" });
    await counted(page.locator(".react-flow__node"), boxes + 1);
    await done();
  });

  test("Enter selects a node, arrows then move it, and Escape deselects it", async () => {
    const { page, done } = await stage.visit("#example=tea-house", desktop);
    await page.locator('.react-flow__node[tabindex="0"]').focus();
    const id = await focused(page);
    const one = page.locator(`.react-flow__node[data-id="${id}"]`);
    const before = await one.getAttribute("style");
    await page.keyboard.press("Enter");
    await one.and(page.locator(".selected")).waitFor();
    await page.keyboard.press("ArrowRight");
    assert.equal(await focused(page), id);
    await page.waitForFunction(
      ([box = "", style]) => document.querySelector(`[data-id="${box}"]`)?.getAttribute("style") !== style,
      [id, before],
    );
    await page.keyboard.press("Escape");
    await page.locator(".react-flow__node.selected").waitFor({ state: "detached" });
    assert.equal(await focused(page), id, "the keyboard stays on the box");
    await page.keyboard.press("ArrowRight");
    assert.notEqual(await focused(page), id);
    await done();
  });

  test("Alt and an arrow select the next node anywhere in the canvas, and do not navigate the history", async () => {
    const { page, done } = await stage.visit("", desktop);
    await page.goto(`${stage.address}#example=tea-house`);
    await box(page, "Brewing advice").waitFor();
    await page.evaluate(() => {
      const taken: boolean[] = [];
      Object.assign(globalThis, { taken });
      addEventListener("keydown", (event) => taken.push(event.defaultPrevented), true);
    });
    for (const at of [".board", '.react-flow__node[tabindex="0"]', ".toolbar button", ".react-flow__controls button"]) {
      for (const key of ["Alt+ArrowLeft", "Alt+ArrowRight"]) {
        await page.locator(at).first().focus();
        await page.keyboard.press(key);
        const taken = await page.evaluate(() => (globalThis as unknown as { taken: boolean[] }).taken.at(-1));
        assert.equal(taken, true, `${key} on ${at} is left to the browser, which leaves the page`);
      }
    }
    await page.locator(".react-flow__node.selected").waitFor();
    assert.match(page.url(), /#example=tea-house$/);
    await done();
  });

  test("keys on a button of the panel or the bar change no node", async () => {
    const { page, done } = await stage.visit("#example=tea-house", desktop);
    await box(page, "Small talk").click();
    const boxes = page.locator(".react-flow__node");
    const all = await boxes.count();
    const undo = page.locator(".bar").getByRole("button", { name: "Undo" });
    for (const at of ["#tab-node", ".inspector .actions button", ".settings .add", ".bar button.primary"]) {
      for (const key of ["Delete", "Backspace", "d", "g", "t", "Control+d", "Control+x"]) {
        await page.locator(at).first().focus();
        await page.keyboard.press(key);
        assert.ok(await undo.isDisabled(), `${key} on ${at}`);
      }
    }
    await counted(boxes, all);
    await box(page, "Small talk").focus();
    await page.keyboard.press("Delete");
    await counted(boxes, all - 1);
    await done();
  });

  test("what is typed after F2 is the name, however fast", async () => {
    const { page, done } = await stage.visit("#example=tea-house", desktop);
    await box(page, "Small talk").click();
    await page.locator(".bar").getByRole("button", { name: "Panel" }).click();
    await box(page, "Small talk").focus();
    const focused = await page.evaluate(() => {
      const key = new KeyboardEvent("keydown", { key: "F2", bubbles: true });
      document.activeElement?.dispatchEvent(key);
      return document.activeElement?.className; // before a frame is drawn
    });
    assert.equal(focused, "node-name");
    await page.keyboard.type("Idle talk");
    await box(page, "Idle talk").waitFor();
    await done();
  });

  test("Tab stops at a large canvas, and an arrow selects a node in it", async () => {
    const { page, done } = await stage.visit("", desktop);
    const components: Record<string, unknown> = {
      begin: { obj: { component_name: "Begin", params: {} }, downstream: [], upstream: [] },
    };
    const nodes: unknown[] = [{ id: "begin", type: "beginNode", position: { x: 0, y: 0 }, data: { label: "Begin" } }];
    for (let at = 0; at < 120; at++) {
      const id = `Message:M${at}`;
      components[id] = { obj: { component_name: "Message", params: { content: [""] } }, downstream: [], upstream: [] };
      const position = { x: 300 * (1 + (at % 12)), y: 200 * Math.floor(at / 12) };
      nodes.push({ id, type: "messageNode", position, data: { label: "Message", name: `Say ${at}` } });
    }
    const buffer = Buffer.from(JSON.stringify({ components, graph: { nodes, edges: [] } }));
    await page.setInputFiles('input[type="file"][accept*="json"]', {
      name: "large.json",
      mimeType: "application/json",
      buffer,
    });
    await box(page, "begin").waitFor();
    await page.locator('.board[tabindex="0"]').focus();
    await counted(page.locator('.react-flow__node[tabindex="0"]'), 0);
    await page.keyboard.press("ArrowRight");
    assert.equal(await focused(page), "begin");
    for (let steps = 0; steps < 12; steps++) {
      await page.keyboard.press("ArrowRight");
      const id = `Message:M${steps}`;
      await page.waitForFunction((each) => (document.activeElement as HTMLElement | null)?.dataset["id"] === each, id);
    }
    await done();
  });
});
