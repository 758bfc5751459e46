// Separates the page's work from other load: processor time, which excludes
// other processes, and the slowdown on a busy machine.

import { readdirSync, readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";

const perSecond = 100; // ticks of /proc, the same on every Linux

/**
 * worked returns the processor time of all main threads of pages so far, milliseconds. Linux only.
 */
export async function worked(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = (await session.send("SystemInfo.getProcessInfo")) as {
    processInfo: { type: string; id: number }[];
  };
  await session.detach();
  let ticks = 0;
  for (const { type, id } of processInfo) {
    if (type !== "renderer") continue;
    for (const thread of readdirSync(`/proc/${id}/task`)) {
      const stat = readFileSync(`/proc/${id}/task/${thread}/stat`, "utf8");
      if (!stat.includes("(CrRendererMain)") && !stat.includes("(chromium)") && thread !== String(id)) continue;
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      ticks += Number(fields[11]) + Number(fields[12]);
    }
  }
  return (ticks / perSecond) * 1000;
}

/**
 * stretch returns the factor by which the slowest of twenty equal tasks of about 5 ms is slowed
 * down on this machine now; 1 on a quiet one.
 */
export async function stretch(page: Page): Promise<number> {
  const took = await page.evaluate(async () => {
    const spin = (rounds: number): number => {
      const from = performance.now();
      let x = 1;
      for (let i = 0; i < rounds; i++) x = (x * 16807) % 2147483647;
      return x === 0 ? 0 : performance.now() - from;
    };
    const rounds = Math.round((5 * 2e6) / Math.min(spin(2e6), spin(2e6), spin(2e6)));
    const times: number[] = [];
    for (let i = 0; i < 200; i++) {
      times.push(spin(rounds));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return times.toSorted((a, b) => a - b);
  });
  const least = took[0] ?? 1;
  return Math.max(1, (took[Math.floor(took.length * 0.95)] ?? least) / least);
}
