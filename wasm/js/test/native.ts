// The observations of the native engine, for comparison.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Turn } from "./conformance.ts";

const folder = fileURLToPath(new URL("../../../engine/testdata/cases/", import.meta.url));

/** Played is one case with the observation of the engine. */
export interface Played {
  name: string;
  body: string;
  /** The canvas, as the case has it. */
  canvas: string;
  /** The observation. */
  native: string;
}

interface Observed {
  runs: { tool_trace?: unknown[]; load_error?: string; error?: string; events?: { data: { outputs?: unknown } }[] }[];
}

/** names lists all cases. */
export const names = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .sort()
  .map((name) => name.slice(0, -".json".length));

/** Cases that cannot go through JavaScript unchanged, with the reason. */
export const unlike: Record<string, string> = {
  variables_paths_message: "its inputs have a key 0, which every JavaScript object puts first",
  variables_paths_text: "the same",
  message_number_forms: "its inputs are numbers that JavaScript writes otherwise: 1.0, more digits than a double has",
};

/** played plays every case natively. */
export function played(): Map<string, Played> {
  const cwd = fileURLToPath(new URL("./testdata/native/", import.meta.url));
  const lines = execFileSync("go", ["run", ".", folder], { cwd, encoding: "utf8", maxBuffer: 64 << 20 })
    .trimEnd()
    .split("\n");
  assert.equal(lines.length, 2 * names.length, "two lines for each case");
  return new Map(
    names.map((name, at) => [
      name,
      {
        name,
        body: readFileSync(`${folder}${name}.json`, "utf8"),
        native: lines[2 * at] as string,
        canvas: lines[2 * at + 1] as string,
      },
    ]),
  );
}

/** sameWhole compares the observation of a module with the native one. */
export function sameWhole(seen: string, { native }: Played): void {
  if (seen !== native) assert.deepEqual(inOrder(seen), inOrder(native));
}

/**
 * sameTurns compares the runs of a case through the package with the native ones, events byte for
 * byte.
 */
export function sameTurns(seen: Turn[], { native }: Played): void {
  const { runs } = JSON.parse(native) as Observed;
  for (const [n, turn] of seen.entries()) {
    const want = runs[n] as Observed["runs"][number];
    if (turn.lines) {
      assert.deepEqual(turn.lines.map((line) => JSON.parse(line) as unknown), want.events);
      const bytes = `"events":[${turn.lines.join(",")}]`;
      assert.ok(native.includes(bytes), "the events are the same, but not their bytes: " + bytes);
    }
    const canceled =
      want.error !== undefined &&
      turn.error === undefined &&
      turn.lines?.some((line) => line.includes("Task has been canceled"));
    assert.deepEqual([turn.load_error, turn.error], [want.load_error, canceled ? undefined : want.error]);
  }
}

// Concurrent tool calls of an agent may be logged in another order.
function inOrder(text: string): Observed {
  const seen = JSON.parse(text) as Observed;
  for (const run of seen.runs) run.tool_trace?.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return seen;
}
