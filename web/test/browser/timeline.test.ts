// The picture of the time of a run: what overlaps is drawn at one time, keys and screen readers
// reach every bar, on a phone and in Chinese too.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { overlapHash, overlapServer } from "./overlap.ts";
import { allow, ask, counted, missing, press, raise, type Stage } from "./stage.ts";

/** times returns the left and right edges of the bars of rows. */
const times = (rows: Locator): Promise<{ left: number; right: number }[]> =>
  rows.locator(".gantt-track > i:first-of-type").evaluateAll((bars) => bars.map((bar) => {
    const { left, right } = bar.getBoundingClientRect();
    return { left, right };
  }));

function overlap(list: { left: number; right: number }[]): boolean {
  return Math.max(...list.map((each) => each.left)) < Math.min(...list.map((each) => each.right));
}

async function run(page: Page): Promise<void> {
  await allow(page);
  await overlapServer(page);
  await ask(page, "go");
  await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("Done"))').waitFor();
  await page.locator("#tab-timeline").click();
  await page.locator(".gantt [role=tree]").waitFor();
}

describe("the time of a run", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  test("branches, elements and tools that run at once overlap on one axis", async () => {
    const { page, done } = await stage.visit(overlapHash);
    await run(page);
    const row = (name: string | RegExp): Locator => page.getByRole("treeitem", { name });
    assert.ok(overlap(await times(row(/^LLM:(Left|Right) /))), "branches");
    await counted(row(/LLM:Work /), 5);
    assert.ok(overlap(await times(row(/LLM:Work /))), "elements");
    await counted(row(/^(Ann|Ben|Cid|Dot) /), 4);
    assert.ok(overlap(await times(row(/^(Ann|Ben|Cid|Dot) /))), "tools");
    const [join] = await times(row(/Each /));
    const [lead] = await times(row(/Lead /));
    assert.ok(join && lead && join.right <= lead.left + 2, "the agent waits for the elements");
    await row(/Lead .*on the critical path/).waitFor();
    const scale = await page.locator(".gantt-row .gantt-track").evaluateAll((tracks) => tracks.map((track) => {
      const { left, right } = track.getBoundingClientRect();
      return `${left} ${right}`;
    }));
    assert.equal(new Set(scale).size, 1, "all bars have one axis");
    await counted(page.locator('.steps .step[data-status="running"]'), 0, "each element has ended");
    await done();
  });

  test("keys walk through the bars, close and open a body, and lead to the step", async () => {
    const { page, done } = await stage.visit(overlapHash);
    await run(page);
    const focused = (name: RegExp): Promise<void> =>
      page.locator('[role=treeitem]:focus[tabindex="0"]').and(page.getByRole("treeitem", { name })).waitFor();
    const rows = await page.getByRole("treeitem").count();
    await page.locator('.gantt-row[tabindex="0"]').focus();
    await page.keyboard.press("End");
    await focused(/Done /);
    const body = page.getByRole("treeitem", { name: /Each / });
    await body.press("ArrowLeft");
    await counted(page.getByRole("treeitem"), rows - 15, "five elements, their steps and calls are hidden");
    assert.equal(await body.getAttribute("aria-expanded"), "false");
    await body.press("ArrowRight");
    await counted(page.getByRole("treeitem"), rows);
    await body.focus();
    await page.keyboard.press("ArrowDown");
    await focused(/^1 · /);
    await page.keyboard.press("ArrowLeft");
    await focused(/Each /);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Each" }).waitFor();
    await done();
  });

  test("a phone in the dark and in Chinese shows all of it", async () => {
    const { page, done } = await stage.visit(overlapHash, { width: 390, height: 844, dark: true });
    await run(page);
    await press(page, "中文");
    await page.getByRole("tree", { name: "运行时间" }).waitFor();
    await page.getByRole("treeitem", { name: /Lead.*在关键路径上/ }).waitFor();
    const beyond = await page.locator(".gantt-row").evaluateAll((rows) =>
      rows.filter((row) => row.scrollWidth > row.clientWidth || row.getBoundingClientRect().right > innerWidth).length);
    assert.equal(beyond, 0, "no row is wider than the screen");
    await audit(page, "timeline");
    await done();
  });
});
