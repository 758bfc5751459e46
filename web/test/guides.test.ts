// Guides: where a dragged box is pulled, and which lines show it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { snap, type Rect } from "../canvas/guides.ts";

const box = (x: number, y: number, width = 200, height = 60): Rect => ({ x, y, width, height });

test("a box is pulled to the edge that is nearest, and a line goes through both", () => {
  const { x, y, guides } = snap(box(104, 300), [box(100, 0), box(500, 0)], 6);
  assert.deepEqual([x, y], [-4, 0]);
  const left = guides.find(({ axis, at }) => axis === "x" && at === 100);
  assert.deepEqual(left, { axis: "x", at: 100, from: 0, to: 360 });
  assert.ok(guides.every(({ axis }) => axis === "x"));
});

test("middles are lines too, and both directions are pulled at once", () => {
  const { x, y, guides } = snap(box(48, 33, 100, 40), [box(0, 200), box(300, 20)], 6);
  assert.deepEqual([x, y], [2, -3]);
  assert.ok(guides.some(({ axis, at }) => axis === "x" && at === 100));
  assert.ok(guides.some(({ axis, at }) => axis === "y" && at === 50));
});

test("nothing in reach pulls, and the pull is never longer than the reach", () => {
  assert.deepEqual(snap(box(0, 0), [], 6), { x: 0, y: 0, guides: [] });
  assert.deepEqual(snap(box(1000, 1000), [box(0, 0)], 6), { x: 0, y: 0, guides: [] });
  for (let i = 0; i < 500; i++) {
    const random = (): number => Math.random() * 600;
    const others = Array.from({ length: 5 }, () => box(random(), random(), 20 + random(), 20 + random()));
    const moved = box(random(), random());
    const { x, y, guides } = snap(moved, others, 6);
    assert.ok(Math.abs(x) <= 6 && Math.abs(y) <= 6);
    const again = snap({ ...moved, x: moved.x + x, y: moved.y + y }, others, 6);
    assert.ok(Math.abs(again.x) < 1e-9 && Math.abs(again.y) < 1e-9, "a box that was pulled stays");
    assert.equal(again.guides.length, guides.length);
  }
});
