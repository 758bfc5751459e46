// Makes expectations of observations, as `easel record` does. The twin of
// engine/enginetest/record.go.

import { isObject } from "../../canvas/dsl.ts";
import { flatTrace } from "./compare-calls.ts";
import { fold, freeFields } from "./compare-events.ts";
import { freeGlobals, historyOf, reduced } from "./compare.ts";
import { fits, isMatcher } from "./differences.ts";
import { bare, get, has, isEmpty, list, without } from "./value.ts";

// anyError is the expectation of an error with any text.
const anyError = { $contains: [] };

/** expectation returns the expectation that a repeated run must meet. */
export function expectation(seen: Record<string, unknown>): Record<string, unknown> {
  if (!isEmpty(seen["load_error"])) return { load_error: anyError };
  const trace = flatTrace(seen["tool_trace"]);
  const kept = ["saved_memory", "debug_outputs"].filter((name) => has(seen, name));
  return {
    ...(has(seen, "events") ? { events: expectedEvents(seen["events"]) } : {}),
    ...(isEmpty(seen["error"]) ? {} : { error: anyError }),
    ...(has(seen, "llm_calls") ? { llm_calls: list(seen["llm_calls"]).map(expectedCall) } : {}),
    ...(has(seen, "tool_calls") ? { tool_calls: seen["tool_calls"] } : {}),
    ...(has(seen, "searches") ? { searches: seen["searches"] } : {}),
    ...(trace.length > 0 ? { tool_trace: trace } : {}),
    ...Object.fromEntries(kept.map((name) => [name, bare(seen[name])])),
    ...(has(seen, "dsl_after") ? { dsl_after: expectedStored(reduced(seen["dsl_after"])) } : {}),
  };
}

// expectedCall leaves out stop words, which are not compared.
function expectedCall(call: unknown): unknown {
  return { ...(isObject(call) ? call : {}), gen_conf: without(get(call, "gen_conf"), "stop") };
}

function expectedEvents(events: unknown): unknown[] {
  return fold(events).map((each) => ({ event: each.event, data: expectedData(each) }));
}

function expectedData({ event, mark, content, sound, data }: ReturnType<typeof fold>[number]): unknown {
  if (mark) return { content: "", [mark]: true };
  if (event === "message") return { content, ...(sound.length > 0 ? { audio_binary: sound.join("") } : {}) };
  const members = Object.entries(isObject(data) ? data : {});
  const compared = members.filter(([name]) => !freeFields.includes(name) && !name.startsWith("_"));
  return Object.fromEntries(
    compared.map(([name, value]) => [name, name === "error" && !isEmpty(value) ? anyError : bare(value)]),
  );
}

function expectedStored(after: unknown): unknown {
  const outputs = get(after, "component_outputs");
  const all = Object.entries(isObject(outputs) ? outputs : {});
  return {
    ...(isObject(after) ? after : {}),
    globals: without(get(after, "globals"), ...freeGlobals),
    history: historyOf(get(after, "history")),
    component_outputs: Object.fromEntries(all.map(([id, each]) => [id, bare(each)])),
  };
}

/**
 * renewed returns a new expectation with the matchers of the old one that the new values still
 * meet, because a person wrote them.
 */
export function renewed(old: unknown, next: unknown): unknown {
  if (isMatcher(old)) return isMatcher(next) || fits((differences) => differences.match(old, next, here)) ? old : next;
  if (Array.isArray(old) && Array.isArray(next) && old.length === next.length) {
    return next.map((each, i) => renewed(old[i], each));
  }
  if (!isObject(old) || !isObject(next)) return next;
  return Object.fromEntries(Object.entries(next).map(([name, each]) => [name, renewed(get(old, name), each)]));
}

const here = { run: 0, part: "event" as const, path: "" };
