// The cost of frames while a run is shown: our page with 200 and 500 nodes, and a plain
// React Flow page with 500 that gets the same changes in the same time.

import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { allow, answer, ask, type Stage } from "../browser/stage.ts";
import { worked } from "./work.ts";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
const esbuild = createRequire(new URL("../../../wasm/js/package.json", import.meta.url))("esbuild") as {
  build(options: object): Promise<unknown>;
};

/** Frames are the measurements of one run, in milliseconds except for seconds. */
export interface Frames {
  p50: number;
  p95: number;
  /** Longest task of the page's thread. */
  long: number;
  /** Processor time of the page's thread. */
  busy: number;
  seconds: number;
}

/** chain returns a canvas with this number of nodes that call a model, laid out in rows. */
export function chain(count: number): string {
  const ids = Array.from({ length: count }, (_, i) => (i === 0 ? "begin" : `LLM:N${i}`));
  const components = Object.fromEntries(
    ids.map((id, i) => [
      id,
      {
        obj: {
          component_name: i === 0 ? "Begin" : "LLM",
          params: i === 0 ? {} : { prompts: [{ role: "user", content: "{sys.query}" }] },
        },
        downstream: ids[i + 1] ? [ids[i + 1]] : [],
      },
    ]),
  );
  const nodes = ids.map((id, i) => ({
    id,
    position: { x: (i % 25) * 260, y: Math.floor(i / 25) * 130 },
    data: { name: `Step ${i}` },
  }));
  return JSON.stringify({ title: `${count} nodes`, dsl: { components, graph: { nodes, edges: [] } } });
}

/** openChain opens such a canvas as a file. */
export async function openChain(tab: Page, count: number): Promise<void> {
  await tab.setInputFiles('input[type="file"][accept*="json"]', {
    name: "chain.json",
    mimeType: "application/json",
    buffer: Buffer.from(chain(count)),
  });
  await tab.locator(".react-flow__node .box").first().waitFor();
}

/** page measures our own page while a chain runs; a scripted model takes 15 ms for each answer. */
export async function page(stage: Stage, count: number): Promise<Frames> {
  const { page: tab } = await stage.open("");
  await answer(tab, []);
  await openChain(tab, count);
  await allow(tab);
  // A large canvas draws what is visible: all of it after this.
  await tab.getByRole("button", { name: "Fit to view" }).click();
  await tab.locator(".react-flow__node").nth(count - 1).waitFor({ state: "attached" });
  await tab.waitForTimeout(500);
  const frames = await watch(tab, async () => {
    await ask(tab, "go");
    await tab.waitForFunction(
      (most) => document.querySelectorAll('.box[data-status="succeeded"]').length === most,
      count,
      { timeout: 120_000, polling: 100 },
    );
  });
  await tab.context().close();
  return frames;
}

/** bare measures a React Flow page of the same size, whose changes take this number of seconds. */
export async function bare(stage: Stage, count: number, seconds: number): Promise<Frames> {
  mkdirSync(dist + "bare", { recursive: true });
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL("bare.tsx", import.meta.url))],
    outdir: dist + "bare",
    bundle: true,
    minify: true,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    nodePaths: [fileURLToPath(new URL("../../node_modules", import.meta.url))],
  });
  writeFileSync(
    dist + "bare/index.html",
    `<!doctype html><link rel="stylesheet" href="bare.css"><style>html,body,` +
    `#root{height:100%;margin:0}.box{width:200px;height:64px;border:1px solid;position:relative}.box[data-status=running]::after{content:"";position:absolute;inset:-3px;border:2px solid red;animation:b 1.1s infinite alternate}@keyframes b{from{opacity:.25}}</style><div id="root"></div><script type="module" src="bare.js"></script>`,
  );
  const { page: tab } = await stage.open(`bare/index.html?nodes=${count}`);
  await tab.locator(".react-flow__node").nth(count - 1).waitFor({ state: "attached" });
  await tab.waitForTimeout(500);
  const frames = await watch(tab, () =>
    tab.evaluate((ms) => (globalThis as unknown as { play(ms: number): Promise<void> }).play(ms), seconds * 1000),
  );
  await tab.context().close();
  return frames;
}

/** watch measures the frames of a page during an act. */
export async function watch(tab: Page, act: () => Promise<void>): Promise<Frames> {
  await tab.evaluate(() => {
    const seen = { frames: [] as number[], long: 0, from: performance.now() };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.long = Math.max(seen.long, entry.duration);
    }).observe({ type: "longtask" });
    let last = performance.now();
    const tick = (now: number): void => { seen.frames.push(now - last); last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  });
  const browser = tab.context().browser() as Browser;
  const before = await worked(browser);
  await act();
  const busy = (await worked(browser)) - before;
  const { frames, long, from, until } = await tab.evaluate(() => ({
    ...(globalThis as unknown as { seen: { frames: number[]; long: number; from: number } }).seen,
    until: performance.now(),
  }));
  const sorted = frames.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
  return {
    p50: at(0.5),
    p95: at(0.95),
    long: Math.round(long),
    busy: Math.round(busy),
    seconds: Math.round((until - from) / 100) / 10,
  };
}
