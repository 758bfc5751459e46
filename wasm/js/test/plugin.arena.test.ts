// The memory of the Extism kernel is bounded with what its blocks cost outside of it: many small
// ones take time after a call, too, when they are collected.

import assert from "node:assert/strict";
import { test } from "node:test";
import { caps } from "../src/plugin/abi.ts";
import { Arena } from "../src/plugin/kernel/arena.ts";

test("small blocks count with their cost, as on a server", () => {
  const arena = new Arena();
  const fill = (length: number): number => {
    let blocks = 0;
    while (arena.alloc(length) > 0) blocks++;
    return blocks;
  };
  const small = fill(1);
  assert.equal(small, 932_068); // TestArenaCountsSmallBlocks of the Go host
  arena.reset();
  assert.equal(fill(1), small, "all is free after a reset");
  arena.reset();
  assert.equal(fill(1 << 20), 63);
  arena.reset();
  assert.notEqual(arena.alloc(caps.kernel), 0, "one block may fill the arena");
});

test("freed blocks do not count", () => {
  const arena = new Arena();
  for (let n = 0; n < 2_000_000; n++) {
    const at = arena.alloc(1);
    assert.notEqual(at, 0);
    arena.free(at);
  }
});
