// The difference of two documents as a patch.

import { isObject } from "./dsl.ts";
import type { Change, Path } from "./patch.ts";
import { same } from "./patch.ts";

/** diff returns the patch that changes the first document to the second. */
export function diff(before: unknown, after: unknown): Change[] {
  const changes: Change[] = [];
  compare([], before, after, changes);
  return changes;
}

function compare(path: Path, before: unknown, after: unknown, changes: Change[]): void {
  if (before === after) return;
  if (isObject(before) && isObject(after) && sameOrder(Object.keys(before), Object.keys(after))) {
    members(path, before, after, changes);
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const [left, right] = [byId(before), byId(after)];
    if (left && right && sameOrder(Object.keys(left), Object.keys(right))) {
      members(path, left, right, changes);
      return;
    }
  }
  if (!same(before, after)) changes.push({ path, before, after });
}

// members compares named values: removals from the last to the first, then changes, then additions
// in order, so that each position is valid when its change applies.
function members(path: Path, before: Record<string, unknown>, after: Record<string, unknown>, changes: Change[]): void {
  const old = Object.keys(before);
  for (const [at, key] of [...old.entries()].reverse()) {
    if (!Object.hasOwn(after, key)) changes.push({ path: [...path, key], before: before[key], at });
  }
  for (const key of old) {
    if (before[key] === after[key] || !Object.hasOwn(after, key)) continue;
    compare([...path, key], before[key], after[key], changes);
  }
  for (const [at, key] of Object.keys(after).entries()) {
    if (!Object.hasOwn(before, key)) changes.push({ path: [...path, key], after: after[key], at });
  }
}

// sameOrder reports whether the names that both lists have stand in the same order.
function sameOrder(before: string[], after: string[]): boolean {
  if (before.length === after.length && before.every((key, i) => key === after[i])) return true;
  const left = new Set(before);
  const right = new Set(after);
  const common = after.filter((key) => left.has(key));
  return before.filter((key) => right.has(key)).every((key, i) => key === common[i]);
}

// byId returns a list whose elements all have a unique id as a record by id.
function byId(list: unknown[]): Record<string, unknown> | undefined {
  const ids = new Map<string, unknown>();
  for (const each of list) {
    if (!isObject(each) || typeof each["id"] !== "string" || ids.has(each["id"]) || /^\d+$/.test(each["id"]))
      return undefined;
    ids.set(each["id"], each);
  }
  return ids.size > 0 ? Object.assign(Object.create(null) as object, Object.fromEntries(ids)) : undefined;
}
