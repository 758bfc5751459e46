// Differences as a builder reads them: one for each changed value, and calls of models by node.

import type { Difference } from "./differences.ts";
import { get, list, text, written } from "./value.ts";

/** Finding is a difference with the number of places where the same values differ. */
export interface Finding {
  difference: Difference;
  /** Further places. */
  echoes: number;
}

/**
 * findings joins differences of the same values: a changed answer is in the output of a node, in
 * the message, at the end of the run and in the history. The place closest to the cause is shown.
 */
export function findings(differences: readonly Difference[]): Finding[] {
  const byValue = new Map<string, Finding>();
  for (const difference of differences) {
    const { run, rule, expected, actual } = difference;
    const key = `${run} ${rule} ${written(expected)} → ${written(actual)}`;
    const known = byValue.get(key);
    if (!known) {
      byValue.set(key, { difference, echoes: 0 });
      continue;
    }
    known.echoes++;
    if (rank(difference) < rank(known.difference)) known.difference = difference;
  }
  const order = ({ difference }: Finding): number => difference.run * 10 + rank(difference);
  return [...byValue.values()].sort((a, b) => order(a) - order(b));
}

// rank returns the distance of a place from the cause.
function rank({ part, what, path }: Difference): number {
  switch (part) {
    case "runs": case "load": return 0;
    case "call": return path === "" ? 1 : 2;
    case "tool": case "trace": return 3;
    case "event": return what === "node_finished" && path.startsWith("outputs") ? 4 : what === "message" ? 5 : 6;
    case "error": case "memory": case "debug": return 7;
    case "state": return path.startsWith("outputs") ? 8 : 9;
  }
}

/** CallCount is the number of model calls of a node. */
export interface CallCount {
  /** Id of the node in runs. */
  node: string;
  expected: number;
  actual: number;
}

/**
 * callCounts counts the calls of models by node, where they differ; undefined when the node of a
 * call is unknown.
 */
export function callCounts(expected: readonly unknown[], actual: readonly unknown[]): CallCount[] | undefined {
  const [before, now] = [expected, actual].map((runs) =>
    runs.flatMap((run) => list(get(run, "llm_calls"))).map((call) => text(get(call, "node"))));
  if (!before || !now || [...before, ...now].includes("")) return undefined;
  const nodes = [...new Set([...before, ...now])];
  const count = (all: string[], node: string): number => all.filter((each) => each === node).length;
  return nodes
    .map((node) => ({ node, expected: count(before, node), actual: count(now, node) }))
    .filter((each) => each.expected !== each.actual);
}
