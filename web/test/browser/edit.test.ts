// Building a canvas in a real browser, by mouse and by keyboard, and drafts after a reload.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { pack } from "../../canvas/link.ts";
import { allow, ask, counted, glimpse, missing, raise, reached, still, type Stage } from "./stage.ts";

const desktop = { width: 1440, height: 900 };

const says = (text: string, upstream: string, downstream: string[]): object => ({
  obj: { component_name: "Message", params: { content: [text] } }, upstream: [upstream], downstream,
});
const twoMessages = JSON.stringify({
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, upstream: [], downstream: ["Message:First"] },
    "Message:First": says("one", "begin", ["Message:Second"]),
    "Message:Second": says("two", "Message:First", []),
  },
});

const box = (page: Page, name: string): Locator =>
  page.locator(".react-flow__node", { has: page.locator(".box-name b", { hasText: name }) });
const edges = (page: Page): Locator => page.locator(".react-flow__edge");
const option = (page: Page, name: string): Locator =>
  page.locator(".palette-entry", { has: page.locator("b", { hasText: new RegExp(`^${name}$`) }) });

async function begin(page: Page): Promise<void> {
  await page.getByRole("button", { name: /New canvas/ }).click();
  await page.locator(".box").waitFor();
}

// middles waits until the elements stop moving: the view moves when a canvas or a panel opens.
async function middles(...of: Locator[]): Promise<{ x: number; y: number }[]> {
  return (await still(...of)).map((rect) => ({ x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 }));
}

async function middle(of: Locator): Promise<{ x: number; y: number }> {
  const [place] = await middles(of);
  assert.ok(place);
  return place;
}

// drafted waits until all edits are stored: a text among them, or any made after a time.
async function drafted(page: Page, { text = "", since = 0 } = {}): Promise<void> {
  await reached(
    page,
    (wanted) =>
      new Promise<boolean>((resolve) => {
        const opening = indexedDB.open("easel");
        opening.onsuccess = () => {
          const all = opening.result.transaction("drafts").objectStore("drafts").getAll();
          all.onsuccess = () => {
            opening.result.close();
            const drafts = (all.result as { acts: unknown[]; updated: number }[]).filter(
              ({ acts, updated }) => acts.length > 0 && updated >= wanted.since,
            );
            const pending = Object.keys(localStorage).some((name) => name.startsWith("easel.unwritten:"));
            resolve(!pending && drafts.some(({ acts }) => JSON.stringify(acts).includes(wanted.text)));
          };
        };
      }),
    { text, since },
  );
}

async function drag(page: Page, from: { x: number; y: number }, to: { x: number; y: number }): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let step = 1; step <= 8; step++)
    await page.mouse.move(from.x + ((to.x - from.x) * step) / 8, from.y + ((to.y - from.y) * step) / 8);
  await page.mouse.up();
}

async function connect(source: Locator, target: Locator): Promise<void> {
  const [from, to] = await middles(source, target);
  assert.ok(from && to);
  await drag(source.page(), from, to);
}

describe("editing", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => {
    stage = await raise();
  });
  after(() => stage.close());

  test("the next step is offered on an empty canvas, added once, and is one step of undo", async () => {
    const { page, done } = await stage.visit("", desktop);
    await begin(page);
    const ghost = page.getByRole("button", { name: "Add the next step" });
    await ghost.dblclick();
    const palette = page.getByRole("dialog", { name: "Add step" });
    await palette.waitFor();
    await counted(page.locator(".box"), 1, "the second click chooses nothing");
    await palette.getByRole("combobox").fill("message");
    await palette.getByRole("combobox").press("Enter");
    await counted(page.locator(".box"), 2);
    await counted(edges(page), 1, "it is connected");
    await counted(ghost, 0);
    await page.keyboard.press("Control+z");
    await counted(page.locator(".box"), 1);
    await counted(edges(page), 0);
    await ghost.waitFor();
    await done();
  });

  test("every edge stays drawn while branches are renamed, moved, added and removed, and after undo", async () => {
    const { page, done } = await stage.visit("#template=support-triage");
    await page.locator(".box", { hasText: "Classify" }).first().click();
    await page.locator("#tab-node").click();
    const drawn = page.locator(".react-flow__edge");
    await drawn.first().waitFor();
    const all = await drawn.count();
    const names = page.locator(".branch-name");
    const rename = async (i: number, name: string): Promise<void> => {
      await names.nth(i).fill(name);
      await names.nth(i).blur();
    };
    await rename(0, "Invoices");
    await counted(drawn, all, "a branch was renamed");
    await page.getByRole("button", { name: /^Move up: .* 2$/ }).click();
    await counted(drawn, all, "a branch was moved");
    await rename(1, "Money");
    await counted(drawn, all, "a moved branch was renamed");
    await page.getByRole("button", { name: /^Remove .* 3$/ }).click();
    await counted(drawn, all - 1, "a branch was removed");
    // Changes of one setting in a row are one step.
    await page.getByRole("button", { name: "Undo" }).click();
    await counted(drawn, all, "all was undone");
    await page.getByRole("button", { name: "Redo" }).click();
    await counted(drawn, all - 1, "all was done again");
    await done();
  });

  test("a canvas is built by mouse: palette, empty space, plus, connection, undo", async () => {
    const { page, done } = await stage.visit("", desktop);
    await begin(page);
    await box(page, "begin").locator(".way").first().click();
    await option(page, "LLM").click();
    await box(page, "LLM").waitFor();
    await counted(edges(page), 1);

    // An edge that is dropped on empty space opens the list of steps.
    const way = await middle(box(page, "LLM").locator(".way:not(.on-error)"));
    await drag(page, way, { x: way.x + 60, y: way.y + 200 });
    await page.locator(".overlay.floating").waitFor();
    await option(page, "Reply").click();
    await box(page, "Reply").waitFor();
    await counted(edges(page), 2);

    // The plus of an edge inserts a step.
    const path = await middle(edges(page).first().locator("path").first());
    await page.mouse.move(path.x, path.y);
    await page.getByRole("button", { name: "Add a step here" }).click();
    await page.locator(".palette input").fill("retriev");
    await page.keyboard.press("Enter");
    await box(page, "Knowledge search").waitFor();
    await counted(edges(page), 3);

    for (let steps = 0; steps < 3; steps++) await page.keyboard.press("Control+z");
    await page.waitForFunction(() => document.querySelectorAll(".react-flow__node").length === 1);
    await counted(edges(page), 0);
    for (let steps = 0; steps < 3; steps++) await page.keyboard.press("Control+Shift+z");
    await page.waitForFunction(() => document.querySelectorAll(".react-flow__edge").length === 3);
    await done();
  });

  test("when nodes start is shown with its reason and can be chosen", async () => {
    const address = `#${await pack(twoMessages)}`;
    const { page, done } = await stage.visit(address, desktop);
    await allow(page);
    await page.locator("#tab-timeline").click();
    const line = page.locator(".order");
    const choice = line.locator("select");
    await line.getByText("changes no result of this canvas").waitFor();
    assert.equal(await choice.inputValue(), "auto");
    await choice.selectOption("batch");
    await line.getByText("as in RAGFlow").waitFor();
    await drafted(page, { text: "batch" });
    await page.keyboard.press("Control+z");
    await line.getByText("changes no result of this canvas").waitFor();
    await done();
  });

  test("a refused connection shows the reason", async () => {
    const { page, done } = await stage.visit("#example=tea-house", desktop);
    const source = box(page, "About an order").locator(".way:not(.on-error)");
    const target = box(page, "Look in our notes").locator(".react-flow__handle.target");
    await connect(source, target);
    await page.waitForFunction(() => document.querySelectorAll(".react-flow__edge").length === 10);
    await glimpse(page, ".notice[data-shown]", /connected already/, () => connect(source, target));
    await done();
  });

  test("a canvas is built by keyboard alone, and runs", async () => {
    const { page, done } = await stage.visit("", desktop);
    await page.locator(".card.new:enabled").focus();
    await page.keyboard.press("Enter");
    await box(page, "begin").focus();
    await page.keyboard.press("Enter");
    for (const name of ["llm", "message"]) {
      await page.keyboard.press("a");
      await page.locator(".palette input").waitFor();
      await page.keyboard.type(name);
      await page.keyboard.press("Enter");
      await page.locator(".overlay").waitFor({ state: "detached" });
    }
    await counted(edges(page), 2);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("?");
    await page.locator("dialog.help").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+f");
    await page.locator("input:focus").waitFor();
    await page.keyboard.type("begin");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "begin" }).or(page.locator(".node-name")).first().waitFor();
    await done();
  });

  test("steps are copied to another canvas, deleted and joined again, moved and aligned", async () => {
    const { page, done } = await stage.visit("#example=tea-house", desktop);
    await box(page, "Brewing advice").click();
    await page.locator(".board").focus();
    await page.keyboard.press("Control+c");
    await page.keyboard.press("Delete");
    await box(page, "Brewing advice").waitFor({ state: "detached" });
    await page.waitForFunction(() => document.querySelectorAll(".react-flow__edge").length === 8); // joined
    await page.keyboard.press("Control+z");
    await box(page, "Brewing advice").waitFor();

    const start = await middle(box(page, "Small talk"));
    await drag(page, { x: start.x, y: start.y - 30 }, { x: start.x + 80, y: start.y + 30 });
    const moved = await middle(box(page, "Small talk"));
    assert.ok(
      Math.abs(moved.x - start.x - 80) < 30 && Math.abs(moved.y - start.y - 60) < 30,
      JSON.stringify([start, moved]),
    );
    await box(page, "About an order").click({ modifiers: ["Control"] });
    await page.getByRole("button", { name: "Align left" }).click();
    const [one, two] = await middles(box(page, "Small talk"), box(page, "About an order"));
    assert.ok(one && two);
    assert.ok(Math.abs(one.x - two.x) < 2);

    await page.evaluate(() => {
      location.hash = "example=exchange";
    });
    await page.locator("dialog[open] h2#replace-title").waitFor();
    await page.locator("dialog[open] button:not(.primary)").click();
    await page.locator("h1.title", { hasText: "exchange" }).waitFor();
    await page.locator(".board").focus();
    await page.keyboard.press("Control+v");
    await box(page, "Brewing advice").waitFor();
    await page.evaluate(() => navigator.clipboard.writeText("just words"));
    await page.locator(".board").focus();
    await glimpse(page, ".notice[data-shown]", /no steps/, () => page.keyboard.press("Control+v"));
    await done();
  });

  test("a switched-off step is skipped in runs, after a reload too, and undo switches it on", async () => {
    const { page, done } = await stage.visit("#" + (await pack(twoMessages)), desktop);
    await allow(page);
    await box(page, "First").click();
    await page.locator("#tab-node").click();
    await page.locator(".board").focus();
    await page.keyboard.press("d");
    await page.locator('.box[data-off="true"]', { hasText: "First" }).waitFor();
    await drafted(page);
    await page.reload();
    await page.locator('.box[data-off="true"]', { hasText: "First" }).waitFor();
    await page.locator("#tab-chat").click();
    await ask(page, "Hello");
    await page.locator('.box[data-status="succeeded"]', { hasText: "Second" }).waitFor();
    assert.match(await page.locator(".bubble.theirs").last().innerText(), /\btwo$/);
    assert.doesNotMatch(await page.locator(".transcript").innerText(), /\bone\b/);
    await counted(page.locator('.box[data-status="succeeded"]', { hasText: "First" }), 0);

    await page.locator(".board").focus();
    await page.keyboard.press("Control+z");
    await page.locator('.box:not([data-off="true"])', { hasText: "First" }).waitFor();
    await ask(page, "Hello again");
    await page.locator('.box[data-status="succeeded"]', { hasText: "First" }).waitFor();
    await page.locator(".bubble.theirs", { hasText: "one" }).waitFor();
    await done();
  });

  test("edits are restored after a reload and after the tab was closed, and can be undone", async () => {
    const { page, done } = await stage.visit("", desktop);
    await begin(page);
    await box(page, "begin").locator(".way").first().click();
    await option(page, "Reply").click();
    await box(page, "Reply").waitFor();
    const address = page.url();
    await drafted(page);
    await page.reload();
    await box(page, "Reply").waitFor();
    await page.keyboard.press("Control+z");
    await box(page, "Reply").waitFor({ state: "detached" });
    const undone = Date.now();
    await page.keyboard.press("Control+Shift+z");
    await box(page, "Reply").waitFor();
    await drafted(page, { since: undone });

    const other = await page.context().newPage();
    await page.close();
    await other.goto(address.replace(/#.*/, ""));
    await other.locator(".draft").first().click();
    await box(other, "Reply").waitFor();
    await counted(other.getByText("Your unsaved changes were restored."), 0, "the draft is all there is");
    await done();
  });

  test("text typed until the tab was killed is restored", async () => {
    const { page, done } = await stage.visit("#example=tea-house", desktop);
    await box(page, "Small talk").click();
    await page.getByLabel("Instructions", { exact: true }).and(page.locator(".cm-content")).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(" Be brief, please.");
    const other = await page.context().newPage();
    const kill = await page.context().newCDPSession(page);
    const crashed = page.waitForEvent("crash");
    void kill.send("Page.crash").catch(() => undefined);
    await crashed;
    await other.goto(stage.address + "#example=tea-house");
    await other.getByText("Your unsaved changes were restored.").waitFor();
    await box(other, "Small talk").click();
    await other.locator(".inspector").getByText("Be brief, please.").first().waitFor();
    await other.getByRole("button", { name: "Discard changes" }).click();
    await counted(other.locator(".inspector").getByText("Be brief, please."), 0);
    await counted(other.getByText("Your unsaved changes were restored."), 0);
    await other.getByRole("button", { name: "Undo" }).click();
    await other.locator(".inspector").getByText("Be brief, please.").first().waitFor();
    await done(/./);
  });

  test("a selected step stays selected when unsaved changes are restored later", async () => {
    const { page, done } = await stage.visit("#example=tea-house", desktop);
    await box(page, "Small talk").click();
    await page.getByLabel("Instructions", { exact: true }).and(page.locator(".cm-content")).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(" Be brief, please.");
    await drafted(page, { text: " Be brief, please." });
    await page.addInitScript(() => {
      const open = IDBFactory.prototype.open;
      const released = new Promise<void>((resolve) => addEventListener("release", () => resolve(), { once: true }));
      IDBFactory.prototype.open = function (...args) {
        const request = open.apply(this, args);
        return new Proxy(request, {
          get: (_, name) => request[name as keyof IDBOpenDBRequest],
          set: (_, name, value) => {
            if (name !== "onsuccess") return Reflect.set(request, name, value);
            request.onsuccess = () => void released.then(() => (value as () => void)());
            return true;
          },
        });
      };
    });
    await page.reload();
    await box(page, "Small talk").click();
    await page.locator(".inspector").waitFor();
    await page.evaluate(() => dispatchEvent(new Event("release")));
    await page.getByText("Your unsaved changes were restored.").waitFor();
    await page.locator(".inspector").getByText("Be brief, please.").first().waitFor();
    await done();
  });

  test("a form has its labels before the engine has loaded", async () => {
    const { page, done } = await stage.visit("icon.svg", desktop);
    await page.route("**/*.wasm", () => undefined); // it never arrives
    await page.goto(stage.address + "#example=tea-house");
    await box(page, "Brewing advice").click();
    await page.locator('.cm-content[aria-label="Instructions"]').waitFor();
    await page.getByRole("button", { name: "中文" }).click();
    await page.locator('.cm-content[aria-label="系统提示词"]').waitFor();
    await counted(page.locator(".inspector .chip.lost"), 0);
    await done(/404/); // of the icon, which is not a page
  });

  test("keys typed while an editor is loading stay in order, and what is selected stays so", async () => {
    for (const { step, field, json, replace } of [
      { step: "llm", field: ".settings [aria-label='Instructions']", json: false },
      { step: "code", field: ".settings .prompt-field textarea, .settings .cm-content", json: false },
      { step: "code", field: ".json-edit textarea, .json-edit .cm-content", json: true },
      { step: "llm", field: ".settings [aria-label='Instructions']", json: false, replace: true },
      { step: "code", field: ".json-edit textarea, .json-edit .cm-content", json: true, replace: true },
    ]) {
      const { page, done } = await stage.visit("", desktop);
      await page.locator(".card.new:enabled").waitFor();
      const held: (() => void)[] = [];
      let release = false;
      await page.route("**/assets/*.js", async (route) => {
        const response = await route.fetch();
        const editor = (await response.text()).includes("cm-scroller"); // a part of CodeMirror
        if (!release && editor) await new Promise<void>((resolve) => held.push(resolve));
        await route.fulfill({ response });
      });
      await begin(page);
      await page.keyboard.press("a");
      await page.locator(".palette input:focus").waitFor();
      await page.keyboard.type(step);
      await page.keyboard.press("Enter");
      await page.locator(".inspector .settings").waitFor();
      if (json) {
        await page.locator(".settings .composite .link").first().click();
        await page.locator(".json-edit textarea").waitFor();
      }
      const editor = page.locator(field).first();
      await editor.click();
      await page.keyboard.press("Control+a");
      await page.keyboard.type("[1, 2");
      if (replace) await page.keyboard.press("Control+a"); // the next key replaces the text
      assert.equal(await editor.evaluate((each) => each.tagName), "TEXTAREA");
      release = true;
      for (const go of held) go();
      if (!replace) await page.keyboard.type(", 3");
      await page.locator(field).first().and(page.locator(".cm-content")).waitFor();
      await page.keyboard.type(", 4");
      const want = replace ? /^, 4\s*$/ : /^\[1, 2, 3, 4\]?\s*$/;
      assert.match(await page.locator(field).first().innerText(), want, step);
      await done();
    }
  });

  test("nodes are dragged into a group, and notes are written", async () => {
    const { page, done } = await stage.visit("", desktop);
    await begin(page);
    await page.keyboard.press("a");
    await page.locator(".palette input:focus").waitFor();
    await page.keyboard.type("iteration");
    await page.keyboard.press("Enter");
    const group = page.locator(".react-flow__node-container");
    await group.waitFor();
    await page.keyboard.press("1");
    await page.locator(".react-flow__pane").click({ position: { x: 300, y: 700 } });
    await page.keyboard.press("a");
    await page.locator(".palette input:focus").waitFor();
    await page.keyboard.type("message");
    await page.keyboard.press("Enter");
    await box(page, "Reply").waitFor();
    await page.keyboard.press("1");
    const [step, hold] = await still(box(page, "Reply"), group);
    assert.ok(step && hold);
    const at = { x: step.x + step.width / 2, y: step.y + step.height / 2 - 15 };
    await drag(page, at, { x: hold.x + hold.width * 0.6, y: hold.y + hold.height / 2 });
    const inside = box(page, "Reply").locator(".react-flow__handle.target");
    await connect(page.locator(".react-flow__node-item .way"), inside);
    await page.waitForFunction(() => document.querySelectorAll(".react-flow__edge").length === 2);

    await page.locator(".board").focus();
    await page.keyboard.press("m");
    await page.locator(".note").dblclick();
    await page.keyboard.type("**Mind** the group");
    await page.keyboard.press("Escape");
    await page.locator(".note strong", { hasText: "Mind" }).waitFor();
    await done();
  });
});
