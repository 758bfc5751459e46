// axe-core on a page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Found {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/** audit asserts that axe finds no violation; a message names the view. */
export async function audit(page: Page, where: string): Promise<void> {
  // It is evaluated through the protocol, which the page's policy does not restrict.
  await page.evaluate(source);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<Found> } };
    return (await axe.run()).violations.map(({ id, nodes }) => {
      const shown = nodes
        .slice(0, 3)
        .map(({ html, failureSummary = "" }) => `${html.slice(0, 160)} ${failureSummary.slice(0, 240)}`);
      return `${id}: ${shown.join(" | ")}`;
    });
  });
  assert.deepEqual(violations, [], where);
}
