// The list of problems: errors first, the same problem of several nodes once, kinds together.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Diagnostic } from "@easel/engine";
import { fieldOf, sectionsOf, spoken } from "../canvas/problems.ts";
import { specs } from "./specs.ts";

const problem = (severity: "error" | "warning", code: string, message: string, node?: string, param?: string) =>
  ({ severity, code, message, ...(node ? { node } : {}), ...(param ? { param } : {}) }) as Diagnostic;

test("problems are grouped by severity, kind and message, and none is lost", () => {
  const sections = sectionsOf([
    problem("warning", "needs_host", "Email is not available here", "Email:A"),
    problem("error", "bad_reference", "unknown variable", "LLM:A", "sys_prompt"),
    problem("warning", "loose_end", "nothing follows", "LLM:B"),
    problem("warning", "needs_host", "Email is not available here", "Email:B"),
    problem("warning", "needs_host", "ExeSQL is not available here", "ExeSQL:A"),
    problem("error", "bad_reference", "unknown variable", "LLM:A", "prompts"),
    problem("error", "no_start", "the canvas has no start"),
  ]);
  assert.deepEqual(
    sections.map(({ severity, count, kinds }) => [
      severity,
      count,
      kinds.map((kind) => kind.map(({ message, param, nodes }) => [message, param, nodes])),
    ]),
    [
      ["error", 3, [
        [["unknown variable", "sys_prompt", ["LLM:A"]], ["unknown variable", "prompts", ["LLM:A"]]],
        [["the canvas has no start", undefined, []]],
      ]],
      ["warning", 4, [
        [["Email is not available here", undefined, ["Email:A", "Email:B"]],
          ["ExeSQL is not available here", undefined, ["ExeSQL:A"]]],
        [["nothing follows", undefined, ["LLM:B"]]],
      ]],
    ],
  );
  assert.deepEqual(sectionsOf([]), []);
});

test("params are named as their form does, wherever they are", () => {
  assert.deepEqual(fieldOf("max_retries", specs.get("LLM")), ["Retries"]);
  const deep = fieldOf("conditions[0].items[1].operator", specs.get("Switch"));
  assert.deepEqual(deep, ["Cases", 1, "Rules", 2, "Comparison"]);
  assert.deepEqual(fieldOf("contnt", specs.get("Message")), ["contnt"], "an unknown one keeps its name");
  assert.deepEqual(fieldOf("x.y", undefined), ["x", "y"]);
});

test("messages name steps and components by their titles, and keep what they do not know", () => {
  const names: Record<string, string> = { "LLM:A": "Summary", "Switch:B-1": "Which way" };
  const say = (message: string): string =>
    spoken(message, (id) => names[id], (name) => (name === "TavilySearch" ? "Tavily" : undefined));
  const foo = '{LLM:A@content}: LLM:A has no output "foo"';
  assert.equal(say(foo), 'Summary · content: "Summary" has no output "foo"');
  assert.equal(say('"Switch:B-1" names no component'), '"Which way" names no component');
  const gone = '{LLM:Gone@content}: no component "LLM:Gone"';
  assert.equal(say(gone), 'LLM:Gone · content: no component "LLM:Gone"');
  assert.equal(say("tool x: TavilySearch acts outside"), 'tool x: "Tavily" acts outside');
  assert.equal(say("see https://Example:A/JavaScript {sys.query}"), "see https://Example:A/JavaScript {sys.query}");
});
