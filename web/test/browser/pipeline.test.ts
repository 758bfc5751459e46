// A pipeline runs on a document in the page, without a server: pieces of each node next to the
// source, and chunks that change with the settings.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { pack } from "../../canvas/link.ts";
import { audit } from "./audit.ts";
import { allow, missing, raise, type Stage } from "./stage.ts";

const node = (name: string, params: object, downstream: string[], upstream: string[] = []): object => ({
  obj: { component_name: name, params },
  downstream,
  upstream,
});
const pipeline = JSON.stringify({
  components: {
    File: node("File", {}, ["Parser:A"]),
    "Parser:A": node(
      "Parser",
      { setups: { "text&markdown": { suffix: ["md", "txt"], output_format: "json" } } },
      ["TokenChunker:B"],
      ["File"],
    ),
    "TokenChunker:B": node(
      "TokenChunker",
      { chunk_token_size: 512, delimiters: ["\n"] },
      ["Tokenizer:C"],
      ["Parser:A"],
    ),
    "Tokenizer:C": node("Tokenizer", { search_method: ["full_text"] }, [], ["TokenChunker:B"]),
  },
});

const handbook = Array.from(
  { length: 12 },
  (_, i) =>
    `## Rule ${i + 1}\n\nRule number ${i + 1} is: goods of kind ${i + 1} can be returned within ${i + 10} days.`,
).join("\n\n");

describe("a pipeline in the page", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => {
    stage = await raise();
  });
  after(() => stage.close());

  const pieces = (page: Page, column: string): Promise<number> =>
    page.locator(`.column[aria-label^="${column}"] .piece`).count();

  test("nodes with an earlier name show their chunks", async () => {
    const earlier = pipeline.replaceAll("TokenChunker", "Splitter");
    const { page, done } = await stage.visit("#" + (await pack(earlier)));
    await allow(page);
    await page.getByText("Try the pipeline on a document").waitFor();
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "handbook.md", { type: "text/markdown" }));
      for (const type of ["dragover", "drop"])
        dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }, handbook);
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Splitter"))').waitFor();
    await page.getByRole("button", { name: "Side by side" }).click();
    await page.locator('.column[aria-label^="Splitter"] .piece').first().waitFor();
    await done();
  });

  test("chunks are shown beside the source and follow a change of the settings", async () => {
    const requests: string[] = [];
    const { page, done } = await stage.visit("#" + (await pack(pipeline)));
    page.on("request", (request) => {
      if (!new URL(request.url()).href.startsWith(stage.address) && !request.url().startsWith("blob:"))
        requests.push(request.url());
    });
    await allow(page);
    await page.getByText("Try the pipeline on a document").waitFor();
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "handbook.md", { type: "text/markdown" }));
      for (const type of ["dragover", "drop"])
        dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }, handbook);
    await page.locator(".stations .facts", { hasText: "chunks: 1 ·" }).first().waitFor();
    await page.getByRole("button", { name: "Side by side" }).click();
    await page.locator(".bench .source pre", { hasText: "Rule number 12" }).waitFor();
    assert.equal(await pieces(page, "TokenChunker"), 1);
    assert.ok((await pieces(page, "Parser")) > 12, "blocks of the parser");

    const chunker = page.locator('.column[aria-label^="TokenChunker"]');
    await chunker.locator("summary").first().click();
    await chunker.getByLabel("Size", { exact: true }).fill("40");
    await page.waitForFunction(
      () => document.querySelectorAll('.column[aria-label^="TokenChunker"] .piece').length > 3,
    );
    await page.locator('.column[aria-label^="TokenChunker"] .piece', { hasText: "kind 7" }).last().click();
    await page.locator(".source mark", { hasText: "kind 7" }).waitFor();
    await audit(page, "side by side");
    await page.locator(".bench").getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(".stations .facts", { hasText: "chunks: 1 ·" }).first().waitFor();
    await page.getByRole("button", { name: "中文" }).click();
    await page.getByRole("button", { name: "并排查看" }).waitFor();
    await audit(page, "panel");
    assert.deepEqual(requests, [], "nothing is sent anywhere");
    await done();
  });

  test("a file without a setup of the parser is an error of the node, and another file succeeds", async () => {
    const { page, done } = await stage.visit("#" + (await pack(pipeline)), { width: 390, height: 844, dark: true });
    await allow(page);
    const file = (name: string): { name: string; mimeType: string; buffer: Buffer } => ({
      name,
      mimeType: "text/plain",
      buffer: Buffer.from("Tea is served at four."),
    });
    await page.locator('.pipeline input[type="file"]').setInputFiles(file("notes.csv"));
    await page.locator(".stations .fault", { hasText: 'no setup for the extension of "notes.csv"' }).waitFor();
    await page.locator('.pipeline input[type="file"]').setInputFiles(file("notes.txt"));
    await page.locator(".stations .facts", { hasText: "chunks: 1 ·" }).first().waitFor();
    await audit(page, "phone");
    await done();
  });
});
