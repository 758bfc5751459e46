// A report on a canvas before its import: the steps that run in the page, those that require a
// host, broken ones, and missing requirements of the host.

import { messageOf, type Diagnostic } from "@easel/engine";
import { CanvasError, open, type Dsl, type Words } from "../canvas/dsl.ts";

/** Finding is a remark on a step, or on the canvas when `node` is absent. */
export interface Finding {
  node?: string;
  /** Code of the first message. */
  code: string;
  messages: string[];
}

/** Report describes a canvas before it is opened. */
export interface Report {
  title: Words;
  dsl: Dsl;
  /** Names of the components with their numbers of steps, the most frequent first. */
  kinds: [name: string, count: number][];
  steps: number;
  /** Steps that only a host runs; in the page mock tools answer for them. */
  mock: Finding[];
  /** The problems of the canvas or its steps. */
  broken: Finding[];
  /** The steps that run, with remarks. */
  notes: Finding[];
}

/** Unreadable is a file that is not a canvas. */
export interface Unreadable {
  code: CanvasError["code"];
  detail: string;
}

/** report reads a file and checks it for the page. */
export async function report(
  text: string,
  name: string,
  validate: (text: string) => Promise<Diagnostic[]>,
): Promise<Report | Unreadable> {
  let opened;
  try {
    opened = open(text, name);
  } catch (err) {
    if (err instanceof CanvasError) return { code: err.code, detail: err.detail };
    throw err;
  }
  const { dsl, title } = opened;
  const found = await validate(opened.text).catch(unchecked);
  const serious = found.filter(({ severity }) => severity === "error");
  const mild = found.filter(({ severity }) => severity !== "error");
  const components = Object.values(dsl.components).map(({ obj }) => obj.component_name);
  return {
    title,
    dsl,
    kinds: counted(components),
    steps: components.length,
    broken: findings(serious),
    mock: findings(mild.filter(({ code }) => code === "needs_host")),
    notes: findings(mild.filter(({ code }) => code !== "needs_host")),
  };
}

// unchecked stands for the findings of a canvas that the engine does not read.
function unchecked(err: unknown): Diagnostic[] {
  return [{ severity: "error", code: "bad_canvas", message: messageOf(err) }];
}

/** runnable counts the steps of a report that run in the page unchanged. */
export function runnable({ steps, mock, broken }: Report): number {
  const held = [...mock, ...broken].flatMap(({ node }) => node ?? []);
  return steps - new Set(held).size;
}

// findings gathers the diagnostics of each step.
function findings(list: Diagnostic[]): Finding[] {
  const by = new Map<string, Finding>();
  for (const { node, code, message } of list) {
    const finding = by.get(node ?? "") ?? { ...(node ? { node } : {}), code, messages: [] };
    if (!finding.messages.includes(message)) finding.messages.push(message);
    by.set(node ?? "", finding);
  }
  return [...by.values()];
}

function counted(names: string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a);
}
