// From an empty host to an answer that cites a chunk of an own pipeline, by names that a person
// sees.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator } from "playwright-core";
import { audit } from "./audit.ts";
import { parsed, serveHost, type Served } from "./host.ts";
import { missing, raise, type Stage } from "./stage.ts";

const most = 35; // acts from nothing to a cited answer

const handbook = Array.from(
  { length: 6 },
  (_, i) => `# Rule ${i + 1}\n\nGoods of kind ${i + 1} can be returned within ${i + 10} days of the delivery.`,
).join("\n\n");

describe("a pipeline from nothing", { skip: missing(), timeout: 1_200_000 }, () => {
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

  test("is made, tried with two sizes, chosen in a dataset, and cited by an answer", async () => {
    const { page, done } = await stage.visit("#knowledge");
    let acts = 0;
    const press = async (what: Locator): Promise<void> => { acts++; await what.click(); };
    const fill = async (what: Locator, text: string): Promise<void> => { acts++; await what.fill(text); };
    const button = (name: string | RegExp): Locator => page.getByRole("button", { name, exact: true });
    const give = async (what: Locator): Promise<void> => {
      acts++;
      await what.setInputFiles({ name: "handbook.md", mimeType: "text/markdown", buffer: Buffer.from(handbook) });
    };

    await fill(page.getByLabel("API key"), host.key);
    await press(button("Use this key"));
    await page.getByText("None yet. A pipeline reads documents").waitFor();
    await press(button("New pipeline"));
    await fill(page.getByLabel("Name"), "Cut the handbook");
    await press(page.getByRole("radio", { name: /^By length/ }));
    await audit(page, "new pipeline");
    await press(button("Create pipeline"));

    await page.getByText("Try the pipeline on a document").waitFor();
    await give(page.locator('.pipeline input[type="file"]'));
    await page.locator(".stations .facts", { hasText: "chunks: 1 ·" }).first().waitFor();
    await press(button("Side by side"));
    await press(button("Keep this result to compare"));
    const chunker = page.locator(".column", { has: page.getByText("chunks:") }).first();
    await press(chunker.locator("summary").first());
    await fill(chunker.getByLabel("Size", { exact: true }), "30");
    await page.locator('.column[aria-label="Kept result"] .facts', { hasText: /^0 of [3-9]/ }).waitFor();
    await audit(page, "two results");
    await press(page.locator(".bench").getByRole("button", { name: "Close" }));
    await press(button("Save to host"));
    await button(/^Saved/).or(page.getByText("Saved", { exact: true })).first().waitFor();

    await press(button("Home"));
    await press(page.getByRole("link", { name: "Knowledge" }).first());
    await press(button("New dataset"));
    await fill(page.getByLabel("Name"), "Handbook");
    await press(button("Create dataset"));
    await press(page.getByRole("tab", { name: "Settings" }));
    await press(page.getByRole("radio", { name: /^Pipeline/ }));
    const choice = page.getByRole("combobox", { name: "Pipeline" });
    assert.deepEqual(await choice.locator("option").allTextContents(), ["Choose a pipeline", "Cut the handbook"]);
    await press(button("Save"));
    await page.locator(".good", { hasText: "Saved" }).waitFor();
    await press(page.getByRole("tab", { name: "Documents" }));
    await give(page.locator('.area input[type="file"]').last());
    const row = page.locator(".entries > li", { hasText: "handbook.md" });
    await row.locator(".badge", { hasText: "Ready" }).waitFor();
    await row.getByText("Cut the handbook").waitFor();
    const id = new URL(page.url()).hash.replace("#knowledge=", "");
    await parsed(host, id);

    await press(page.locator(".area-head").getByRole("button"));
    if ((await page.locator(".react-flow__node").count()) > 0) await press(button("Home"));
    await press(page.getByRole("button", { name: /Answers from documents/ }).first());
    await press(page.locator('.react-flow__node[data-id="Retrieval:Documents"]'));
    await press(button("Remove shop-handbook"));
    acts++;
    await page.getByLabel(/Add a dataset/).first().selectOption({ label: "Handbook" });
    await press(page.locator("#tab-chat"));
    await fill(page.locator(".composer textarea"), "How long can goods of kind 4 be returned?");
    acts++;
    await page.keyboard.press("Enter");
    await press(page.locator(".bubble.theirs button.cite").first());
    await press(page.getByRole("link", { name: "Open the chunk in its document" }).first());
    await page.locator(".chunk-card", { hasText: "returned within" }).waitFor();
    assert.ok(acts <= most, `${acts} acts`);
    console.log(`acts: ${acts}`);
    await done(/status of 40[14]/);
  });
});
