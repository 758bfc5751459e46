// The performance limits of the page: npm run measure. Each line is a measurement and
// its limit; exceeding one is an error. Limits of wall time are multiplied by the factor by which
// equal work slows down on this machine in the same run, which is 1 on a quiet
// machine.

import { missing, raise } from "../browser/stage.ts";
import { cold } from "./cold.ts";
import { drag, keys, opening } from "./edits.ts";
import { bare, page } from "./frames.ts";
import { stretch } from "./work.ts";

const why = missing();
if (why) throw new Error(why);

const lines: { what: string; measured: number; limit: number; unit: string; stretched: number; holds: boolean }[] = [];
const note = (what: string, measured: number, limit: number, unit: string, by = 1): void => {
  lines.push({
    what,
    measured: Math.round(measured * 100) / 100,
    limit,
    unit,
    stretched: Math.round(by * 10) / 10,
    holds: measured <= limit * by,
  });
};
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

const stage = await raise({ motion: true });
try {
  const { page: idle } = await stage.open("icon.svg");
  const usual = await stretch(idle);
  await idle.context().close();

  const opened = [];
  for (let i = 0; i < 11; i++) opened.push(await cold(stage));
  note("first node drawn, cold, median of 11", median(opened.map(({ node }) => node)), 1000, "ms", usual);
  note("first event of a run, cold, median of 11", median(opened.map(({ event }) => event)), 1500, "ms", usual);

  const small = [await page(stage, 200), await page(stage, 200), await page(stage, 200)];
  note(
    "200 nodes, frame while a run animates, p95, best of 3",
    Math.min(...small.map(({ p95 }) => p95)),
    34,
    "ms",
    usual,
  );
  note(
    "200 nodes, longest task of the page's thread, best of 3",
    Math.min(...small.map(({ long }) => long)),
    50,
    "ms",
    usual,
  );

  const large = await page(stage, 500);
  note("500 nodes, frame while a run animates, p95", large.p95, 34, "ms", usual);
  const floor = await bare(stage, 500, large.seconds);
  note("500 nodes, work of the page's thread, of a bare React Flow page", large.busy / floor.busy, 1.5, "x");

  const moved = { 500: await drag(stage, 500), 2000: await drag(stage, 2000) };
  note("500 nodes, frame while a card is dragged, p95", moved[500].p95, 34, "ms", usual);
  note("2,000 nodes, frame while a card is dragged, p95", moved[2000].p95, 50, "ms", usual);
  note("500 nodes, work of the page's thread for a key in a prompt", await keys(stage, 500), 16, "ms");
  const files = [];
  for (let i = 0; i < 5; i++) files.push(await opening(stage, 150_000));
  note("a canvas of 150 KB until its cards are drawn, median of 5", median(files.map((f) => f.took)), 500, "ms", usual);
  note("a canvas of 150 KB, work of the page's thread, median of 5", median(files.map((f) => f.busy)), 500, "ms");
  console.table({ "drag 500": moved[500], "drag 2000": moved[2000] });
  console.table({ "page 200": small[0], "page 500": large, "bare 500": floor });
} finally {
  await stage.close();
}
console.table(lines);
if (lines.some(({ holds }) => !holds)) process.exitCode = 1;
