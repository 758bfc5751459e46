// Changes of a document. A patch is a list of changes, each of one value at one path with the value
// before and after: so a patch can be undone, shown as a difference, sent to a host and refused if
// the document has changed. `easel patch` and `easel diff` read and write the same format; both
// sides are tested against test/patches.json.

import { isObject } from "./dsl.ts";

/** Step is a member name, an index, or in a list the `id` of an element. */
export type Step = string | number;

/** Path leads from the document to a value. */
export type Path = readonly Step[];

/** Change replaces, adds (without `before`) or removes (without `after`) one value. */
export interface Change {
  path: Path;
  before?: unknown;
  after?: unknown;
  /** Place of an added or removed value among its siblings; absent: the end. */
  at?: number;
}

/** PatchError names the change that does not match the document. */
export class PatchError extends Error {}

/** apply returns the document after the changes; other parts stay the same objects. */
export function apply<T>(document: T, changes: readonly Change[]): T {
  let value: unknown = document;
  for (const change of changes) value = changed(value, change, 0);
  return value as T;
}

/** invert returns the inverse of a patch. */
export function invert(changes: readonly Change[]): Change[] {
  return changes.toReversed().map(({ path, at, ...values }) => ({
    path,
    ...("after" in values ? { before: values.after } : {}),
    ...("before" in values ? { after: values.before } : {}),
    ...(at === undefined ? {} : { at }),
  }));
}

/** find returns the value at a path, or undefined. */
export function find(document: unknown, path: Path): unknown {
  let value = document;
  for (const step of path) {
    const key = keyOf(value, step);
    if (key === undefined) return undefined;
    value = (value as Record<Step, unknown>)[key];
  }
  return value;
}

/** setting returns the change that replaces or adds the value at a path. */
export function setting(document: unknown, path: Path, after: unknown): Change {
  const before = find(document, path);
  return before === undefined ? { path, after } : { path, before, after };
}

/** removing returns the change that removes the value at a path. */
export function removing(document: unknown, path: Path): Change {
  const parent = find(document, path.slice(0, -1));
  const last = path.at(-1) as Step;
  const key = keyOf(parent, last);
  const before = find(document, path);
  if (typeof key !== "number") return { path, before, at: Object.keys(parent as object).indexOf(String(last)) };
  // Of several elements with one id, each is named by its index.
  const twice =
    typeof last === "string" &&
    (parent as unknown[]).filter((each) => isObject(each) && each["id"] === last).length > 1;
  return { path: twice ? [...path.slice(0, -1), key] : path, before, at: key };
}

/** same reports whether two values are equal, the order of members included. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((each, i) => same(each, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  const others = Object.keys(b);
  return keys.length === others.length && keys.every((key, i) => key === others[i] && same(a[key], b[key]));
}

// keyOf resolves a step against an object or a list; undefined when there is no such value.
function keyOf(value: unknown, step: Step): Step | undefined {
  if (Array.isArray(value)) {
    const index =
      typeof step === "number" ? step : value.findLastIndex((each) => isObject(each) && each["id"] === step);
    return Number.isInteger(index) && index >= 0 && index < value.length ? index : undefined;
  }
  return isObject(value) && typeof step === "string" && Object.hasOwn(value, step) ? step : undefined;
}

function changed(value: unknown, change: Change, depth: number): unknown {
  const step = change.path[depth];
  if (step === undefined) throw refusal(change, "is the document itself");
  if (!Array.isArray(value) && !isObject(value)) throw refusal(change, "leads into a value without members");
  const key = keyOf(value, step);
  if (depth < change.path.length - 1) {
    if (key === undefined) throw refusal(change, `leads nowhere: there is no ${JSON.stringify(step)}`);
    return placed(value, key, changed((value as Record<Step, unknown>)[key], change, depth + 1));
  }
  const adds = !("before" in change);
  if (adds && (key === undefined || (Array.isArray(value) && typeof step === "number")))
    return inserted(value, step, change);
  if (adds) throw refusal(change, "is there already");
  if (key === undefined) throw refusal(change, "is not there");
  if (!same((value as Record<Step, unknown>)[key], change.before)) throw refusal(change, "has another value by now");
  return "after" in change ? placed(value, key, change.after) : without(value, key);
}

function inserted(value: unknown[] | Record<string, unknown>, step: Step, change: Change): unknown {
  if (Array.isArray(value)) {
    const at = typeof step === "number" ? step : (change.at ?? value.length);
    if (!Number.isInteger(at) || at < 0 || at > value.length) throw refusal(change, `adds at ${at} of ${value.length}`);
    if (typeof step === "string" && (!isObject(change.after) || change.after["id"] !== step)) {
      throw refusal(change, "adds an element with another id");
    }
    return value.toSpliced(at, 0, change.after);
  }
  if (typeof step !== "string") throw refusal(change, "names a member by a number");
  const entries = Object.entries(value);
  return record(value, entries.toSpliced(change.at ?? entries.length, 0, [step, change.after]));
}

function placed(value: unknown[] | Record<string, unknown>, key: Step, next: unknown): unknown {
  if (Array.isArray(value)) return value.with(key as number, next);
  return record(
    value,
    Object.entries(value).map((entry) => (entry[0] === key ? [key, next] : entry)),
  );
}

function without(value: unknown[] | Record<string, unknown>, key: Step): unknown {
  if (Array.isArray(value)) return value.toSpliced(key as number, 1);
  return record(
    value,
    Object.entries(value).filter(([name]) => name !== key),
  );
}

// record makes an object like another: `components` has no inherited members.
function record(like: object, entries: [string, unknown][]): Record<string, unknown> {
  const made = Object.fromEntries(entries);
  return Object.getPrototypeOf(like) === null ? Object.assign(Object.create(null) as object, made) : made;
}

function refusal({ path }: Change, reason: string): PatchError {
  return new PatchError(`change of ${path.join("/").slice(0, 200)}: ${reason}`);
}
