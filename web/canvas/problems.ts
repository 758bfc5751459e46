// The problems of a canvas as a person reads them: errors first, the same problem of several nodes
// once, and problems of one kind together.

import type { Diagnostic } from "@easel/engine";

/** Problem is a diagnostic of one or more nodes; none for one of the document. */
export interface Problem extends Pick<Diagnostic, "severity" | "code" | "message" | "param"> {
  nodes: string[];
}

/** Section holds the problems of one severity. */
export interface Section {
  severity: Diagnostic["severity"];
  /** Diagnostics in it. */
  count: number;
  /** Problems by kind, those of a kind in the order of the list. */
  kinds: Problem[][];
}

/** sectionsOf groups diagnostics. */
export function sectionsOf(list: readonly Diagnostic[]): Section[] {
  return (["error", "warning"] as const)
    .map((severity) => sectionOf(severity, list.filter((each) => each.severity === severity)))
    .filter(({ count }) => count > 0);
}

function sectionOf(severity: Section["severity"], list: Diagnostic[]): Section {
  const kinds = new Map<string, Map<string, Problem>>();
  for (const { code, message, param, node } of list) {
    const kind = kinds.get(code) ?? new Map<string, Problem>();
    kinds.set(code, kind);
    const key = JSON.stringify([param, message]);
    const problem = kind.get(key) ?? { severity, code, message, ...(param === undefined ? {} : { param }), nodes: [] };
    kind.set(key, problem);
    if (node !== undefined && !problem.nodes.includes(node)) problem.nodes.push(node);
  }
  return { severity, count: list.length, kinds: [...kinds.values()].map((kind) => [...kind.values()]) };
}
