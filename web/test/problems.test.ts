// The list of problems: errors first, the same problem of several nodes once, kinds together.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Diagnostic } from "@easel/engine";
import { sectionsOf } from "../canvas/problems.ts";

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
