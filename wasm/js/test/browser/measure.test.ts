// The bounds of `npm run measure`, in a short form that a busy machine does not shake: bests and medians, of few.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { median, open, type Bench } from "../measure/gauge.ts";
import { missing } from "./stage.ts";

describe("measured in Chromium", { skip: missing, timeout: 1_200_000 }, () => {
  let bench: Bench;
  before(async () => { bench = await open(); });
  after(() => bench?.close());

  const times = async (count: number, take: () => Promise<number>): Promise<number[]> => {
    const list: number[] = [];
    for (let i = 0; i < count; i++) list.push(await take());
    return list;
  };

  test("the module holds less than 16 MB at rest", async () => {
    assert.ok((await bench.take("memory")) < 16 << 20);
  });

  test("a cancel takes effect within 50 ms", async () => {
    for (const busy of [false, true]) {
      const took = await times(11, () => bench.take("canceled", busy));
      assert.ok(median(took) < 50, `took ${took.map(Math.round).join(", ")} ms`);
    }
  });

  test("a run of 200 nodes leaves the page free", async () => {
    const longest = await times(3, async () => (await bench.take("blocked", 200)).longest);
    assert.ok(Math.min(...longest) < 50, `longest tasks ${longest.map(Math.round).join(", ")} ms`);
  });

  test("an event costs little more than its bytes do", async () => {
    const events = await times(6, () => bench.take("events", 10_000));
    const posted = await times(6, () => bench.take("posted", 10_000));
    const ratio = Math.min(...events) / Math.min(...posted);
    assert.ok(ratio < 4, `${ratio.toFixed(2)} times postMessage and JSON.parse`);
  });
});
