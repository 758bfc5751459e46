// Measures frames while a run animates: our page with 200 and 500 nodes, and a bare
// React Flow page with 500 in the same go.
// node --import ../wasm/js/test/strip.mjs test/browser/frames.ts

import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { CDPSession, Page } from "playwright-core";
import { missing, raise } from "./stage.ts";

const why = missing();
if (why) throw new Error(why);
const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
const esbuild = createRequire(new URL("../../../wasm/js/package.json", import.meta.url))("esbuild") as { build(options: object): Promise<unknown> };

interface Frames {
  p50: number;
  p95: number;
  long: number;
  seconds: number;
  /** The first long tasks as start:length, milliseconds after the beginning. */
  tasks: string;
}

/** chain is a canvas of so many nodes, laid out in rows. */
function chain(count: number): string {
  const ids = Array.from({ length: count }, (_, i) => (i === 0 ? "begin" : `VariableAssigner:N${i}`));
  const components = Object.fromEntries(ids.map((id, i) => [id, { obj: { component_name: i === 0 ? "Begin" : "VariableAssigner", params: {} }, downstream: ids[i + 1] ? [ids[i + 1]] : [] }]));
  const nodes = ids.map((id, i) => ({ id, position: { x: (i % 25) * 260, y: Math.floor(i / 25) * 130 }, data: { name: `Step ${i}` } }));
  return JSON.stringify({ title: `${count} nodes`, dsl: { components, graph: { nodes, edges: [] } } });
}

async function measure(page: Page, act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(() => {
    const seen = { frames: [] as number[], long: 0, tasks: [] as string[], from: performance.now() };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) {
      seen.long = Math.max(seen.long, entry.duration);
      seen.tasks.push(`${Math.round(entry.startTime - seen.from)}:${Math.round(entry.duration)}`);
    } }).observe({ type: "longtask" });
    let last = performance.now();
    const tick = (now: number): void => { seen.frames.push(now - last); last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const cost = await costs(session);
  await act();
  const after = await costs(session);
  const spent = Object.fromEntries(Object.entries(after).map(([name, value]) => [name, Math.round((value - (cost[name] ?? 0)) * 1000)]));
  const frames = await page.evaluate(() => {
    const { seen } = globalThis as unknown as { seen: { frames: number[]; long: number; tasks: string[]; from: number } };
    const sorted = seen.frames.toSorted((a, b) => a - b);
    const at = (share: number): number => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
    return { p50: at(0.5), p95: at(0.95), long: Math.round(seen.long), seconds: Math.round((performance.now() - seen.from) / 100) / 10, tasks: seen.tasks.slice(0, 4).join(" ") };
  });
  return { ...frames, ...spent };
}

// costs gives what the page's thread has spent, in seconds (printed in milliseconds); less noisy than frames on a busy machine.
async function costs(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.filter(({ name }) => /^(Task|Script|Layout|RecalcStyle)Duration$/.test(name)).map(({ name, value }) => [name.replace("Duration", ""), value]));
}

mkdirSync(dist + "bare", { recursive: true });
await esbuild.build({ entryPoints: [fileURLToPath(new URL("bare.tsx", import.meta.url))], outdir: dist + "bare", bundle: true, minify: true, format: "esm", jsx: "automatic", define: { "process.env.NODE_ENV": '"production"' } });
writeFileSync(dist + "bare/index.html", `<!doctype html><link rel="stylesheet" href="bare.css"><style>html,body,#root{height:100%;margin:0}.box{width:220px;height:60px;border:1px solid;position:relative}.box[data-status=running]::after{content:"";position:absolute;inset:-3px;border:2px solid red;animation:b 1.1s infinite alternate}@keyframes b{from{opacity:.25}}</style><div id="root"></div><script type="module" src="bare.js"></script>`);

const stage = await raise({ motion: true });
const results: Record<string, Frames> = {};
try {
  let span = 0;
  for (const count of [200, 500]) {
    const { page } = await stage.open("");
    writeFileSync(dist + "bare/chain.json", chain(count));
    await page.setInputFiles('input[type="file"][accept*="json"]', dist + "bare/chain.json");
    await page.locator(".react-flow__node").nth(count - 1).waitFor({ state: "attached" });
    await page.waitForTimeout(500);
    results[`page ${count}`] = await measure(page, async () => {
      const began = Date.now();
      await page.locator(".composer textarea").fill("go");
      await page.keyboard.press("Enter");
      await page.waitForFunction((most) => document.querySelectorAll('.box[data-status="done"]').length === most, count, { timeout: 120_000 });
      span = Date.now() - began;
    });
    await page.context().close();
  }
  const { page } = await stage.open("bare/index.html?nodes=500");
  await page.locator(".react-flow__node").nth(499).waitFor({ state: "attached" });
  await page.waitForTimeout(500);
  results["bare 500"] = await measure(page, () => page.evaluate((ms) => (globalThis as unknown as { play(ms: number): Promise<void> }).play(ms), span));
} finally {
  await stage.close();
}
console.table(results);
