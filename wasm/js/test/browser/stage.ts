// A headless Chromium and a server for it. The server sends a strict Content-Security-Policy, and
// nothing that would isolate the page; tests can change headers.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as bundle } from "esbuild";
import { chromium, type Browser, type Page } from "playwright-core";

/** browserAt is the path of Chromium; EASEL_CHROMIUM sets another one. */
export const browserAt = process.env["EASEL_CHROMIUM"] ?? "/usr/bin/chromium";

/** missing is the reason why tests in a browser cannot run, or false. */
export const missing: string | false = existsSync(browserAt)
  ? false
  : `no Chromium at ${browserAt}; EASEL_CHROMIUM names another`;

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * patience is the limit of waits for events in milliseconds: a busy machine takes long
 * to start a browser.
 */
const patience = 120_000;

/** policy is the most that a host has to allow. */
export const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

const types: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
  ".map": "application/json",
};
types[".mjs"] = "text/javascript";

/** Headers may be changed for a request by its query: `?csp=…`, `?type=…`. */
export interface Stage {
  address: string;
  browser: Browser;
  /**
   * open returns a new page whose script has run; its errors are collected in faults.
   */
  open(query?: string): Promise<{ page: Page; faults: string[]; done(): Promise<void> }>;
  close(): Promise<void>;
}

/**
 * raise bundles the entries (names of files in this folder, or of the package's sources), serves
 * them with the given files (name -> path), and starts the browser. The page loads the first
 * entry, or the file page.js.
 */
export async function raise(entries: string[], files: Record<string, string> = {}): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "easel-page-"));
  await bundle({
    entryPoints: entries.map((entry) => fileURLToPath(new URL(entry, import.meta.url))),
    outdir: folder,
    entryNames: "[name]",
    bundle: true,
    format: "esm",
    target: "es2022",
    sourcemap: "inline",
    external: ["module", "node:*"],
    loader: { ".wasm": "file" },
    logLevel: "error",
  });
  const first = basename(entries[0] ?? "page.js").replace(/\.ts$/, ".js");
  writeFileSync(
    join(folder, "index.html"),
    `<!doctype html><meta charset="utf-8"><title>stage</title><script type="module" src="${first}"></script>`,
  );
  const server = await serve(folder, files);
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const browser = await chromium.launch({ executablePath: browserAt, headless: true, args: flags, timeout: patience });
  return {
    address, browser,
    async open(query = "") {
      const context = await browser.newContext();
      context.setDefaultTimeout(patience);
      const page = await context.newPage();
      const faults: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
      });
      page.on("pageerror", (err) => faults.push(String(err)));
      await page.goto(`${address}index.html${query}`);
      return { page, faults, done: () => context.close() };
    },
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}

function serve(folder: string, files: Record<string, string>): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    const name = pathname.slice(1);
    if (name === "favicon.ico") return void response.writeHead(204).end();
    try {
      const body = readFileSync(files[name] ?? join(folder, basename(name)));
      response.writeHead(200, {
        "content-type": searchParams.get("type") ?? types[extname(name)] ?? "application/octet-stream",
        "content-security-policy": searchParams.get("csp") ?? policy,
      });
      response.end(body);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
