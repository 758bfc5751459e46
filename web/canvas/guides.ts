// Guides while boxes are dragged: edges and middles of a box that are nearly in line with those of
// others pull it there.

/** Rect is the place of a box. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Guide is a line through boxes: vertical at an x, or horizontal at a y. */
export interface Guide {
  axis: "x" | "y";
  at: number;
  from: number;
  to: number;
}

/** snap returns how far a box is pulled, and the lines that show why. */
export function snap(moved: Rect, others: readonly Rect[], reach: number): { x: number; y: number; guides: Guide[] } {
  const [x, y] = [pull("x", moved, others, reach), pull("y", moved, others, reach)];
  const there = { ...moved, x: moved.x + (x ?? 0), y: moved.y + (y ?? 0) };
  const guides = [x === undefined ? [] : lines("x", there, others), y === undefined ? [] : lines("y", there, others)];
  return { x: x ?? 0, y: y ?? 0, guides: guides.flat() };
}

const stops = (axis: "x" | "y", rect: Rect): number[] => {
  const length = axis === "x" ? rect.width : rect.height;
  return [rect[axis], rect[axis] + length / 2, rect[axis] + length];
};

// pull is the shortest way to a line; of equal ones that of the nearest box. Undefined if none is
// in reach.
function pull(axis: "x" | "y", moved: Rect, others: readonly Rect[], reach: number): number | undefined {
  let best: number | undefined;
  let nearest = Number.POSITIVE_INFINITY;
  for (const other of others) {
    const away = Math.hypot(other.x - moved.x, other.y - moved.y);
    for (const to of stops(axis, other)) {
      for (const from of stops(axis, moved)) {
        const way = to - from;
        if (Math.abs(way) > reach) continue;
        const longer = best === undefined ? -1 : Math.abs(way) - Math.abs(best);
        if (longer < 0 || (longer === 0 && away < nearest)) [best, nearest] = [way, away];
      }
    }
  }
  return best;
}

// lines are those on which a box and others stand.
function lines(axis: "x" | "y", there: Rect, others: readonly Rect[]): Guide[] {
  const across = axis === "x" ? "y" : "x";
  return stops(axis, there).flatMap((at) => {
    const on = others.filter((other) => stops(axis, other).some((stop) => Math.abs(stop - at) < 0.5));
    if (on.length === 0) return [];
    const ends = [there, ...on].flatMap((rect) => [stops(across, rect)[0] ?? 0, stops(across, rect)[2] ?? 0]);
    return [{ axis, at, from: Math.min(...ends), to: Math.max(...ends) }];
  });
}
