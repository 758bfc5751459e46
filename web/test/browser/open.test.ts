// Opening canvases in a real browser: files, links, exports of edits, and files that
// strangers may drop.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { counted, drop, missing, openDropped, raise, rewrite, still, type Stage } from "./stage.ts";
import { openChain } from "../measure/frames.ts";

const component = (name: string, more: object = {}): object => ({ obj: { component_name: name, params: {} }, downstream: [], ...more });

describe("opening", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  const refused = async (page: Page, message: RegExp): Promise<void> => {
    const dialog = page.locator("dialog.import");
    await dialog.getByRole("alert").filter({ hasText: message }).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
  };

  const banner = async (page: Page, message: RegExp): Promise<void> => {
    await page.locator(".banner", { hasText: message }).waitFor();
    await page.locator(".banner button").click();
    await page.locator(".banner").waitFor({ state: "detached" });
  };

  test("settings are edited for the preview, undone, and included in a link", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.locator('.react-flow__node:has(.box-name b:has-text("Receipt"))').click();
    await rewrite(page.getByLabel("Text", { exact: true }), "Changed {CodeExec:Abacus@result}");
    await page.getByText("changed", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.waitForFunction(() => location.hash.startsWith("#c="));
    const link = page.url();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("changed", { exact: true }).waitFor({ state: "detached" });
    await done();
    const again = await stage.visit(new URL(link).hash);
    await again.page.locator("h1.title", { hasText: "The exchange booth" }).waitFor();
    await again.page.locator('.react-flow__node:has(.box-name b:has-text("Receipt"))').click();
    await again.page.getByLabel("Text", { exact: true }).filter({ hasText: /^Changed/ }).waitFor();
    await again.done();
  });

  test("an export is the canvas with its edits, and opens again", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.locator('.react-flow__node:has(.box-name b:has-text("Receipt"))').click();
    await rewrite(page.getByLabel("Text", { exact: true }), "Exported");
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()]);
    assert.equal(file.suggestedFilename(), "the-exchange-booth.json");
    const path = await file.path();
    await page.setInputFiles('input[type="file"][accept*="json"]', path);
    await page.locator('.react-flow__node:has(.box-name b:has-text("Receipt"))').click();
    await page.getByLabel("Text", { exact: true }).filter({ hasText: /^Exported$/ }).waitFor();
    await page.getByText("changed", { exact: true }).waitFor({ state: "detached" });
    await done();
  });

  test("problems link to their node", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.locator('.react-flow__node:has(.box-name b:has-text("Receipt"))').click();
    await rewrite(page.getByLabel("Text", { exact: true }), "{LLM:Missing@content}");
    const tab = page.getByRole("tab", { name: /Problems/ });
    await tab.locator(".count").waitFor();
    await tab.click();
    await page.getByRole("button", { name: /Show Receipt/ }).click();
    await page.getByRole("heading", { name: "Receipt" }).waitFor();
    await done();
  });

  test("a file that is not a canvas is refused with a message, and a valid one still opens", async () => {
    const { page, done } = await stage.visit();
    await page.waitForSelector(".card");
    for (const [text, message] of [
      ["{", /Not valid JSON/], ["", /Not valid JSON/], ["\0\x01\x02", /Not valid JSON/], ["null", /not a canvas/], ["[]", /not a canvas/], [`{"components":{"a":1}}`, /not a canvas/],
      [`{"components":{"a":{"obj":{"component_name":"${"x".repeat(100)}"}}},"dsl":3}`, undefined], [`{"dsl":"{"}`, /Not valid JSON/],
    ] as const) {
      await drop(page, text);
      if (message) {
        await refused(page, message);
        continue;
      }
      await openDropped(page);
      await page.locator(".react-flow__node").waitFor();
    }
    await drop(page, "[", { times: 100_000 });
    await refused(page, /Not valid JSON/);
    await drop(page, JSON.stringify({ components: { begin: component("Begin") } }));
    await openDropped(page);
    await page.locator(".react-flow__node", { hasText: "begin" }).waitFor();
    await done();
  });

  test("a file of 50 MB is refused immediately, one of 25 MB after a check, and 10 MB of text open", async () => {
    const { page, done } = await stage.visit();
    await page.waitForSelector(".card");
    await drop(page, " ".repeat(1 << 20), { times: 50 });
    await refused(page, /too large/);
    await drop(page, " ".repeat(1 << 20), { times: 25 });
    await refused(page, /too large/);
    await page.evaluate(() => {
      const data = new DataTransfer();
      const params = { prologue: "word ".repeat(2_000_000) };
      data.items.add(new File([JSON.stringify({ components: { begin: { obj: { component_name: "Begin", params }, downstream: [] } } })], "x.json"));
      document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
    });
    await openDropped(page);
    await page.locator(".react-flow__node", { hasText: "begin" }).waitFor();
    await done();
  });

  test("nothing in a canvas is executed", async () => {
    const { page, done } = await stage.visit();
    await page.waitForSelector(".card");
    const evil = "<img src=x onerror=window.hit=1><script>window.hit=1</script>";
    await drop(page, JSON.stringify({ title: evil, components: {
      begin: { obj: { component_name: "Begin", params: { prologue: `${evil} [x](javascript:window.hit=1) ![y](javascript:window.hit=1)` } }, downstream: ["Message:A", evil] },
      "Message:A": { obj: { component_name: "Message", params: { content: [evil] } }, downstream: [] },
      [evil]: { obj: { component_name: evil, params: { [evil]: evil } }, downstream: [] },
    }, graph: { nodes: [{ id: evil, data: { name: evil } }, { id: "n", type: "noteNode", data: { name: evil, form: { text: evil } } }] } }));
    await openDropped(page);
    await page.locator(".react-flow__node").nth(2).click();
    await page.locator(".inspector").waitFor();
    await page.getByRole("tab", { name: "Problems" }).click();
    await page.locator(".problem").first().waitFor();
    assert.equal(await page.evaluate(() => (globalThis as { hit?: number }).hit), undefined);
    await counted(page.locator("main img, main script, main a[href^='javascript']"), 0);
    await done();
  });

  test("ids like `constructor`, cycles and deep nesting are drawn like others", async () => {
    const { page, done } = await stage.visit();
    await page.waitForSelector(".card");
    await drop(page, `{"components": {"begin": {"obj": {"component_name": "Begin", "params": {"__proto__": {"hit": 1}}}, "downstream": ["constructor", "__proto__"]},
      "__proto__": {"obj": {"component_name": "Message", "params": {"content": ["p"]}}, "downstream": ["toString"]},
      "constructor": {"obj": {"component_name": "Message", "params": {"content": ["c"]}}, "downstream": ["begin", "constructor"]}}, "__proto__": {"hit": 1}}`);
    await openDropped(page);
    await page.locator(".react-flow__node").nth(2).waitFor();
    await page.locator('.react-flow__node[data-id="constructor"]').click();
    assert.equal(await page.evaluate(() => ({} as { hit?: number }).hit), undefined);

    const depth = 60;
    const nested = Object.fromEntries(Array.from({ length: depth }, (_, i) => [`Loop:${i}`, component("Loop", i > 0 ? { parent_id: `Loop:${i - 1}` } : {})]));
    await drop(page, JSON.stringify({ components: { begin: component("Begin", { downstream: ["Loop:0"] }), ...nested } }));
    await openDropped(page);
    await page.locator(`.react-flow__node[data-id="Loop:${depth - 1}"]`).waitFor({ state: "attached" });

    const deep = "[".repeat(5000) + "]".repeat(5000);
    await drop(page, `{"components": {"begin": {"obj": {"component_name": "Begin", "params": {"deep": ${deep}}}, "downstream": []}}}`);
    await openDropped(page);
    await page.locator(".react-flow__node", { hasText: "begin" }).click();
    await page.locator(".inspector, .fault").first().waitFor();
    await page.getByRole("tab", { name: "Problems" }).click();
    await page.locator(".problem", { hasText: "begin" }).or(page.locator(".problem")).first().waitFor();
    await done();
  });

  test("of a large canvas the boxes in view alone are drawn, with edges at their handles", async () => {
    const { page, done } = await stage.visit();
    await page.evaluate(() => {
      const drawn = new Set<string>();
      Object.assign(globalThis, { drawn });
      new MutationObserver(() => {
        const boxes = document.querySelectorAll<HTMLElement>(".react-flow__node");
        for (const box of boxes) drawn.add(box.dataset["id"] ?? "");
      }).observe(document.body, { childList: true, subtree: true });
    });
    await openChain(page, 300);
    await page.locator(".react-flow__edge").first().waitFor();
    const first = await page.evaluate(() => (globalThis as unknown as { drawn: Set<string> }).drawn.size);
    assert.ok(first > 5 && first < 150, `${first} boxes`);
    await page.getByRole("button", { name: "Fit to view" }).click();
    await counted(page.locator(".react-flow__node"), 300);
    await counted(page.locator(".react-flow__edge"), 299);
    await page.waitForFunction(() => {
      const box = document.querySelector('[data-id="LLM:N270"] .way:not(.on-error)')?.getBoundingClientRect();
      const edge = document.querySelector('[data-id^="LLM:N270/"] path')?.getBoundingClientRect();
      return box && edge && Math.abs(edge.left - box.right) < 4;
    });
    await done();
  });

  test("a canvas without positions is laid out", async () => {
    const { page, done } = await stage.visit();
    await page.waitForSelector(".card");
    await drop(page, JSON.stringify({ components: { begin: component("Begin", { downstream: ["a", "b"] }), a: component("Message"), b: component("Message") } }));
    await openDropped(page);
    await page.locator(".react-flow__node").nth(2).waitFor();
    const [begin, a, b] = await still(...["begin", "a", "b"].map((id) => page.locator(`.react-flow__node[data-id="${id}"]`)));
    assert.ok(begin && a && b && begin.x + begin.width < a.x && a.x === b.x && a.y + a.height < b.y);
    await done();
  });

  test("a link without a canvas, and one that decompresses without end, are refused with a message", async () => {
    const { page, done } = await stage.visit("#c=AAAA");
    await banner(page, /contains no canvas/);
    await page.evaluate(async () => {
      const stream = new Blob([" ".repeat(25_000_000)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
      const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
      location.hash = "c=" + btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_");
    });
    await banner(page, /too large/);
    await page.evaluate(() => { location.hash = "open=https://elsewhere.example/x.json"; });
    await banner(page, /only canvases of this host/);
    await done();
  });

  const folder = process.env["EASEL_CANVASES"];
  test("real canvas files are drawn and exported unchanged", { skip: folder ? false : "EASEL_CANVASES names no folder" }, async () => {
    const { page, done } = await stage.visit();
    for (const file of readdirSync(folder as string).filter((name) => name.endsWith(".json"))) {
      await page.setInputFiles('input[type="file"][accept*="json"]', `${folder}/${file}`);
      await page.locator("h1.title").waitFor();
      await page.locator(".react-flow__node").first().waitFor();
      assert.equal(await page.locator(".banner").count(), 0, file);
      const nodes = await page.locator(".react-flow__node").count();
      const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()]);
      await page.setInputFiles('input[type="file"][accept*="json"]', await saved.path());
      await page.locator(".react-flow__node").first().waitFor();
      assert.equal(await page.locator(".react-flow__node").count(), nodes, file);
      await page.locator("button.brand").click();
    }
    await done();
  });
});
