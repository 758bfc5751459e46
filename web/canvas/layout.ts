// A layered layout: columns by longest way from a start, rows ordered so that edges
// cross little. Used for canvases without places while the engine's own layout is
// not at hand, and good enough to read.

/** Box is a thing to place. */
export interface Box {
  id: string;
  width: number;
  height: number;
}

const gapX = 72;
const gapY = 36;

/** place gives the top left corner of every box. Edges may go in circles. */
export function place(boxes: Box[], edges: [string, string][]): Map<string, { x: number; y: number }> {
  const forward = withoutCycles(boxes.map((box) => box.id), edges);
  const layer = layers(boxes, forward);
  const columns: Box[][] = [];
  for (const box of boxes) (columns[layer.get(box.id) ?? 0] ??= []).push(box);
  order(columns, forward);
  const places = new Map<string, { x: number; y: number }>();
  const tallest = Math.max(0, ...columns.map(heightOf));
  let x = 0;
  for (const column of columns) {
    let y = (tallest - heightOf(column)) / 2;
    let widest = 0;
    for (const box of column ?? []) {
      places.set(box.id, { x, y });
      y += box.height + gapY;
      widest = Math.max(widest, box.width);
    }
    x += widest + gapX;
  }
  return places;
}

/** group collects items by a key, in order. */
export function group<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const list = groups.get(key);
    if (list) list.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

function heightOf(column: Box[] | undefined): number {
  return (column ?? []).reduce((sum, box) => sum + box.height + gapY, -gapY);
}

// withoutCycles drops edges that lead back to a box still open in a depth first walk.
function withoutCycles(ids: string[], edges: [string, string][]): [string, string][] {
  const next = group(edges, ([source]) => source);
  const done = new Set<string>();
  const open = new Set<string>();
  const kept: [string, string][] = [];
  for (const root of ids) {
    if (done.has(root)) continue;
    const stack = [{ id: root, at: 0 }];
    open.add(root);
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const edge = next.get(top.id)?.[top.at++];
      if (!edge) {
        open.delete(top.id);
        done.add(top.id);
        stack.pop();
        continue;
      }
      if (open.has(edge[1])) continue;
      kept.push(edge);
      if (done.has(edge[1])) continue;
      open.add(edge[1]);
      stack.push({ id: edge[1], at: 0 });
    }
  }
  return kept;
}

function layers(boxes: Box[], edges: [string, string][]): Map<string, number> {
  const layer = new Map(boxes.map((box) => [box.id, 0]));
  const missing = new Map(boxes.map((box) => [box.id, 0]));
  for (const [, target] of edges) missing.set(target, (missing.get(target) ?? 0) + 1);
  const next = group(edges, ([source]) => source);
  const ready = boxes.map((box) => box.id).filter((id) => missing.get(id) === 0);
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    for (const [source, target] of next.get(id) ?? []) {
      layer.set(target, Math.max(layer.get(target) ?? 0, (layer.get(source) ?? 0) + 1));
      const left = (missing.get(target) ?? 1) - 1;
      missing.set(target, left);
      if (left === 0) ready.push(target);
    }
  }
  return layer;
}

// order sorts each column by the middle of its neighbours, a few times there and back.
function order(columns: Box[][], edges: [string, string][]): void {
  const before = group(edges, ([, target]) => target);
  const after = group(edges, ([source]) => source);
  const row = new Map<string, number>();
  const number = (): void => columns.forEach((column) => column?.forEach((box, i) => row.set(box.id, i)));
  number();
  const middle = (ids: string[]): number => (ids.length === 0 ? -1 : ids.reduce((sum, id) => sum + (row.get(id) ?? 0), 0) / ids.length);
  for (let pass = 0; pass < 4; pass++) {
    for (const column of pass % 2 ? columns.toReversed() : columns) {
      const weight = new Map((column ?? []).map((box) => [box.id, pass % 2
        ? middle((after.get(box.id) ?? []).map((edge) => edge[1])) : middle((before.get(box.id) ?? []).map((edge) => edge[0]))]));
      column?.sort((a, b) => {
        const [x, y] = [weight.get(a.id) ?? -1, weight.get(b.id) ?? -1];
        return x < 0 || y < 0 ? 0 : x - y;
      });
    }
    number();
  }
}
