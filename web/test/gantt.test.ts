// The rows of the picture of a run, with the cases of its profile.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Step } from "@easel/engine/state";
import { ganttOf, mostOpen, ticksOf } from "../run/gantt.ts";
import type { Profile, Span } from "../run/profile.ts";
import { stepsOf } from "../run/timeline.ts";

const cases = JSON.parse(
  readFileSync(new URL("../../host/internal/cli/profile/testdata/cases.json", import.meta.url), "utf8"),
) as { name: string; profile: Profile }[];

test("elements stand in their order below the container, and calls below what made them", () => {
  const found = cases.find((each) => each.name.startsWith("items at the same time"));
  assert.ok(found);
  const rows = ganttOf(found.profile);
  assert.deepEqual(rows.map((row) => `${"  ".repeat(row.depth)}${row.item ?? ""} ${row.kind} ${row.name}`), [
    " step begin",
    " step each",
    "  0 step item",
    "   step agent",
    "     model m",
    "     tool Helper",
    "       tool search",
    "  1 step item",
    "   step agent",
    "     model m",
    "  2 step item",
    "   step agent",
    " step message",
  ]);
  assert.deepEqual(rows.map((row) => rows[row.parent]?.name), [
    undefined, undefined, "each", "each", "agent", "agent", "Helper", "each", "each", "agent", "each", "each",
    undefined,
  ]);
  assert.deepEqual(rows.map((row) => row.children), [0, 6, 0, 2, 0, 1, 0, 0, 1, 0, 0, 0, 0]);
});

test("a body with many rows is closed at first", () => {
  const span = (node: string, parent: number): Span => ({
    node, run: 1, name: node, parent, from: 0, until: 1, calls: [], queues: [], on_path: false,
  });
  const steps = [span("Loop:L", -1), ...Array.from({ length: mostOpen + 1 }, () => span("LLM:A", 0))];
  const [loop] = ganttOf({ steps, wall: 1, critical: 1, work: 1, queued: 0, slots: 1, saved: 0, path: [] });
  assert.equal(loop?.open, false);
});

test("an axis has at most five times", () => {
  assert.deepEqual(ticksOf(0), [0]);
  assert.deepEqual(ticksOf(4), [0, 1, 2, 3, 4]);
  assert.deepEqual(ticksOf(6.5), [0, 2, 4, 6]);
  assert.deepEqual(ticksOf(0.013), [0, 0.005, 0.01]);
  for (let length = 1e-6; length < 1e6; length *= 1.37) {
    const ticks = ticksOf(length);
    assert.ok(ticks.length >= 2 && ticks.length <= 5 && (ticks.at(-1) ?? 0) <= length * 1.001, `${length}: ${ticks}`);
  }
});

test("the executions of elements that end in another order than they began have their own steps", () => {
  const step = (index: number, item: number, elapsed?: number): Step =>
    ({ index, node: "LLM:A", items: [item], elapsed }) as Step;
  const span = (item: number): Span => ({ node: "LLM:A", items: [item] }) as Span;
  const steps = [step(0, 0, 3), step(1, 1, 1), step(2, 2), step(3, 0, 1)];
  assert.deepEqual(stepsOf([span(1), span(0), span(0)], steps).map((each) => each?.index), [1, 0, 3]);
});
