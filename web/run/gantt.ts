// The rows of a run's Gantt chart: executions and their calls as a tree, ordered by element where
// elements run concurrently and by start otherwise.

import type { Profile, Span } from "./profile.ts";

/** Row is one bar. Times are seconds from the start of the run. */
export interface Row {
  /** Index among all rows. */
  index: number;
  /** Row of the container or call around it, or -1. */
  parent: number;
  depth: number;
  /** Rows directly below it. */
  children: number;
  /** Whether those are shown at first. */
  open: boolean;
  kind: "step" | "model" | "tool";
  /** Index in Profile.steps: of itself, or of the step that made the call. */
  step: number;
  node: string;
  name: string;
  /** Index of its element, on the first row of an element that runs concurrently with others. */
  item?: number;
  from: number;
  until: number;
  calls: [from: number, until: number][];
  queues: [from: number, until: number][];
  onPath: boolean;
}

/** mostOpen is the number of rows in a body above which it is closed at first. */
export const mostOpen = 40;

/** ganttOf returns the rows of a profile. */
export function ganttOf(profile: Profile): Row[] {
  const inner = new Map<number, number[]>();
  profile.steps.forEach((span, i) => inner.set(span.parent, [...(inner.get(span.parent) ?? []), i]));
  for (const list of inner.values()) list.sort((a, b) => compare(profile.steps[a], profile.steps[b]));
  const rows: Row[] = [];
  const add = (row: Omit<Row, "index" | "children" | "open">): number => {
    const parent = rows[row.parent];
    if (parent) parent.children++;
    return rows.push({ ...row, index: rows.length, children: 0, open: true }) - 1;
  };
  const inside = (container: number, parent: number, depth: number): void => {
    let element: number | undefined;
    for (const i of inner.get(container) ?? []) {
      const span = profile.steps[i] as Span;
      const item = span.items?.at(-1);
      const at = add({
        parent, depth, kind: "step", step: i, node: span.node, name: span.name || span.node,
        ...(item !== undefined && item !== element ? { item } : {}), from: span.from, until: span.until,
        calls: span.calls.filter((call) => call.depth === 0).map((call) => [call.from, call.until]),
        queues: span.queues, onPath: span.on_path,
      });
      element = item;
      addCalls(span, i, at, depth, add);
      inside(i, at, depth + 1);
    }
  };
  inside(-1, -1, 0);
  for (const row of rows) row.open = row.children <= mostOpen;
  return rows;
}

function addCalls(
  span: Span, step: number, at: number, depth: number, add: (row: Omit<Row, "index" | "children" | "open">) => number,
): void {
  const around = [at]; // the rows of the calls in which the next one may lie
  for (const call of span.calls) {
    around.length = call.depth + 1;
    around.push(add({
      parent: around[call.depth] ?? at, depth: depth + call.depth + 1, kind: call.kind, step, node: span.node,
      name: call.name, from: call.from, until: call.until, calls: [], queues: [], onPath: false,
    }));
  }
}

// compare orders the executions of one body: by element, then by their starts.
function compare(a: Span | undefined, b: Span | undefined): number {
  const [x, y] = [a?.items ?? [], b?.items ?? []];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const order = (x[i] ?? 0) - (y[i] ?? 0);
    if (order !== 0) return order;
  }
  return x.length - y.length || (a?.from ?? 0) - (b?.from ?? 0);
}

/** ticksOf returns the times that an axis names, at most five: multiples of 1, 2 or 5. */
export function ticksOf(length: number): number[] {
  if (!(length > 0)) return [0];
  const power = 10 ** Math.floor(Math.log10(length / 4));
  const step = ([1, 2, 5, 10].find((each) => each * power * 4 >= length * 0.999) ?? 10) * power;
  return Array.from({ length: Math.floor(length / step + 0.001) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}
