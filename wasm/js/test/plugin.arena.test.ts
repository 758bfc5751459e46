// The memory of the Extism kernel is bounded with what its blocks cost outside of it: many small
// ones take time after a call, too, when they are collected.

import assert from "node:assert/strict";
import { test } from "node:test";
import { caps } from "../src/plugin/abi.ts";
import { Arena } from "../src/plugin/kernel/arena.ts";
import { StderrLines } from "../src/plugin/kernel/command.ts";
import { extism } from "../src/plugin/kernel/extism.ts";
import type { Guest } from "../src/plugin/kernel/guest.ts";

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

test("a negative length is outside, and nothing of a former call is read", () => {
  const arena = new Arena();
  const at = arena.alloc(64);
  arena.span(at, 64)!.fill(7);
  arena.reset();
  for (const length of [-1, -8, -(2 ** 40)]) assert.equal(arena.span(8, length), undefined, String(length));
  arena.alloc(8);
  assert.equal(arena.span(8, -1), undefined);
  assert.deepEqual([...arena.block(8)], [0, 0, 0, 0, 0, 0, 0, 0]);
});

test("variables count with their cost, by names of any bytes, as on a server", () => {
  const guest = { arena: new Arena(), vars: new Map<string, Uint8Array>() };
  const { alloc, store_u64: store, var_set: set } = extism(guest as unknown as Guest) as Record<
    string,
    (...args: bigint[]) => bigint
  >;
  const name = alloc!(8n);
  const fill = (): void => {
    for (let n = 1n; n < 20_000n; n++) {
      store!(name, n << 48n | 0xffn);
      set!(name, name);
    }
  };
  assert.throws(fill, /variables of more than/);
  assert.equal(guest.vars.size, 9_363); // TestVariablesCountWithTheirCost of the Go host
});

test("lines of stderr are those of a server", () => {
  const lines: string[] = [];
  const stderr = new StderrLines((line) => lines.push(line));
  stderr.write(new TextEncoder().encode("\ufeffa \t\r\n\u00a0\n \r\nb\v\n"));
  assert.deepEqual(lines, ["<U+FEFF>a", "\u00a0", "b<U+000B>"]); // TestLinesOfStderr
});
