// All views: none is wider than a phone, and none has English words when the page is Chinese.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { hostTour, type HostTour } from "./host-tour.ts";
import { missing, raise, type Stage } from "./stage.ts";
import { shots } from "./tour.ts";

const phones = [360, 390];

// wide returns what is wider than its place: the page, or something that scrolls sideways. Tables,
// code and the tools of a selection may.
function wide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const may = "pre, textarea, .scroll, .cm-scroller, .toolbar, .react-flow, .react-flow *, .sr, .skip";
    const found: string[] = [];
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) found.push(`the page: ${root.scrollWidth}`);
    for (const each of document.querySelectorAll<HTMLElement>("body *")) {
      if (each.matches(may) || !each.checkVisibility()) continue;
      const scrolls = /auto|scroll/.test(getComputedStyle(each).overflowX);
      const name = `${each.tagName.toLowerCase()}.${each.getAttribute("class") ?? each.id}`;
      if (scrolls && each.scrollWidth > each.clientWidth + 1) {
        found.push(`${name}: ${each.scrollWidth} in ${each.clientWidth}`);
      }
      if (each.closest(".scroll, .toolbar, pre, .cm-scroller")) continue;
      const { right, width } = each.getBoundingClientRect();
      if (width > 1 && right > innerWidth + 1) found.push(`${name} ends at ${Math.round(right)}`);
    }
    return [...new Set(found)];
  });
}

async function fits(page: Page, name: string): Promise<void> {
  for (const width of phones) {
    await page.setViewportSize({ width, height: 800 });
    assert.deepEqual(await wide(page), [], `${name}, ${width} px`);
  }
}

// Where the content of the person stands: names, prompts, documents, answers, and technical words.
const content = [
  "[lang=en]", "code", "pre", "kbd", "samp", "textarea", "option", ".mono", ".cm-editor", ".note", ".markdown",
  ".bubble", ".box-name b", ".summary", ".chip", ".chips", ".branches", "h1.title", ".value", ".brand",
].join(", ");

// Words that are the same in Chinese texts: names of products, formats, protocols, units.
const names = /^(easel|JSON|[\W\d]*)$/;

// english turns the page to Chinese and returns its English texts.
async function english(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 1360, height: 820 });
  await page.locator(".bar [lang=zh]").evaluate((button: HTMLElement) => button.click()); // also behind a dialog
  await page.locator(".bar [lang=en]").waitFor();
  await page.waitForTimeout(300); // words that are loaded on demand
  const texts = await page.evaluate((content) => {
    const found: string[] = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const parent = node.parentElement;
      const text = node.textContent?.trim() ?? "";
      if (!parent?.checkVisibility({ visibilityProperty: true }) || parent.closest(content)) continue;
      if (/[a-z]{3}/i.test(text) && !/\p{Script=Han}/u.test(text)) found.push(`${text.slice(0, 90)} <${parent.tagName.toLowerCase()}.${parent.className}>`);
    }
    for (const each of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
      if (each.closest(content) || !each.checkVisibility()) continue;
      for (const name of ["aria-label", "title", "placeholder"]) {
        const text = each.getAttribute(name) ?? "";
        if (/[a-z]{3}/i.test(text) && !/\p{Script=Han}/u.test(text)) found.push(`${name}: ${text.slice(0, 90)} <${each.tagName.toLowerCase()}.${each.getAttribute("class")}>`);
      }
    }
    return [...new Set(found)];
  }, content);
  return texts.filter((text) => !names.test(text));
}

describe("views", { skip: missing(), timeout: 2_400_000 }, () => {
  let tour: HostTour;
  let stage: Stage;
  before(async () => {
    stage = await raise();
    tour = await hostTour();
  });
  after(async () => {
    await stage?.close();
    await tour?.close();
  });

  // Those for other sizes and colours show the same views.
  const views = shots.filter(([name]) => !/-dark$|-phone$|^narrow|^preview|^chinese/.test(name));
  for (const [name, hash, , act] of views) {
    test(`${name} fits a phone`, async () => {
      const { page } = await stage.open(hash, { width: 360, height: 800 });
      await act(page);
      await fits(page, name);
      await page.context().close();
    });
  }

  test("the views of a host fit a phone", async () => {
    const wrong: string[] = [];
    for (const [name, hash, act] of tour.shots) {
      const { page } = await tour.stage.open(hash, { width: 360, height: 800 });
      await tour.enter(page);
      await act(page);
      await fits(page, name).catch((err: unknown) => wrong.push(String(err)));
      await page.context().close();
    }
    assert.deepEqual(wrong, []);
  });
});
