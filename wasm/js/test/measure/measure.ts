// Measures the package in headless Chromium against floors of the same run, and fails when a limit
// is exceeded. npm run measure

import { missing } from "../browser/stage.ts";
import { median, open } from "./gauge.ts";

if (missing) throw new Error(missing);
const bench = await open();
const rows: { what: string; is: string; limit: string; over: boolean }[] = [];
const row = (what: string, value: number, limit: number, unit: string, detail = ""): void => {
  rows.push({
    what,
    is: `${value.toFixed(2)} ${unit}${detail && ` (${detail})`}`,
    limit: `${limit} ${unit}`,
    over: !(value <= limit),
  });
};

try {
  const ready: number[] = [], hello: number[] = [], again: number[] = [];
  for (let i = 0; i < 20; i++) {
    hello.push(await bench.cold("hello"));
    ready.push(await bench.cold("ready"));
    again.push(await bench.cold("again"));
  }
  row(
    "ready, against hello world in Go",
    median(ready) / median(hello),
    2.5,
    "x",
    `${median(ready).toFixed(0)} and ${median(hello).toFixed(0)} ms, median of 20`,
  );

  row(
    "ready after a loss, against hello world in Go",
    median(again) / median(hello),
    1,
    "x",
    `${median(again).toFixed(0)} ms, median of 20`,
  );

  const count = 20_000;
  const events: number[] = [], posted: number[] = [];
  for (let i = 0; i < 15; i++) {
    posted.push(await bench.take("posted", count));
    events.push(await bench.take("events", count));
  }
  // Both use two threads; on a busy machine only the best
  // times show their cost.
  const each = (list: number[]): string => ((Math.min(...list) / count) * 1000).toFixed(2);
  row(
    "event to the page, against postMessage and JSON.parse",
    Math.min(...events) / Math.min(...posted),
    2,
    "x",
    `${each(events)} and ${each(posted)} us, best of 15, ${count} events`,
  );

  const blocked = [];
  for (let i = 0; i < 3; i++) blocked.push(await bench.take("blocked", 200));
  const best = blocked.reduce((a, b) => (a.longest <= b.longest ? a : b));
  row(
    "longest task of the page, 200 nodes stream",
    best.longest,
    50,
    "ms",
    `best of 3; ${best.events} events in ${best.took.toFixed(0)} ms`,
  );

  for (const busy of [false, true]) {
    const times: number[] = [];
    for (let i = 0; i < 20; i++) times.push(await bench.take("canceled", busy));
    row(
      `cancel while ${busy ? "nodes run in a circle" : "a model is silent"}`,
      median(times),
      50,
      "ms",
      `worst of 20: ${Math.max(...times).toFixed(1)}`,
    );
  }
  row("memory at rest", (await bench.take("memory")) / 2 ** 20, 16, "MB");
} finally {
  await bench.close();
}
for (const { what, is, limit, over } of rows)
  console.log(`${over ? "OVER" : "ok  "}  ${what.padEnd(56)} ${is.padEnd(52)} limit ${limit}`);
process.exitCode = rows.some(({ over }) => over) ? 1 : 0;
