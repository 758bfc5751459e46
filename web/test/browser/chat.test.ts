// The chat panel: example questions, attempts as they happen, retry after a failure, and files for
// runs on the host.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { counted, missing, raise, type Stage } from "./stage.ts";

const step = (component_name: string, params: object, upstream: string[], downstream: string[]): object =>
  ({ obj: { component_name, params }, upstream, downstream });

// The script fails until it is asked for tea.
const script = 'function main({ q }) { if (q !== "tea") throw new Error("only tea"); return "A cup of " + q; }';
const code = {
  lang: "javascript", script, arguments: { q: "sys.query" }, outputs: { result: { type: "String", value: "" } },
  max_retries: 2, delay_after_error: 3,
};
const shop = {
  components: {
    begin: step("Begin", { prologue: "Hi!", questions: ["tea", "milk", "", "tea"] }, [], ["CodeExec:C"]),
    "CodeExec:C": step("CodeExec", code, ["begin"], ["Message:M"]),
    "Message:M": step("Message", { content: ["{CodeExec:C@result}"] }, ["CodeExec:C"], []),
  },
  graph: { nodes: [{ id: "CodeExec:C", data: { name: "Kettle" } }] },
};

const reader = {
  components: {
    begin: step("Begin", { mode: "conversational" }, [], ["Message:M"]),
    "Message:M": step("Message", { content: ["It says: {sys.files}"] }, ["begin"], []),
  },
};

describe("the conversation", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  let host: Served;
  before(async () => {
    host = await serveHost();
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  async function opened(page: Page, title: string, dsl: object): Promise<void> {
    const answer = await fetch(`${host.address}/api/v2/canvases`, {
      method: "POST",
      headers: { authorization: `Bearer ${host.key}`, "content-type": "application/json" },
      body: JSON.stringify({ title, dsl }),
    });
    const { id } = (await answer.json()) as { id: string };
    await page.goto(`${host.address}/#settings=models`);
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.locator(".settings-view").waitFor();
    await page.goto(`${host.address}/#canvas=${id}`);
    await page.locator(".react-flow__node").first().waitFor();
    await page.locator("#tab-chat").click();
  }

  test("example questions are asked by a click, and a failure leads to its step and is asked again", async () => {
    const { page, done } = await stage.visit();
    await opened(page, "Kettle shop", shop);
    const examples = page.getByRole("group", { name: "Example questions" });
    await counted(examples.getByRole("button"), 2);
    assert.deepEqual(await examples.getByRole("button").allInnerTexts(), ["tea", "milk"]);
    await audit(page, "example questions");
    await examples.getByRole("button", { name: "milk" }).click();
    await page.getByRole("status").filter({ hasText: "Kettle: attempt 2 of 3" }).waitFor();
    await page.getByRole("status").filter({ hasText: "Kettle: attempt 3 of 3" }).waitFor();
    const fault = page.locator(".transcript .fault");
    await fault.getByRole("button", { name: "Show “Kettle”" }).waitFor();
    await counted(page.locator(".transcript .attempt"), 0, "after the run");
    await audit(page, "a failed run");
    await page.locator('.react-flow__node[data-id="CodeExec:C"]').click();
    await page.locator("#tab-chat").click();
    await fault.getByRole("button", { name: "Try again" }).click();
    await counted(page.locator(".bubble.mine", { hasText: "milk" }), 2);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByPlaceholder("Your message").fill("tea");
    await page.keyboard.press("Enter");
    await page.locator(".bubble.theirs", { hasText: "A cup of tea" }).waitFor();
    await done(/status of 401/);
  });

  test("a file goes to a run on the host", async () => {
    const { page, done } = await stage.visit();
    await opened(page, "Reader", reader);
    await page.getByLabel("Run on the host").check();
    await page.locator('.composer input[type="file"]').setInputFiles({
      name: "order.txt", mimeType: "text/plain", buffer: Buffer.from("seven teapots"),
    });
    await page.locator(".chips .chip", { hasText: "order.txt" }).waitFor();
    await page.getByPlaceholder("Your message").fill("What is ordered?");
    await page.keyboard.press("Enter");
    await page.locator(".bubble.theirs", { hasText: "seven teapots" }).waitFor();
    await page.locator(".bubble.mine .chip", { hasText: "order.txt" }).waitFor();
    await done(/status of 401/);
  });
});
