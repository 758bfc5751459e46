// Starts the subjects of measurements: the module, a hello-world program of the same compiler, and
// a page in Chromium.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { raise } from "../browser/stage.ts";
import { build } from "../module.ts";
import type { Gauge } from "./page.ts";

declare const gauge: Gauge;

/** Bench is a page to measure in. */
export interface Bench {
  page: Page;
  /** take calls a measurement of page.ts. */
  take<Name extends keyof Gauge>(
    name: Name,
    ...given: Parameters<Gauge[Name]>
  ): Promise<Awaited<ReturnType<Gauge[Name]>>>;
  /** cold measures a time in a new page, which has not compiled anything before. */
  cold(name: "ready" | "hello" | "again"): Promise<number>;
  close(): Promise<void>;
}

/** open builds everything and opens the page. */
export async function open(): Promise<Bench> {
  const built = build("conformance");
  const hello = built.wasm.replace("engine.wasm", "hello.wasm");
  const cwd = fileURLToPath(new URL("../testdata/hello/", import.meta.url));
  execFileSync("go", ["build", "-trimpath", "-ldflags=-s -w", "-o", hello, "."], {
    cwd,
    env: { ...process.env, GOOS: "js", GOARCH: "wasm" },
    stdio: "inherit",
  });
  const stage = await raise(
    ["../measure/page.ts", "../measure/hello.worker.ts", "../measure/post.worker.ts", "../../src/worker.browser.ts"],
    {
      "engine.wasm": built.wasm,
      "hello.wasm": hello,
      "wasm_exec.js": fileURLToPath(built.runtime),
    },
  );
  const { page, faults } = await stage.open();
  return {
    page,
    async cold(name) {
      const { page: fresh, done } = await stage.open();
      await fresh.waitForTimeout(100); // loading the page itself does not count
      const took = await fresh.evaluate((name) => gauge[name](), name);
      await done();
      return took;
    },
    take: (name, ...given) =>
      page.evaluate(
        ([name, given]) => (gauge[name as keyof Gauge] as (...given: unknown[]) => unknown)(...(given as unknown[])),
        [name, given],
      ) as never,
    async close() {
      await stage.close();
      built.remove();
      if (faults.length > 0) throw new Error("the page complained: " + faults.join("; "));
    },
  };
}

/** median of some numbers. */
export function median(list: number[]): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] as number;
}
