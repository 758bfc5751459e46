// Approvals and limits in the page: a tool of an agent waits for the user on a card, and a limit
// that was reached is in the timeline with its code.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { allow, answer, ask, counted, missing, raise, type Stage } from "./stage.ts";

const canvasWith = (more: object): string => JSON.stringify({
  ...more,
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Agent:A"], upstream: [] },
    "Agent:A": {
      obj: {
        component_name: "Agent",
        params: {
          sys_prompt: "Search.", tool_mode: "prompt",
          tools: [{ component_name: "TavilySearch", name: "Search", params: { approval: true } }],
        },
      },
      downstream: ["Message:M"], upstream: ["begin"],
    },
    "Message:M": {
      obj: { component_name: "Message", params: { content: ["{Agent:A@content}"] } },
      downstream: [], upstream: ["Agent:A"],
    },
  },
});

// replies call the search and, after its result, finish the plan and answer. A run that
// continues starts with the first of them again.
const replies = [
  { match: "Observation:", text: `[{"name": "complete_task", "arguments": {"answer": "x"}}]` },
  { match: "Observation:", text: "All found." },
  { text: `[{"name": "tavily_search_0", "arguments": {"query": "boots"}}]` },
];

describe("approvals and limits", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage?.close());

  async function started(canvas: string): Promise<{ page: Page; done: () => Promise<void> }> {
    const { page, done } = await stage.visit();
    await page.setInputFiles('input[type="file"][accept*="json"]', {
      name: "guarded.json", mimeType: "application/json", buffer: Buffer.from(canvas),
    });
    await allow(page);
    await answer(page, replies);
    await ask(page, "coats");
    return { page, done: () => done() };
  }

  test("a tool runs with the approved arguments", async () => {
    const { page, done } = await started(canvasWith({}));
    const card = page.locator(".approval");
    await card.getByText("tavily_search_0 asks to run with these arguments:").waitFor();
    await page.locator('.box[data-status="paused"]').waitFor();
    assert.ok(await page.getByRole("button", { name: "Continue" }).isDisabled(), "nothing is decided yet");
    await card.locator("textarea").fill("{broken");
    await card.getByRole("alert").waitFor();
    assert.ok(await card.getByRole("button", { name: "Approve" }).isDisabled());
    await card.locator("textarea").fill(`{"query": "warm coats"}`);
    await card.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator(".transcript", { hasText: "All found." }).waitFor();
    await page.locator('.react-flow__node:has(small:has-text("Agent"))').first().click();
    await page.locator("#tab-node").click();
    await page.getByRole("tab", { name: /^Out/ }).click();
    const tools = page.locator('.inspector section[aria-label="Tools"]');
    await tools.locator("summary", { hasText: "tavily_search_0" }).first().click();
    const shown = await tools.evaluate((section) => {
      const fields = [...section.querySelectorAll("textarea")].map(({ value }) => value);
      return [section.textContent, ...fields].join(" ");
    });
    assert.match(shown, /warm coats/);
    await done();
  });

  test("a rejected tool does not run", async () => {
    const { page, done } = await started(canvasWith({}));
    await page.locator(".approval").getByRole("button", { name: "Reject" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator(".transcript", { hasText: "All found." }).waitFor();
    await counted(page.locator(".badge.route"), 0, "no tool answered");
    await page.locator("#tab-timeline").click();
    await page.locator(".timeline .uses", { hasText: "rejected by a person" }).waitFor();
    await done();
  });

  test("a limit that stops a node is in the timeline with its code", async () => {
    const { page, done } = await started(canvasWith({ settings: { limits: { model_calls: 1 } } }));
    await page.locator(".approval").getByRole("button", { name: "Approve" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator('.box[data-status="failed"]').waitFor();
    await page.locator("#tab-timeline").click();
    await page.getByRole("list", { name: "Warnings and limits reached" }).getByText(/\(\w*model_calls\w*\)/).waitFor();
    await done();
  });
});
