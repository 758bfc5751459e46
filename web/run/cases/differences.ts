// The rules by which a value meets an expectation, which may contain matchers. The twin of
// engine/enginetest/differences.go.

import { isObject } from "../../canvas/dsl.ts";
import { equal, get, has, isEmpty, list, without, written } from "./value.ts";

/** Part is the part of a run with a difference. */
export type Part =
  | "runs" | "load" | "event" | "error" | "call" | "tool" | "trace" | "memory" | "state" | "debug";

/** Rule is the kind of expectation that was not met. */
export type Rule =
  | "same" | "something" | "contain" | "lack" | "start" | "json" | "no_error" | "an_error" | "missing" | "extra"
  | "count" | "roles";

/** Place is where something is compared. */
export interface Place {
  /** Index of the run. */
  run: number;
  part: Part;
  /** Id of the node in runs, if any. */
  node?: string;
  /** Name of the event, or number of the call from 1. */
  what?: string;
  /** Path to the value, such as `outputs.content`. */
  path: string;
}

/** Difference is one mismatch. Absent values are undefined. */
export interface Difference extends Place {
  rule: Rule;
  expected?: unknown;
  actual?: unknown;
}

/** at returns the place of a member or an element. */
export function at(place: Place, member: string | number): Place {
  if (typeof member === "number") return { ...place, path: `${place.path}[${member}]` };
  return { ...place, path: place.path ? `${place.path}.${member}` : member };
}

const matcherKeys = ["$ignore", "$present", "$contains", "$starts", "$lacks", "$json"];

/** isMatcher reports whether an expectation matches several values. */
export function isMatcher(value: unknown): boolean {
  return isObject(value) && !isEmpty(value) && Object.keys(value).every((name) => matcherKeys.includes(name));
}

/** freeOutputs are outputs by component that may be present without being expected. */
const freeOutputs: Record<string, string[]> = {
  Invoke: ["status", "status_code", "headers"],
  IterationItem: ["result"],
  Retrieval: ["content"],
};

/** requester is the component of web requests in cases: the one whose status is free. */
export const requester = Object.keys(freeOutputs).find((name) => freeOutputs[name]?.includes("status_code")) ?? "";

/** Differences collects mismatches. */
export class Differences {
  readonly all: Difference[] = [];

  add(place: Place, rule: Rule, expected?: unknown, actual?: unknown): void {
    this.all.push({ ...place, rule, expected, actual });
  }

  /** value compares a value with an expectation. */
  value(want: unknown, seen: unknown, place: Place): void {
    if (isMatcher(want)) return this.match(want, seen, place);
    if (isObject(want)) return this.#object(want, seen, place);
    if (Array.isArray(want)) {
      if (!Array.isArray(seen) || want.length !== seen.length) return this.add(place, "same", want, seen);
      want.forEach((each, i) => this.value(each, seen[i], at(place, i)));
    } else if (!equal(want ?? null, seen ?? null)) {
      this.add(place, "same", want, seen);
    }
  }

  /** match compares a value with a matcher. Words are found without regard to case. */
  match(matcher: unknown, seen: unknown, place: Place): void {
    if (!isEmpty(get(matcher, "$ignore"))) return;
    const said = written(seen);
    const lower = said.toLowerCase();
    if (!isEmpty(get(matcher, "$present")) && said === "") this.add(place, "something", undefined, seen);
    for (const word of list(get(matcher, "$contains")).map(written)) {
      if (!lower.includes(word.toLowerCase())) this.add(place, "contain", word, seen);
    }
    for (const word of list(get(matcher, "$lacks")).map(written)) {
      if (lower.includes(word.toLowerCase())) this.add(place, "lack", word, seen);
    }
    const start = written(get(matcher, "$starts"));
    if (has(matcher, "$starts") && !said.startsWith(start)) this.add(place, "start", start, seen);
    if (has(matcher, "$json")) this.#json(get(matcher, "$json"), seen, place);
  }

  /** outputs compares the outputs of a component of the given kind. */
  outputs(want: unknown, seen: unknown, kind: string, place: Place): void {
    if (isMatcher(want)) return this.match(want, seen, place);
    if (typeof want === "string" || typeof seen === "string") return this.value(want, seen, place);
    const free = Object.hasOwn(freeOutputs, kind) ? (freeOutputs[kind] ?? []) : [];
    const unexpected = free.filter((name) => !has(want, name));
    this.value(want ?? {}, without(seen ?? {}, ...unexpected), place);
  }

  /**
   * failure compares an error: without an expectation it must be absent, otherwise it must contain
   * the named words.
   */
  failure(want: unknown, seen: unknown, place: Place): void {
    if (get(want, "$ignore") === true) return;
    if (isEmpty(want)) {
      if (!isEmpty(seen)) this.add(place, "no_error", undefined, seen);
    } else if (isEmpty(seen)) {
      this.add(place, "an_error", want, undefined);
    } else {
      this.match(want, seen, place);
    }
  }

  #json(want: unknown, seen: unknown, place: Place): void {
    if (typeof seen !== "string") return this.value(want, seen, place);
    let parsed: unknown;
    try {
      parsed = JSON.parse(seen);
    } catch {
      return this.add(place, "json", want, seen);
    }
    this.value(want, parsed, place);
  }

  // object compares members: null and absent are equal, and members that start with _ are ignored
  // unless expected.
  #object(want: Record<string, unknown>, seen: unknown, place: Place): void {
    if ((seen === null || seen === undefined) && isEmpty(want)) return;
    if (!isObject(seen)) return this.add(place, "same", want, seen);
    for (const [name, each] of Object.entries(want)) this.value(each, get(seen, name), at(place, name));
    for (const [name, each] of Object.entries(seen)) {
      if (has(want, name) || name.startsWith("_") || each === null || each === undefined) continue;
      this.value(undefined, each, at(place, name));
    }
  }
}

/** fits reports whether a comparison finds no difference. */
export function fits(compare: (differences: Differences) => void): boolean {
  const differences = new Differences();
  compare(differences);
  return differences.all.length === 0;
}
