// Values of cases as `easel test` reads them: null and absent are the same, and a value has one
// text.

import { isObject } from "../../canvas/dsl.ts";

/** get returns a member or an element; undefined if it is null or absent. */
export function get(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === "number" ? (value[key] ?? undefined) : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? (value[key] ?? undefined) : undefined;
}

/** has reports whether an object has a member, also one that is null. */
export function has(value: unknown, key: string): boolean {
  return isObject(value) && Object.hasOwn(value, key);
}

/** list returns the elements of a list; [] for another value. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** text returns a string; "" for any other value. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** isEmpty reports whether a value counts as false: null, false, 0, "", [] and {}. */
export function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return !value;
}

/** written returns a value as it is written inside a text. */
export function written(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? json(value) : String(value);
}

// json writes a value with a space after commas and colons.
function json(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(json).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}: ${json(member)}`).join(", ")}}`;
}

/** equal reports whether two values are the same in every member. */
export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((each, i) => equal(each, b[i]));
  if (!isObject(a)) return a === b;
  if (!isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length
    && names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]));
}

/** without returns an object without some members. */
export function without(value: unknown, ...names: string[]): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** bare returns an object without the members that the engine hides, which begin with _. */
export function bare(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !name.startsWith("_")));
}
