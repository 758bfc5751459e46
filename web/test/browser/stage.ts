// A static server for the built page and a headless Chromium. The server
// sends the types of a plain static server, and no headers that need configuration.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Locator, type Page } from "playwright-core";

const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml", ".json": "application/json" };
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/**
 * patience is the limit of waits for events in milliseconds: a busy machine takes long
 * to start a browser.
 */
export const patience = 120_000;

/** browserAt is the path of Chromium; EASEL_CHROMIUM sets another one. */
export const browserAt = process.env["EASEL_CHROMIUM"] ?? "/usr/bin/chromium";

/** missing is the reason why the browser tests cannot run, if there is one. */
export function missing(): string | false {
  if (!existsSync(dist)) return "web/dist is not built: go run ./build/bundle";
  return existsSync(browserAt) ? false : `no Chromium at ${browserAt}`;
}

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

/** Look are the settings of a page. */
export interface Look {
  width?: number;
  height?: number;
  dark?: boolean;
}

/** Stage is a server and a browser. */
export interface Stage {
  address: string;
  browser: Browser;
  /** open returns a new page; its errors are collected in faults. */
  open(hash?: string, look?: Look): Promise<{ page: Page; faults: string[] }>;
  /**
   * visit returns open for tests: done closes the page and asserts that the console has no messages
   * but the expected ones.
   */
  visit(hash?: string, look?: Look): Promise<{ page: Page; done(expected?: RegExp): Promise<void> }>;
  close(): Promise<void>;
}

/**
 * raise starts both, or only a browser for the server at an address, with more flags. Animations
 * are off unless `motion` is set.
 */
export async function raise({ motion = false, at = "", more = [] as string[] } = {}): Promise<Stage> {
  const server = at ? undefined : await serve();
  const address = at || `http://127.0.0.1:${(server?.address() as AddressInfo).port}/`;
  const args = [...flags, ...more];
  const browser = await chromium.launch({ executablePath: browserAt, headless: true, args, timeout: patience });
  const open: Stage["open"] = async (hash = "", look = {}) => {
    const context = await browser.newContext({
      viewport: { width: look.width ?? 1360, height: look.height ?? 820 }, colorScheme: look.dark ? "dark" : "light", locale: "en-US", reducedMotion: motion ? "no-preference" : "reduce",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") faults.push(message.text()); });
    page.on("pageerror", (err) => faults.push(String(err)));
    await page.goto(address + hash);
    return { page, faults };
  };
  return {
    address, browser, open,
    async visit(hash, look) {
      const { page, faults } = await open(hash, look);
      return {
        page,
        async done(expected) {
          assert.deepEqual(faults.filter((fault) => !expected?.test(fault)), [], "the console is silent");
          await page.context().close();
        },
      };
    },
    async close() {
      await browser.close();
      server?.closeAllConnections();
      await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
    },
  };
}

function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    const file = path.slice(1) + (path.endsWith("/") ? "index.html" : "");
    readFile(dist + file).then(
      (body) => { response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" }); response.end(body); },
      () => { response.writeHead(404); response.end(); },
    );
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** counted waits until this number of elements exists. */
export async function counted(elements: Locator, count: number, why = ""): Promise<void> {
  const last = Date.now() + patience;
  for (;;) {
    const found = await elements.count();
    if (found === count) return;
    if (Date.now() > last) assert.fail(`${elements}: ${found} elements, not ${count}${why && `: ${why}`}`);
    await elements.page().waitForTimeout(50);
  }
}

/**
 * reached waits until a function of the page resolves with true. Page.waitForFunction takes a
 * promise for a true value, and ends with it.
 */
export async function reached<Arg>(page: Page, test: (arg: Arg) => Promise<boolean>, arg: Arg): Promise<void> {
  const last = Date.now() + patience;
  // The cast is for the type of handles, which no caller passes.
  while (!(await page.evaluate(test as (arg: unknown) => Promise<boolean>, arg))) {
    if (Date.now() > last) assert.fail(`it was not reached: ${test}`);
    await page.waitForTimeout(50);
  }
}

/**
 * glimpse acts, and waits until the page shows a text that it removes after seconds. The page
 * itself waits for it: a test on a busy machine may look later than that.
 */
export async function glimpse(page: Page, css: string, words: RegExp, act: () => Promise<unknown>): Promise<void> {
  const watch = await page.evaluateHandle(([selector, source, longest]) => {
    const isShown = (): boolean => [...document.querySelectorAll(selector)]
      .some((each) => new RegExp(source).test(each.getAttribute("aria-label") ?? each.textContent ?? ""));
    let before = isShown();
    const shown = new Promise<void>((resolve, reject) => {
      const observer = new MutationObserver(() => {
        const now = isShown();
        if (now && !before) resolve();
        before = now;
      });
      observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
      setTimeout(() => reject(new Error(`${selector} never showed ${source}`)), longest);
    });
    return { shown };
  }, [css, words.source, patience] as const);
  await act();
  await watch.evaluate(({ shown }) => shown);
}

/** saveToHost saves a canvas that the host has already. */
export function saveToHost(page: Page): Promise<void> {
  return glimpse(page, "button", /^Saved$/, () => page.getByRole("button", { name: "Save to host" }).click());
}

type Rect = NonNullable<Awaited<ReturnType<Locator["boundingBox"]>>>;

/** still returns the rectangles of elements, in the order given, once none of them moves. */
export async function still(...of: Locator[]): Promise<Rect[]> {
  const rect = async (each: Locator): Promise<Rect> => (await each.boundingBox()) ?? assert.fail(`${each} is hidden`);
  for (let last = "", same = 0; ; ) {
    const rects = await Promise.all(of.map(rect));
    same = JSON.stringify(rects) === last ? same + 1 : 0;
    if (same === 3) return rects;
    last = JSON.stringify(rects);
    // A frame of the page, so that a page that is busy is not taken for one at rest.
    await of[0]?.page().evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 40))));
  }
}

/** drop drops a file on the page; its text is generated there, so that large ones are not sent. */
export function drop(page: Page, text: string, { name = "x.json", times = 1 } = {}): Promise<void> {
  return page.evaluate(([body, file, count]) => {
    const data = new DataTransfer();
    data.items.add(new File([body.repeat(count)], file));
    document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
  }, [text, name, times] as const);
}

/** openDropped opens a dropped file, after the check of its steps. */
export async function openDropped(page: Page): Promise<void> {
  await page.locator("dialog.import").getByRole("button", { name: "Open canvas" }).click();
  await page.locator("dialog.import").waitFor({ state: "detached" });
}

/** allow lets a canvas from a link or a file run. */
export function allow(page: Page): Promise<void> {
  return page.getByRole("button", { name: "Allow this canvas to run" }).click();
}

/**
 * rewrite replaces the text of an editor once it has loaded. Text that replaces a selection would
 * keep the colours of the old one in style attributes, which the page's policy refuses.
 */
export async function rewrite(field: Locator, text: string): Promise<void> {
  const page = field.page();
  const editor = field.and(page.locator(".cm-content"));
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
  await editor.filter({ hasText: text.replace(/\{.*/s, "") }).waitFor();
}

/** ask sends a message to the canvas. */
export async function ask(page: Page, text: string): Promise<void> {
  await page.locator(".composer textarea").fill(text);
  await page.keyboard.press("Enter");
}

/** press presses a button of the bar; on a phone most of them are in its menu. */
export async function press(page: Page, name: string | RegExp): Promise<void> {
  if ((page.viewportSize()?.width ?? 0) <= 720) await page.getByRole("button", { name: /^(More|更多)$/ }).click();
  await page.locator(".bar").getByRole("button", { name }).click();
}

/** answer sets the next answers of the model. */
export async function answer(page: Page, replies: unknown[]): Promise<void> {
  await press(page, /^Model/);
  await page.locator("dialog").getByText("Prepared answers").click();
  await page.locator("dialog textarea").fill(JSON.stringify(replies));
  await page.getByRole("button", { name: "Done" }).click();
}

/**
 * modelServer selects an OpenAI-compatible server and responds in its place: to each request with
 * the HTTP response of `reply`; undefined never responds.
 */
export async function modelServer(page: Page, reply: (count: number) => { status?: number; type?: string; body: string } | undefined): Promise<void> {
  let count = 0;
  const cors = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
  await page.route("http://localhost:11434/**", async (route) => {
    if (route.request().method() === "OPTIONS") return route.fulfill({ status: 204, headers: cors });
    const { status = 200, type = "application/json", body } = reply(count++) ?? {};
    if (body !== undefined) await route.fulfill({ status, headers: { ...cors, "content-type": type }, body });
  });
  await press(page, /^Model/);
  await page.locator("dialog").getByText("OpenAI-compatible server").click();
  await page.getByRole("button", { name: "Done" }).click();
}

/** said returns a whole answer of a model server. */
export function said(text: string): { body: string } {
  return { body: JSON.stringify({ choices: [{ message: { content: text } }], usage: { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 } }) };
}
