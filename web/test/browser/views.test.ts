// All views: none is wider than a phone, and none has English words when the page is Chinese.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { hostTour, type HostTour } from "./host-tour.ts";
import { missing, patience, raise, type Stage } from "./stage.ts";
import { shots } from "./tour.ts";

const phones = [360, 390];
const examples = fileURLToPath(new URL("../../examples/", import.meta.url));

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

// Where texts are not the page's: English on purpose, code, documents, answers, values.
const content = [
  "[lang=en]", "code", "pre", "kbd", "textarea", ".cm-editor", ".note", ".markdown", ".bubble", ".chunk-text",
  ".piece", ".summary", ".branches", ".presets",
  ".chip", ".chips", ".uses", ".value", ".json-button", ".fault", ".reason", ".react-flow__attribution",
].join(", ");

// The texts of the canvases, datasets and plugins in the views.
const seeds = ["tour.ts", "host-tour.ts", ...readdirSync(examples).map((file) => examples + file)]
  .map((file) => readFileSync(file.startsWith("/") ? file : new URL(file, import.meta.url), "utf8")).join("\n");

// Words that are the same in Chinese.
const names = new Set([
  "easel", "API", "curl", "JavaScript", "Python", // products and languages
  "sqlite", "embedded NATS", // parts of the host
  "http://localhost:3000", "https://api.example.org/v1", // examples of addresses
  "Untitled canvas", "Knowledge search", // made when the page was English
  "Local", "small@Local", "first", "Google", // a provider, a model, a key and a service
  "universal-sentence-encoder-lite@Builtin", // a model
]);

// english turns the page to Chinese and returns its English texts.
async function english(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 1360, height: 820 });
  await page.locator("#bar-menu").waitFor({ state: "detached" }); // its buttons are in the bar now
  await page.locator(".bar [lang=zh]").evaluate((button: HTMLElement) => button.click()); // also behind a dialog
  await page.locator(".bar [lang=en]").waitFor();
  let last: string[] = [];
  for (const end = Date.now() + patience; Date.now() < end; await page.waitForTimeout(100)) { // words load on demand
    last = (await latin(page)).filter((text) => !known(text));
    if (last.length === 0) return [];
  }
  return last;
}

function latin(page: Page): Promise<string[]> {
  return page.evaluate((content) => {
    const found = new Set<string>();
    const note = (text: string | null): void => {
      if (text !== null && /[a-z]{3}/i.test(text) && !/\p{Script=Han}/u.test(text)) found.add(text.trim());
    };
    for (const each of document.querySelectorAll("body *")) {
      if (each.closest(content) || !each.checkVisibility({ visibilityProperty: true })) continue;
      for (const node of each.childNodes) if (node.nodeType === Node.TEXT_NODE) note(node.textContent);
      for (const name of ["aria-label", "placeholder"]) note(each.getAttribute(name));
    }
    return [...found];
  }, content);
}

// known reports whether a text is a name, or one of the person's: alone, cut off, or with numbers.
// Names of variables have two parts.
function known(text: string): boolean {
  const own = text.replace(/…$/, "").replaceAll("_", " ").trim();
  const made = /^[A-Z]\w+:\w+$|^[\w ]+@\w+$|^plugin:digest@|^Customer greeting_[\d_]+$| · small$|^plugin:mail@|^ID：/;
  const parts = text.split(" · ");
  return names.has(text) || seeds.includes(own) || made.test(text) || (parts.length > 1 && parts.every(known));
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
    test(`${name} fits a phone and is Chinese`, async () => {
      const { page } = await stage.open(hash, { width: 360, height: 800 });
      await act(page);
      await fits(page, name);
      assert.deepEqual(await english(page), []);
      await page.context().close();
    });
  }

  test("the views of a host fit a phone and are Chinese", async () => {
    const wrong: string[] = [];
    for (const [name, hash, act] of tour.shots) {
      const { page } = await tour.stage.open(hash, { width: 360, height: 800 });
      await tour.enter(page);
      await act(page);
      await fits(page, name).catch((err: unknown) => wrong.push(String(err)));
      wrong.push(...(await english(page)).map((text) => `${name}: ${text}`));
      await page.context().close();
    }
    assert.deepEqual(wrong, []);
  });
});
