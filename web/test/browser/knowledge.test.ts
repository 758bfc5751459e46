// The datasets of a host in the page: create, upload, parse, chunks, searches, settings, delete.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { counted, missing, press, raise, type Stage } from "./stage.ts";

const refused = /status of 401/;

const handbook =
  "# Returns\n\nGoods can be returned within thirty days.\n\n# Shipping\n\nExpress parcels cost nine euros.\n";

function file(name: string, text: string): { name: string; mimeType: string; buffer: Buffer } {
  return { name, mimeType: "text/plain", buffer: Buffer.from(text) };
}

describe("knowledge of a host", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "easel-folder-"));
    host = await serveHost("--knowledge", folder, "--embedding", "none");
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const api = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${host.key}`, "content-type": "application/json" };
    const answer = await fetch(`${host.address}/api/v2${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return (answer.status === 204 ? {} : await answer.json()) as Record<string, unknown>;
  };
  const enter = async (page: Page): Promise<void> => {
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
  };

  test("a dataset is created, and its chunk is found, edited, switched off and deleted", async () => {
    const { page, done } = await stage.visit("#knowledge");
    await enter(page);
    await page.getByText("No datasets yet").waitFor();
    await page.getByRole("button", { name: "New dataset" }).click();
    await page.getByLabel("Name").fill("Shop handbook");
    await page.getByRole("button", { name: "Create dataset" }).click();
    await page.getByText("No documents yet").waitFor();
    await page
      .locator('.area input[type="file"]').last()
      .setInputFiles([file("handbook.md", handbook), file("broken.pdf", "%PDF-1.4 no PDF at all")]);
    const row = page.locator(".entries > li", { hasText: "handbook.md" });
    await row.locator(".badge", { hasText: "Ready" }).waitFor();
    const broken = page.locator(".entries > li", { hasText: "broken.pdf" });
    await broken.locator(".badge", { hasText: "Failed" }).waitFor();
    assert.notEqual((await broken.locator(".reason").textContent())?.trim() ?? "", "", "a failed document says why");
    await row.getByRole("link", { name: "handbook.md" }).click();
    await page.locator(".chunk-card", { hasText: "thirty days" }).waitFor();

    await page.getByLabel("Find in the chunks").fill("express");
    await page.locator(".chunk-card mark", { hasText: "Express" }).waitFor();
    await page.getByLabel("Find in the chunks").fill("");
    await page
      .locator(".chunk-card", { hasText: "thirty days" })
      .getByRole("button", { name: /^Edit chunk/ })
      .click();
    await page.getByLabel("Text").fill("Goods can be returned within forty days.");
    await page.getByLabel(/^Keywords/).fill("refund, money back");
    await page.getByRole("button", { name: "Save" }).click();
    const edited = page.locator(".chunk-card", { hasText: "forty days" });
    await edited.getByText("edited").waitFor();

    await page.getByRole("link", { name: "Shop handbook" }).click();
    await page.getByRole("tab", { name: "Test a search" }).click();
    await page.getByLabel("Ask as a user would").fill("refund of goods");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const hit = page.locator(".chunk-card", { hasText: "forty days" });
    await hit.waitFor();
    const scores = await hit.locator(".scores dd").allTextContents();
    assert.equal(scores.length, 3, "score, words, vectors");
    assert.ok(Number(scores[1]) > 0, `by words: ${scores}`);
    assert.equal(Number(scores[2]), 0, "no vectors without an embedding model");
    await page.getByText("threshold 0.20, vector weight 0.00, 1024 candidates").waitFor();
    await page.getByText("searched by words only.").waitFor();
    const ask = async (question: string): Promise<void> => {
      await page.getByLabel("Ask as a user would").fill(question);
      await page.getByRole("button", { name: "Search", exact: true }).click();
    };
    await ask("retruned");
    await page.getByText("Results are for: returned").waitFor();
    await hit.waitFor();
    await ask('"forty days"');
    await page.getByText("exactly the words in quotes").waitFor();
    await hit.waitFor();
    await page.getByRole("button", { name: "Turn on search by meaning" }).click();
    await page.getByText("This host has no embedding model").waitFor();

    await hit.getByRole("link", { name: "handbook.md" }).click();
    await edited.getByLabel(/^Searches find chunk/).uncheck();
    await page.locator(".chunk-card[data-off]").waitFor();
    await edited.getByRole("button", { name: /^Delete chunk/ }).click();
    await edited.getByRole("button", { name: "Delete?" }).click();
    await edited.waitFor({ state: "detached" });
    await done(/status of 40[14]/);
  });

  test("each parse of a document has a log, in the document and in its dataset", async () => {
    const { items } = (await api("GET", "/datasets?words=handbook")) as unknown as { items: { id: string }[] };
    const { page, done } = await stage.visit("#knowledge");
    await enter(page);
    await page.getByRole("link", { name: /^Shop handbook/ }).click();
    const row = page.locator(".entries > li", { hasText: "broken.pdf" });
    await row.locator(".badge", { hasText: "Failed" }).waitFor();
    const again = row.getByRole("button", { name: "Try again" });
    assert.ok(((await again.boundingBox())?.height ?? 99) < 40, "its label is on one line");
    await again.click();
    await row.locator(".badge", { hasText: "Failed" }).waitFor();
    await until(async () => (await api("GET", `/datasets/${items[0]?.id ?? ""}/parses`))["total"] === 3);
    await page.getByRole("tab", { name: "Parses" }).click();
    const parses = page.locator(".entries > li");
    await parses.nth(2).waitFor();
    await parses.first().getByText("Log", { exact: true }).click();
    await parses.first().getByText("[ERROR]").waitFor();
    await audit(page, "parses");
    await parses.first().getByRole("link", { name: "broken.pdf" }).click();
    await page.getByText("All parses of this document").click();
    await page.locator(".entries > li").nth(1).waitFor();
    await counted(page.locator(".entries > li"), 2, "of this document only");
    await done(refused);
  });

  test("a folder of the host is read and searched, and nothing in it can be changed", async () => {
    mkdirSync(join(folder, "Manuals"));
    writeFileSync(join(folder, "Manuals", "pump.md"), "# Pump\n\nPrime the pump before the first use.\n");
    await until(async () => {
      const { items } = (await api("GET", "/datasets?words=manuals")) as { items?: { chunks: number }[] };
      return (items?.[0]?.chunks ?? 0) > 0;
    });
    const { page, done } = await stage.visit("#knowledge");
    await enter(page);
    await page.getByRole("link", { name: /^Manuals/ }).click();
    const note = page.getByText("A folder on the host. Its documents change with the files in it.");
    await note.waitFor();
    const row = page.locator(".entries > li", { hasText: "pump.md" });
    await row.locator(".badge", { hasText: "Ready" }).waitFor();
    assert.deepEqual(await page.getByRole("tab").allTextContents(), ["Documents", "Test a search"]);
    const edits = page.locator(".area").getByRole("button", { name: /Add|Parse|Cancel|Delete|Edit/ });
    await counted(edits, 0);
    await counted(page.locator('.entries input[type="checkbox"]'), 0);
    await page.getByRole("tab", { name: "Test a search" }).click();
    await page.getByLabel("Ask as a user would").fill("prime the pump");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.locator(".chunk-card", { hasText: "Prime the pump" }).getByRole("link").click();
    await page.locator(".chunk-card", { hasText: "Prime the pump" }).waitFor();
    await note.waitFor();
    await counted(edits, 0);
    await counted(page.locator('.chunk-card input[type="checkbox"]'), 0);
    await audit(page, "chunks of a folder");
    await done(refused);
  });

  test("settings are stored, and a deleted dataset disappears", async () => {
    const { id } = await api("POST", "/datasets", { name: "Old notes" });
    const { page, done } = await stage.visit(`#knowledge=${id}`);
    await enter(page);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByRole("radio", { name: "By length" }).check();
    await page.getByLabel("Name", { exact: true }).fill("Old notes, cut again");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".good", { hasText: "Saved" }).waitFor();
    const stored = await api("GET", `/datasets/${id}`);
    assert.deepEqual([stored["name"], stored["method"]], ["Old notes, cut again", "naive"]);
    await page.getByRole("button", { name: "Delete dataset" }).click();
    await page.getByRole("button", { name: "Delete for good: 0 documents, 0 chunks" }).click();
    await page.waitForFunction(() => location.hash === "#knowledge");
    await page.locator(".area").getByRole("button", { name: "New dataset" }).waitFor();
    assert.equal(((await api("GET", "/datasets?words=old%20notes")) as { total: number }).total, 0);
    await done(/status of 40[14]/);
  });

  test("a long list is read page by page, and files dropped on the page are uploaded to the dataset", async () => {
    const { id } = await api("POST", "/datasets", { name: "Many" });
    const form = new FormData();
    for (let i = 0; i < 60; i++) form.append("file", new Blob([`Note ${i}`]), `note-${String(i).padStart(2, "0")}.txt`);
    const stored = await fetch(`${host.address}/api/v2/datasets/${id}/documents`, {
      method: "POST",
      headers: { authorization: `Bearer ${host.key}` },
      body: form,
    });
    assert.equal(stored.status, 201);
    const { page, done } = await stage.visit("#knowledge");
    await enter(page);
    await page.getByRole("link", { name: /^Many/ }).click();
    await page.getByText("1–50 of 60").waitFor();
    await counted(page.locator(".entries > li"), 50);
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("51–60 of 60").waitFor();
    await page.getByLabel("Find a document").fill("note-07");
    await page.locator(".entries > li", { hasText: "note-07.txt" }).waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".entries > li").length === 1);
    await page.getByLabel("Find a document").fill("");
    await page.getByText("1–50 of 60").waitFor();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(["Dropped words"], "dropped.txt", { type: "text/plain" }));
      for (const type of ["dragover", "drop"])
        dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await page.locator(".entries > li", { hasText: "dropped.txt" }).locator(".badge", { hasText: "Ready" }).waitFor();
    await done(refused);
  });

  test("a document that failed before the page follows the dataset is shown with its reason", async () => {
    const { id } = await api("POST", "/datasets", { name: "Too late" });
    const { page, done } = await stage.visit("#knowledge");
    await enter(page);
    await page.getByRole("link", { name: "Too late" }).waitFor();
    // The page has read the list before the document fails, and follows the dataset after that.
    let release = (): void => undefined;
    let isReleased = false;
    const released = new Promise<void>((resolve) => { release = resolve; }).then(() => { isReleased = true; });
    await page.route(`**/api/v2/datasets/${String(id)}/events`, async (route) => {
      await released;
      await route.continue();
    });
    await page.route(`**/api/v2/datasets/${String(id)}/documents?*`, async (route) => {
      if (isReleased || route.request().method() !== "GET") return route.continue();
      const response = await route.fetch();
      const body = (await response.text()).replace(/"state":\s*"\w+"/g, '"state":"queued"');
      await route.fulfill({ response, body });
    });
    await page.getByRole("link", { name: "Too late" }).click();
    await page.locator('.area input[type="file"]').last().setInputFiles([file("old.pdf", "%PDF-1.4 no PDF")]);
    const row = page.locator(".entries > li", { hasText: "old.pdf" });
    await row.locator(".badge", { hasText: "Queued" }).waitFor();
    for (let state = ""; state !== "failed"; ) {
      const { items } = (await api("GET", `/datasets/${String(id)}/documents`)) as { items: { state: string }[] };
      state = items[0]?.state ?? "";
      await page.waitForTimeout(100);
    }
    release();
    await row.locator(".badge", { hasText: "Failed" }).waitFor();
    assert.notEqual((await row.locator(".reason").textContent())?.trim() ?? "", "");
    await row.getByRole("button", { name: "Delete old.pdf" }).click();
    await row.getByRole("button", { name: "Delete for good, with 0 chunks" }).click();
    await page.getByText("No documents yet").waitFor();
    await done(refused);
  });

  test("a canvas chooses datasets of the host by name and shows which are missing", async () => {
    const { id } = await api("POST", "/datasets", { name: "Opening hours" });
    const form = new FormData();
    form.append("file", new Blob(["The tea house opens at nine and closes at six."]), "hours.txt");
    await fetch(`${host.address}/api/v2/datasets/${id}/documents?parse=true`, {
      method: "POST",
      headers: { authorization: `Bearer ${host.key}` },
      body: form,
    });
    const canvas = await api("POST", "/canvases", {
      title: "Ask the house",
      dsl: {
        components: {
          begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Retrieval:A"] },
          "Retrieval:A": {
            obj: { component_name: "Retrieval", params: { kb_ids: ["elsewhere"] } },
            downstream: ["Message:B"],
            upstream: ["begin"],
          },
          "Message:B": {
            obj: { component_name: "Message", params: { content: ["{Retrieval:A@formalized_content}"] } },
            upstream: ["Retrieval:A"],
          },
        },
      },
    });
    const { page, done } = await stage.visit(`#canvas=${String(canvas["id"])}`);
    await page.locator(".banner", { hasText: "Couldn't load the canvas" }).waitFor();
    await enter(page); // the canvas of the address opens
    await page.locator('.react-flow__node[data-id="Retrieval:A"]').click();
    await page.locator("#tab-node").click();
    await page.locator(".picked .missing", { hasText: "does not exist on this host" }).waitFor();
    await page
      .getByLabel(/Add a dataset/)
      .first()
      .selectOption({ label: "Opening hours" });
    await page.locator(".picked a", { hasText: "Opening hours" }).waitFor();
    const card = page.locator('.react-flow__node[data-id="Retrieval:A"] .summary');
    await card.getByText("elsewhere, Opening hours", { exact: true }).waitFor();
    await page.reload(); // the card requests the name automatically
    await enter(page);
    await card.getByText("elsewhere, Opening hours", { exact: true }).waitFor();
    await audit(page, "dataset picker");
    await page.locator("#tab-chat").click();
    await page.locator(".composer textarea").fill("When does the tea house open?");
    await page.keyboard.press("Enter");
    await page.locator(".bubble.theirs", { hasText: "opens at nine" }).waitFor();
    await page.locator(".relayed", { hasText: "Opening hours" }).waitFor();
    await page.locator(".stand-ins", { hasText: "elsewhere" }).waitFor();
    await done(/status of 40[14]/);
  });

  for (const [dark, language, width] of [
    [false, "en", 1360],
    [true, "zh", 390],
  ] as const) {
    test(`axe finds nothing, ${dark ? "dark" : "light"}, ${language}, ${width} px`, async () => {
      const { items } = (await api("GET", "/datasets?words=handbook")) as unknown as { items: { id: string }[] };
      const id = items[0]?.id ?? "";
      const { page, done } = await stage.visit("#knowledge", { dark, width, height: 844 });
      await enter(page);
      await page.locator(".area a.card").first().waitFor();
      if (language === "zh") await press(page, "中文");
      await audit(page, "list");
      await page.evaluate((to) => {
        location.hash = `knowledge=${to}`;
      }, id);
      await page.locator(".entries > li").first().waitFor();
      await audit(page, "documents");
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(overflow, false, "nothing is wider than the screen");
      await page.locator("#dataset-search").click();
      await page.locator('.search-test input[type="search"]').fill("parcels");
      await page.keyboard.press("Enter");
      await page.locator(".chunk-card").first().waitFor();
      await audit(page, "search");
      await page.locator("#dataset-settings").click();
      await page.locator(".dataset-settings").waitFor();
      await audit(page, "settings");
      await page.locator("#dataset-documents").click();
      await page.locator(".entries > li", { hasText: "handbook.md" }).getByRole("link").click();
      await page.locator(".chunk-card").first().waitFor();
      await page.locator(".chunk-card button").first().click();
      await page.locator(".chunk-card.edit").waitFor();
      await audit(page, "chunks");
      await done(refused);
    });
  }
});

// until waits for a state of the host.
async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await new Promise((resolve) => setTimeout(resolve, 50));
}
