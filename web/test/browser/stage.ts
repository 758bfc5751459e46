// A static server for the built page and a headless Chromium to look at it. The server
// sends the types a plain static host would, and no header that needs configuration.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";

const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml", ".json": "application/json" };
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** browserAt is where Chromium is expected; EASEL_CHROMIUM says another place. */
export const browserAt = process.env["EASEL_CHROMIUM"] ?? "/usr/bin/chromium";

/** missing says why the browser tests cannot run, or nothing. */
export function missing(): string | false {
  if (!existsSync(dist)) return "web/dist is not built: go run ./build/bundle";
  return existsSync(browserAt) ? false : `no Chromium at ${browserAt}`;
}

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

/** Stage is a server and a browser. */
export interface Stage {
  address: string;
  browser: Browser;
  /** open gives a fresh page; what it complains about is collected in faults. */
  open(hash?: string, more?: { width?: number; height?: number; dark?: boolean }): Promise<{ page: Page; faults: string[] }>;
  close(): Promise<void>;
}

/** raise starts both. Animations rest unless `motion` is asked for. */
export async function raise({ motion = false } = {}): Promise<Stage> {
  const server = await serve();
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const browser = await chromium.launch({ executablePath: browserAt, headless: true, args: flags });
  return {
    address, browser,
    async open(hash = "", more = {}) {
      const context = await browser.newContext({
        viewport: { width: more.width ?? 1360, height: more.height ?? 820 }, colorScheme: more.dark ? "dark" : "light", locale: "en-US", reducedMotion: motion ? "no-preference" : "reduce",
        permissions: ["clipboard-read", "clipboard-write"],
      });
      const page = await context.newPage();
      const faults: string[] = [];
      page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") faults.push(message.text()); });
      page.on("pageerror", (err) => faults.push(String(err)));
      await page.goto(address + hash);
      return { page, faults };
    },
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
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
