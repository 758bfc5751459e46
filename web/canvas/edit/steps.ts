// Steps of undo: consecutive typing in one field is one step, each other change is another.

import { isObject } from "../dsl.ts";
import { same } from "../patch.ts";

/**
 * typedAt returns the place in a setting where a person types: the one value that differs. It is
 * undefined when parts were added, removed, renamed or moved.
 */
export function typedAt(before: unknown, after: unknown): string | undefined {
  const [old, now] = [leavesOf(before), leavesOf(after)];
  const isNew = [...old.values()].every((value) => value === undefined || value === "" || isEmpty(value));
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((path) => !same(old.get(path), now.get(path)));
  if (isNew && now.size === 1) return [...now.keys()][0];
  const [only] = changed;
  return changed.length === 1 && only !== undefined && old.has(only) && now.has(only) ? only : undefined;
}

// leavesOf returns the texts, numbers and empty parts of a value by their places.
function leavesOf(value: unknown, path = "", leaves = new Map<string, unknown>()): Map<string, unknown> {
  if ((!Array.isArray(value) && !isObject(value)) || isEmpty(value)) return leaves.set(path, value);
  for (const [key, each] of Object.entries(value)) leavesOf(each, `${path}/${key}`, leaves);
  return leaves;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}
