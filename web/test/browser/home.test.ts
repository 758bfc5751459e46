// Home: canvases with search, templates, and files that are checked before they are imported.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { counted, drop, missing, raise, reached, type Stage } from "./stage.ts";

const example = readFileSync(new URL("../../examples/exchange.json", import.meta.url), "utf8");
const dify = "app:\n  mode: workflow\n  name: Shop helper\nkind: app\nversion: 0.1.0\n";

describe("home", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  async function choose(page: Page, name: string, text: string): Promise<void> {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Import" }).click();
    await (await chooser).setFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  }

  // edit renames the open canvas's first message, so that it is a draft.
  async function edit(page: Page): Promise<void> {
    await page.locator(".react-flow__node").nth(1).click();
    await page.keyboard.press("m"); // a note
    await page.locator(".react-flow__node-note").first().waitFor();
  }

  test("an edited template becomes a canvas of the user, which the search finds", async () => {
    const { page, done } = await stage.visit();
    await page.locator(".templates .card").first().waitFor();
    await counted(page.locator(".templates .card"), 12);
    await page.getByRole("button", { name: "Documents", exact: true }).click();
    await counted(page.locator(".templates .card"), 3);
    await page.getByRole("button", { name: "Support", exact: true }).click();
    await page.getByRole("button", { name: /Support bot/ }).click();
    await page.locator("h1.title", { hasText: "Support bot" }).waitFor();
    await page.locator(".composer textarea").fill("How long can I return goods?");
    await page.keyboard.press("Enter");
    await page.locator(".bubble.theirs", { hasText: "30 days" }).waitFor();
    assert.match(new URL(page.url()).hash, /^#draft=new/);
    await page.reload();
    await edit(page);
    await page.getByRole("button", { name: "Home", exact: true }).click();
    await page.locator(".mine .card", { hasText: "Support bot" }).waitFor();
    await page.getByRole("searchbox").fill("no such");
    await page.locator(".mine .card").first().waitFor({ state: "detached" });
    await page.getByRole("searchbox").fill("SUPPORT");
    await page.locator(".mine .card", { hasText: "Support bot" }).click();
    await page.locator("h1.title", { hasText: "Support bot" }).waitFor();
    await page.reload();
    await page.locator("h1.title", { hasText: "Support bot" }).waitFor();
    await done();
  });

  test("a link opens a template; only an edited copy is a draft, which is discarded after a question", async () => {
    const { page, done } = await stage.visit("#template=summarize");
    const home = (): Promise<void> => page.getByRole("button", { name: "Home", exact: true }).click();
    await page.locator("h1.title", { hasText: "Summarise a text" }).waitFor();
    await home();
    await page.getByText("Canvases that you edit are kept in this browser.").waitFor();
    for (const times of [1, 2]) {
      await page.locator(".templates .card", { hasText: "Summarise a text" }).click();
      await page.locator("h1.title", { hasText: "Summarise a text" }).waitFor();
      if (times === 1) await edit(page);
      await home();
      await counted(page.locator(".card.draft"), 1, `opened ${times} times, edited once`);
    }
    await page.locator(".card.draft").click();
    await page.locator(".react-flow__node-note").first().waitFor();
    await counted(page.getByText("Your unsaved changes were restored."), 0, "the draft is all there is");
    await home();
    await page.getByRole("button", { name: "Discard the draft Summarise a text" }).click();
    await page.getByRole("button", { name: "Discard for good" }).click();
    await page.getByText("Canvases that you edit are kept in this browser.").waitFor();
    await done();
  });

  test("a full storage is announced, and stores the changes once drafts are discarded", async () => {
    const { page, done } = await stage.visit("#template=summarize");
    await edit(page);
    await page.getByRole("button", { name: "Home", exact: true }).click();
    await page.locator(".card.draft").waitFor();
    // Chromium's override of the quota does not reach contexts of tests.
    await page.evaluate(() => {
      const { prototype } = IDBObjectStore;
      const { put } = prototype;
      prototype.put = () => { throw new DOMException("no space", "QuotaExceededError"); };
      addEventListener("room", () => { prototype.put = put; }, { once: true });
    });
    await page.locator(".templates .card", { hasText: "Support bot" }).click();
    await edit(page);
    await page.getByRole("alert").getByText("This browser has no space left").waitFor();
    await audit(page, "a full storage");
    await page.getByRole("button", { name: "Choose drafts to discard" }).click();
    const dialog = page.getByRole("dialog", { name: "Drafts in this browser" });
    await dialog.getByRole("button", { name: "Discard the draft Summarise a text" }).click();
    await audit(page, "drafts to discard");
    await page.evaluate(() => dispatchEvent(new Event("room")));
    await dialog.getByRole("button", { name: "Discard for good" }).click();
    await dialog.getByText("There are no other drafts.").waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.reload();
    await page.locator(".react-flow__node-note").first().waitFor();
    await done();
  });

  test("a file is checked before it is imported: steps that run here, that need a host, that are broken", async () => {
    const { page, done } = await stage.visit();
    await page.locator(".card.new:enabled").waitFor();
    await choose(page, "booth.json", example);
    const dialog = page.locator("dialog.import");
    await dialog.getByText("All 4 steps run in this page").waitFor();
    await audit(page, "import");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await counted(page.locator(".react-flow"), 0, "nothing is opened");

    const broken = JSON.parse(example) as { dsl: { components: Record<string, unknown> } };
    const alone = { downstream: [], upstream: [] };
    broken.dsl.components["Email:Send"] = { obj: { component_name: "Email", params: {} }, ...alone };
    broken.dsl.components["Message:Lost"] = {
      obj: { component_name: "Message", params: { content: ["{Missing:Step@content}"] } }, ...alone,
    };
    await choose(page, "booth.json", JSON.stringify(broken));
    await dialog.locator("summary", { hasText: "Run on a host; mock tools answer in this page" }).click();
    await dialog.locator("li", { hasText: "Email:Send" }).first().waitFor();
    await dialog.getByText(/of 6 steps run in this page/).waitFor();
    await dialog.getByRole("button", { name: "Open canvas" }).click();
    await page.locator("h1.title", { hasText: "The exchange booth" }).waitFor();
    await page.getByRole("button", { name: "Allow this canvas to run" }).waitFor();
    await done();
  });

  test("names without end are cut and keep the import as wide as its dialog", async () => {
    const { page, done } = await stage.visit();
    await page.locator(".card.new:enabled").waitFor();
    const hostile = JSON.parse(example) as { dsl: { components: Record<string, unknown> } };
    for (const [i, name] of ["<b>bold</b>{0}", "constructor", "long".repeat(50_000)].entries()) {
      hostile.dsl.components[`X:${i}`] = { obj: { component_name: name, params: {} }, downstream: [], upstream: [] };
    }
    await drop(page, JSON.stringify(hostile));
    const dialog = page.locator("dialog.import");
    await dialog.getByText("<b>bold</b>{0}, constructor").waitFor();
    await dialog.getByLabel("Unknown component constructor").waitFor();
    const [needed, there] = await dialog.evaluate((each) => [each.scrollWidth, each.clientWidth]);
    assert.equal(needed, there);
    const longest = await dialog.locator("li, p").evaluateAll((all) =>
      Math.max(...all.map((each) => each.textContent?.length ?? 0)));
    assert.ok(longest < 5_000, `${longest} characters`);
    await done();
  });

  test("an export of RAGFlow's editor with only a graph opens and answers", async () => {
    const { page, done } = await stage.visit();
    await page.locator(".card.new:enabled").waitFor();
    const exported = readFileSync(
      new URL("../../../engine/testdata/drawings/export_020_nodes_edges.json", import.meta.url), "utf8",
    ).replace("{Agent:RedDotsRun@content}", "You said {sys.query}");
    const dialog = page.locator("dialog.import");
    await choose(page, "agent.json", exported);
    await dialog.getByText("All 3 steps run in this page").waitFor();
    await dialog.getByRole("button", { name: "Open canvas" }).click();
    await page.locator(".react-flow__node").nth(2).waitFor();
    await counted(page.locator(".react-flow__edge"), 2);
    await page.getByRole("button", { name: "Allow this canvas to run" }).click();
    await page.locator(".composer textarea").fill("hello there");
    await page.keyboard.press("Enter");
    await page.locator(".bubble.theirs", { hasText: "You said hello there" }).waitFor();

    await page.getByRole("button", { name: "Home", exact: true }).click();
    const twice = JSON.parse(exported) as { nodes: { id: string }[] };
    twice.nodes.push(...twice.nodes.slice(0, 1));
    await choose(page, "twice.json", JSON.stringify(twice));
    await dialog.getByText("is the id of two nodes of the graph").waitFor();
    await done();
  });

  test("files of Dify and n8n are recognised by name, and others refused with the reason", async () => {
    const { page, done } = await stage.visit();
    await page.locator(".card.new:enabled").waitFor();
    const dialog = page.locator("dialog.import");
    await choose(page, "bot.yml", dify);
    await dialog.getByText("“Shop helper” is an app of Dify.").waitFor();
    await counted(dialog.getByRole("button", { name: "Open canvas" }), 0);
    await audit(page, "a file of Dify");
    await dialog.getByRole("button", { name: "Show templates" }).click();
    await dialog.waitFor({ state: "detached" });

    const flow = { name: "Lead mail", nodes: [{ type: "n8n-nodes-base.set" }], connections: {} };
    await choose(page, "flow.json", JSON.stringify(flow));
    await dialog.getByText("“Lead mail” is a workflow of n8n.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await choose(page, "broken.json", "{");
    await dialog.getByText("Not valid JSON").waitFor();
    await done();
  });

  test("a file that is dropped on a canvas is checked as well, and offers the templates", async () => {
    const { page, done } = await stage.visit("#example=exchange");
    await page.locator(".react-flow__node").first().waitFor();
    const dialog = page.locator("dialog.import");
    await drop(page, dify, { name: "bot.yml" });
    await dialog.getByText("“Shop helper” is an app of Dify.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.locator("h1.title", { hasText: "The exchange booth" }).waitFor();
    await drop(page, dify, { name: "bot.yml" });
    await dialog.getByRole("button", { name: "Show templates" }).click();
    await page.locator("#templates-title:focus").waitFor();

    await drop(page, example);
    await dialog.getByText("All 4 steps run in this page").waitFor();
    await page.keyboard.press("Enter");
    await page.locator("h1.title", { hasText: "The exchange booth" }).waitFor();
    await page.getByRole("button", { name: "Allow this canvas to run" }).waitFor();
    await done();
  });

  test("a file with boxes on one another is offered to be tidied, which one undo takes back", async () => {
    const { page, done } = await stage.visit("", { width: 1440, height: 900 });
    await page.locator(".card.new:enabled").waitFor();
    const piled = JSON.parse(example) as { dsl: { graph: { nodes: { position: object; parentId?: string }[] } } };
    for (const each of piled.dsl.graph.nodes) each.position = { x: 10, y: 10 };
    await choose(page, "piled.json", JSON.stringify(piled));
    const dialog = page.locator("dialog.import");
    await dialog.getByRole("checkbox", { name: /^Tidy up: 4 boxes overlap$/ }).waitFor();
    await audit(page, "an import that is piled up");
    if (process.env["LOOK"]) await page.screenshot({ path: `${process.env["LOOK"]}/import-tidy.png` });
    await dialog.getByRole("button", { name: "Open canvas" }).click();
    const overlaps = (): Promise<number> => page.locator(".react-flow__node-node").evaluateAll((all) => {
      const rects = all.map((each) => each.getBoundingClientRect());
      return rects.filter((a, i) => rects.some((b, k) =>
        k !== i && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
    });
    await reached(page, async () => {
      const rects = [...document.querySelectorAll(".react-flow__node-node")]
        .map((each) => each.getBoundingClientRect());
      return rects.length > 1 && new Set(rects.map(({ left, top }) => `${left} ${top}`)).size === rects.length;
    }, undefined);
    assert.equal(await overlaps(), 0);
    await page.locator(".board").focus();
    await page.keyboard.press("Control+z");
    await reached(page, async () => {
      const lefts = [...document.querySelectorAll(".react-flow__node-node")]
        .map((each) => each.getBoundingClientRect().left);
      return new Set(lefts).size === 1;
    }, undefined);
    await done();
  });
});
