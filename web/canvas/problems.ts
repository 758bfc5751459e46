// The problems of a canvas as a person reads them: errors first, the same problem of several nodes
// once, and problems of one kind together.

import type { ComponentSpec, Diagnostic, Schema } from "@easel/engine";
import { own } from "./dsl.ts";

/** Problem is a diagnostic of one or more nodes, or without nodes of the document. */
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

/**
 * fieldOf names a param as the form does, by labels and places in lists from 1:
 * "conditions[0].items[1].value" is ["Cases", 1, "Rules", 2, "Value"].
 */
export function fieldOf(param: string, spec: ComponentSpec | undefined): (string | number)[] {
  let schema: Schema | undefined = spec?.params;
  return param.split(/[.[\]]+/).filter(Boolean).flatMap((part): (string | number)[] => {
    if (/^\d+$/.test(part)) {
      schema = schema?.items;
      return [Number(part) + 1];
    }
    const found: Schema | undefined = own(schema?.properties, part);
    schema = found;
    return found && !found.title && found.items ? [] : [found?.title ?? part];
  });
}

/**
 * spoken replaces ids of nodes and names of components in a message by their titles:
 * `{LLM:A@content}` becomes "Summary · content".
 */
export function spoken(
  message: string, nameOf: (id: string) => string | undefined, titleOf: (component: string) => string | undefined,
): string {
  return message.replaceAll(
    /\{([\w:-]+)@([^{}\s]+)\}|"?(?<![\w:{])([A-Z]\w*:[\w-]+)(?![\w:@}])"?|(?<![\w:"])([A-Z][a-z]+[A-Z]\w*)(?![\w:])/g,
    (found: string, source?: string, output?: string, id?: string, component?: string) => {
      if (source !== undefined) return `${nameOf(source) ?? source} · ${output}`;
      const name = id === undefined ? titleOf(component ?? "") : nameOf(id);
      return name === undefined ? found : `"${name}"`;
    },
  );
}
