// What a finger presses on a phone is at least 44 px high, in all views.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { missing, raise, type Stage } from "./stage.ts";

const least = 44;

// small lists the targets that are lower. Links in sentences may be as high as their line, and
// marks of fields have room around them.
function small(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    const targets = "button, a[href], input, select, textarea, summary, [role=option], [role=tab], [role=menuitem]";
    const inline = ".sr, .skip, .react-flow__node, .react-flow__edges, .react-flow__attribution, p, .markdown, " +
      ".about, .field-dot, .chip-remove, .cite, .before, .gantt, .entries .what";
    const seen = { visibilityProperty: true, opacityProperty: true };
    return [...document.querySelectorAll<HTMLElement>(targets)].flatMap((target) => {
      if (target.closest(inline) || !target.checkVisibility(seen)) return [];
      const label = target.matches("[type=checkbox], [type=radio], [type=range]") ? target.closest("label") : null;
      const { width, height } = (label ?? target).getBoundingClientRect();
      if (width < 2 || Math.round(height) >= least) return [];
      const name = target.getAttribute("aria-label") ?? target.textContent ?? "";
      const size = `${Math.round(width)}x${Math.round(height)}`;
      return [`${target.tagName.toLowerCase()}.${target.className} ${size} ${name.slice(0, 40)}`];
    });
  }, least);
}

describe("targets on a phone", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  let host: Served;
  before(async () => {
    host = await serveHost("--install-examples");
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  test("all views of a signed-in person", async () => {
    const { page, done } = await stage.visit("login", { width: 390, height: 844 });
    await page.goto(host.link);
    const views: [hash: string, there: string][] = [
      ["", ".home .on-host .card"], ["#knowledge", ".area .tools"], ["#runs", ".area"], ["#docs", ".docs-body"],
      ["#settings=models", ".settings-view h2"], ["#settings=secrets", ".settings-view .empty"],
      ["#settings=keys", ".settings-view .entries"], ["#settings=audit", ".settings-view .entries"],
      ["#settings=usage", ".settings-view"], ["#settings=health", ".settings-view .entries"],
      ["#template=support-faq", ".react-flow__node"],
    ];
    const found: Record<string, string[]> = {};
    for (const [hash, there] of views) {
      await page.evaluate((hash) => { location.hash = hash; }, hash);
      await page.locator(there).first().waitFor();
      const low = await small(page);
      if (low.length > 0) found[hash || "home"] = low;
      await audit(page, `${hash || "home"} on a phone`);
    }
    for (const tab of ["chat", "timeline", "node", "variables", "problems", "tests"]) {
      await page.locator(`#tab-${tab}`).click();
      const low = await small(page);
      if (low.length > 0) found[tab] = low;
    }
    await page.getByRole("button", { name: "Add step" }).click();
    await page.locator(".palette-entry").first().waitFor();
    const low = await small(page);
    if (low.length > 0) found["palette"] = low;
    assert.deepEqual(found, {});
    await done(/status of 401/);
  });
});
