// Compares a case with an observation of it. The twin of engine/enginetest/compare.go: both return
// the same verdict, which test/cases.test.ts checks.

import { isObject } from "../../canvas/dsl.ts";
import { compareCalls, compareToolCalls, compareTraces } from "./compare-calls.ts";
import { compareEvents } from "./compare-events.ts";
import { at, Differences, isMatcher, type Difference, type Part, type Place } from "./differences.ts";
import { equal, get, has, isEmpty, list, text, without, written } from "./value.ts";

/** compare lists the differences, both in the form of files; an empty list is a passed case. */
export function compare(expected: unknown, observed: unknown): Difference[] {
  const differences = new Differences();
  const kinds = kindsOf(get(expected, "dsl"));
  const [want, seen] = [list(get(expected, "runs")), list(get(observed, "runs"))];
  if (want.length !== seen.length) {
    differences.add({ run: 0, part: "runs", path: "" }, "count", want.length, seen.length);
  }
  for (let i = 0; i < Math.min(want.length, seen.length); i++) compareRun(differences, want[i], seen[i], kinds, i);
  return differences.all;
}

// kindsOf returns the component name of each node.
function kindsOf(dsl: unknown): Map<string, string> {
  const components = get(dsl, "components");
  const entries = isObject(components) ? Object.entries(components) : [];
  return new Map(entries.map(([id, entry]) => [id, text(get(get(entry, "obj"), "component_name"))]));
}

function compareRun(
  differences: Differences, want: unknown, seen: unknown, kinds: ReadonlyMap<string, string>, run: number,
): void {
  const place = (part: Part): Place => ({ run, part, path: "" });
  if (!isEmpty(get(want, "load_error")) || !isEmpty(get(seen, "load_error"))) {
    return differences.failure(get(want, "load_error"), get(seen, "load_error"), place("load"));
  }
  if (has(want, "tool_calls") || list(get(want, "tools")).length > 0) {
    compareToolCalls(differences, get(want, "tool_calls"), get(seen, "tool_calls"), place("tool"));
  }
  if (has(want, "searches")) {
    compareToolCalls(differences, get(want, "searches"), get(seen, "searches"), place("tool"));
  }
  if (has(want, "events")) compareEvents(differences, get(want, "events"), get(seen, "events"), place("event"));
  differences.failure(get(want, "error"), get(seen, "error"), place("error"));
  const unordered = !isEmpty(get(want, "llm_calls_unordered"));
  compareCalls(differences, list(get(want, "llm_calls")), list(get(seen, "llm_calls")), unordered, place("call"));
  compareTraces(differences, get(want, "tool_trace"), get(seen, "tool_trace"), place("trace"));
  if (has(want, "saved_memory")) {
    const saved = list(get(seen, "saved_memory")).map((each) => ({
      memory_ids: get(each, "memory_ids"), user_input: get(each, "user_input"),
      agent_response: get(each, "agent_response"),
    }));
    differences.value(get(want, "saved_memory"), saved, place("memory"));
  }
  if (has(want, "debug_outputs")) {
    differences.outputs(get(want, "debug_outputs"), get(seen, "debug_outputs"), "", place("debug"));
  }
  if (has(want, "dsl_after")) {
    compareStored(differences, get(want, "dsl_after"), get(seen, "dsl_after"), kinds, place("state"));
  }
}

/** freeGlobals may be there without being expected. */
export const freeGlobals = ["sys.history", "sys.date"];

// compareStored compares a stored canvas, whole or reduced, with the reduced one of the case.
function compareStored(
  differences: Differences, want: unknown, whole: unknown, kinds: ReadonlyMap<string, string>, place: Place,
): void {
  const seen = reduced(whole);
  const waiting = texts(get(want, "waiting"));
  const actual = texts(get(seen, "waiting"));
  if (!equal([...waiting].sort(), [...actual].sort())) differences.add(at(place, "waiting"), "same", waiting, actual);
  const path = texts(get(seen, "path"));
  while (path.length > list(get(want, "path")).length && waiting.includes(path.at(-1) ?? "")) path.pop();
  const stored = get(seen, "path");
  const visited = stored === undefined || Array.isArray(stored) ? path : stored;
  differences.value(get(want, "path"), visited, at(place, "path"));
  differences.value(historyOf(get(want, "history")), historyOf(get(seen, "history")), at(place, "history"));
  const globals = get(want, "globals");
  if (globals !== undefined) {
    const unexpected = freeGlobals.filter((name) => !has(globals, name));
    differences.value(globals, without(get(seen, "globals") ?? {}, ...unexpected), at(place, "globals"));
  }
  differences.value(orEmpty(get(want, "memory")), orEmpty(get(seen, "memory")), at(place, "memory"));
  const retrieval = get(want, "retrieval");
  if (get(retrieval, "$ignore") !== true) {
    differences.value(orEmpty(retrieval), orEmpty(get(seen, "retrieval")), at(place, "retrieval"));
  }
  const [wanted, found] = [get(want, "component_outputs"), get(seen, "component_outputs")];
  const ids = new Set([...Object.keys(isObject(wanted) ? wanted : {}), ...Object.keys(isObject(found) ? found : {})]);
  for (const id of ids) {
    const expected = has(wanted, id) ? get(wanted, id) : {};
    const where = { ...at(place, "outputs"), node: id };
    differences.outputs(expected, get(found, id), kinds.get(id) ?? "", where);
  }
}

function texts(value: unknown): string[] {
  return list(value).map(written);
}

function orEmpty(value: unknown): unknown {
  return isEmpty(value) ? [] : value;
}

/** historyOf converts entries, lists or objects, to [role, text]; absent content becomes "". */
export function historyOf(value: unknown): unknown[] {
  return list(value).map((entry) => {
    const [role, content] = isObject(entry)
      ? [get(entry, "role"), get(entry, "content")]
      : [get(entry, 0), get(entry, 1)];
    const said = isObject(content) && !isMatcher(content) ? get(content, "content") : content;
    return [role, said ?? ""];
  });
}

/** reduced reduces a stored canvas to the compared parts. A reduced one stays as it is. */
export function reduced(dsl: unknown): unknown {
  const components = get(dsl, "components");
  if (has(dsl, "component_outputs") || !has(dsl, "components")) return dsl;
  const kept = ["path", "waiting", "history", "globals", "retrieval", "memory"].filter((name) => has(dsl, name));
  const outputs = isObject(components) ? Object.entries(components) : [];
  return {
    ...Object.fromEntries(kept.map((name) => [name, get(dsl, name)])),
    component_outputs: Object.fromEntries(outputs.map(([id, entry]) => [id, valuesOf(entry)])),
  };
}

function valuesOf(entry: unknown): Record<string, unknown> {
  const outputs = get(get(get(entry, "obj"), "params"), "outputs");
  if (!isObject(outputs)) return {};
  return Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, declared(output)]));
}

// declared returns the value of a declared output, {type, value}, or the bare value.
function declared(output: unknown): unknown {
  return has(output, "value") || has(output, "type") ? get(output, "value") : output;
}
