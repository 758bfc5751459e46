// Compares calls of models and tools. The twin of engine/enginetest/compare_calls.go and of the
// comparison in outside.go.

import { at, fits, type Differences, type Place } from "./differences.ts";
import { equal, get, has, isEmpty, list, text, without, written } from "./value.ts";

/** compareCalls compares the model calls of a run, in order or in any order. */
export function compareCalls(
  differences: Differences, want: unknown[], seen: unknown[], unordered: boolean, place: Place,
): void {
  if (want.length !== seen.length) return differences.add(place, "count", want.length, seen.length);
  if (!unordered) {
    return want.forEach((each, i) => compareCall(differences, each, seen[i], numbered(place, i, seen[i])));
  }
  const left = [...seen];
  want.forEach((each, i) => {
    const index = left.findIndex((call) => fits((inner) => compareCall(inner, each, call, place)));
    if (index < 0) differences.add(numbered(place, i, each), "missing", spoken(each), left.map(spoken));
    else left.splice(index, 1);
  });
}

// spoken returns the texts of a call.
function spoken(call: unknown): unknown {
  return { system: get(call, "system"), messages: get(call, "messages") };
}

function numbered(place: Place, i: number, call: unknown): Place {
  const node = text(get(call, "node"));
  return { ...place, what: String(i + 1), ...(node ? { node } : {}) };
}

function compareCall(differences: Differences, want: unknown, seen: unknown, place: Place): void {
  const kind = get(want, "kind");
  if (!isEmpty(kind) && !equal(kind, get(seen, "kind"))) {
    differences.add(at(place, "kind"), "same", kind, get(seen, "kind"));
  }
  if (has(want, "model")) differences.value(get(want, "model"), get(seen, "model"), at(place, "model"));
  const { system, messages } = parts(seen);
  if (has(want, "system")) differences.value(get(want, "system"), system, at(place, "system"));
  if (has(want, "messages")) {
    compareMessages(differences, joined(list(get(want, "messages"))), joined(messages), at(place, "messages"));
  }
  const whole = [system, ...messages.map((each) => written(get(each, "content")))].join("\n");
  for (const word of list(get(want, "mentions")).map(written)) {
    if (!whole.includes(word)) differences.add(place, "contain", word, whole);
  }
  for (const word of list(get(want, "lacks")).map(written)) {
    if (whole.includes(word)) differences.add(place, "lack", word, whole);
  }
  if (has(want, "gen_conf")) {
    const conf = without(get(seen, "gen_conf"), "stop") ?? {};
    differences.value(get(want, "gen_conf"), conf, at(place, "gen_conf"));
  }
}

function compareMessages(differences: Differences, want: Spoken[], seen: Spoken[], place: Place): void {
  const [expected, actual] = [want.map(({ role }) => role), seen.map(({ role }) => role)];
  if (!equal(expected, actual)) return differences.add(place, "roles", expected, actual);
  want.forEach(({ content }, i) => differences.value(content, seen[i]?.content, at(place, i)));
}

// parts separates the system text of a call, in its member or in messages of that role, from the
// other messages, whose contents become strings.
function parts(call: unknown): { system: string; messages: { role: unknown; content: string }[] } {
  const all = list(get(call, "messages"));
  const isSystem = (message: unknown): boolean => get(message, "role") === "system";
  const lead = all.filter(isSystem).map((message) => written(get(message, "content")));
  const messages = all
    .filter((message) => !isSystem(message))
    .map((message) => ({ role: get(message, "role"), content: written(get(message, "content")) }));
  return { system: written(get(call, "system")) || lead.join("\n"), messages };
}

/** Spoken is the consecutive text of one role. */
interface Spoken {
  role: string;
  content: unknown;
}

// joined joins neighbouring messages of one role by a newline; a matcher among them becomes one
// that requires the words of all.
function joined(messages: unknown[]): Spoken[] {
  const out: Spoken[] = [];
  for (const message of messages) {
    const [role, content] = [written(get(message, "role")), get(message, "content")];
    const last = out.at(-1);
    if (last?.role !== role) out.push({ role, content });
    else if (typeof last.content === "string" && typeof content === "string") last.content += "\n" + content;
    else last.content = { $contains: [...wordsOf(last.content), ...wordsOf(content)] };
  }
  return out;
}

function wordsOf(content: unknown): unknown[] {
  return typeof content === "string" ? [content] : list(get(content, "$contains"));
}

// pseudoTools are steps of an agent that older traces list among the tools.
const pseudoTools = ["analyze_task", "reflection", "Multi-turn conversation optimization", "gen_citations"];

/** flatTrace lists tool calls one by one, for any form of trace. */
export function flatTrace(trace: unknown): Record<string, unknown>[] {
  return list(trace).flatMap((entry) => {
    const steps = has(entry, "trace") ? list(get(entry, "trace")) : [entry];
    return steps
      .filter((step) => !pseudoTools.includes(text(get(step, "tool_name"))))
      .map((step) => ({
        component_id: get(entry, "component_id"), path: get(step, "path"), tool_name: get(step, "tool_name"),
        arguments: get(step, "arguments"), result: get(step, "result"),
      }));
  });
}

/** compareTraces compares tool calls of agents in any order. */
export function compareTraces(differences: Differences, want: unknown, seen: unknown, place: Place): void {
  const left = flatTrace(seen);
  for (const each of flatTrace(want)) {
    const index = left.findIndex((call) => fits((inner) => inner.value(each, call, place)));
    if (index < 0) differences.add(traced(place, each), "missing", each);
    else left.splice(index, 1);
  }
  for (const each of left) differences.add(traced(place, each), "extra", undefined, each);
}

function traced(place: Place, call: Record<string, unknown>): Place {
  const node = text(call["component_id"]);
  return { ...place, what: text(call["tool_name"]), ...(node ? { node } : {}) };
}

/**
 * compareToolCalls compares calls of tools in any order. A call with other arguments is compared
 * with the expected one of the same tool, so that the difference names the argument.
 */
export function compareToolCalls(differences: Differences, want: unknown, seen: unknown, place: Place): void {
  const left = [...list(seen)];
  const take = (find: (call: unknown) => boolean): unknown => {
    const index = left.findIndex(find);
    return index < 0 ? undefined : left.splice(index, 1)[0];
  };
  const missing = list(want).filter((each) => take((call) => equal(each, call)) === undefined);
  for (const each of missing) {
    const where = { ...place, what: calleeOf(each) };
    const other = take((call) => equal(without(each, "arguments"), without(call, "arguments")));
    if (other === undefined) differences.add(where, "missing", each);
    else differences.value(get(each, "arguments"), get(other, "arguments"), at(where, "arguments"));
  }
  for (const each of left) differences.add({ ...place, what: calleeOf(each) }, "extra", undefined, each);
}

function calleeOf(call: unknown): string {
  return text(get(call, "component")) + text(get(call, "name"));
}
