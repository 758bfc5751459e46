// Edges: which may be drawn, and how the document stores them. An edge is in the lists of both
// components, in the param of its branch, and in `graph`.

import type { ComponentSpec } from "@easel/engine";
import type { CanvasModel, CanvasNode, Specs } from "../drawing.ts";
import { isObject } from "../dsl.ts";
import { same, type Path } from "../patch.ts";
import { setParam, type Draft } from "./draft.ts";

/**
 * errorHandle is the handle of the edge for errors. Branches have names that people choose, so it
 * begins with a character for private use.
 */
export const errorHandle = "\u{E000}error";

/** exception is the handle of that edge in `graph`, as RAGFlow names it. */
export const exception = "exception";

/** toolHandle is the handle that agents and tool boxes are attached to. */
export const toolHandle = "tool";

/** Refusal is the reason why an edge may not be drawn. */
export type Refusal = "self" | "start" | "note" | "item" | "tool" | "end" | "exists" | "border" | "inside";

/** refusal returns the reason why an edge may not lead from one box to another, or undefined. */
export function refusal(model: CanvasModel, source: string, target: string, branch?: string): Refusal | undefined {
  const from = model.byId.get(source);
  const to = model.byId.get(target);
  if (!from || !to) return "note";
  if (source === target) return "self";
  if (from.role === "note" || to.role === "note") return "note";
  if (isTool(from) || isTool(to)) return "tool";
  if (to.spec?.role === "start") return "start";
  if (to.role === "item") return "item";
  if (from.spec?.role === "sink") return "end";
  if (to.parent === source || from.parent === target) return "inside";
  if (from.parent !== to.parent) return "border";
  const role = branch === errorHandle ? "error" : "flow";
  const known = model.edges.some(
    (edge) =>
      edge.source === source &&
      edge.target === target &&
      edge.role === role &&
      (role === "error" || edge.branch === (branch || undefined)),
  );
  return known ? "exists" : undefined;
}

function isTool({ role }: CanvasNode): boolean {
  return role === "tool" || role === "agent";
}

/** connect draws an edge, by a branch of the source, on its error, or plainly. */
export function connect(draft: Draft, specs: Specs, source: string, target: string, branch?: string): void {
  if (branch === errorHandle) {
    setSetting(draft, source, "exception_goto", [...new Set([...gotos(draft, source), target])]);
    setSetting(draft, source, "exception_method", "goto");
  } else {
    if (branch !== undefined) extend(draft, specs, source, branch, (to) => [...new Set([...to, target])]);
    draft.include(["components", source, "downstream"], target);
  }
  draft.include(["components", target, "upstream"], source);
  const handle =
    branch === undefined ? "start" : branch === errorHandle ? exception : handleOf(draft, source, branch);
  draw(draft, source, handle, target);
}

function draw(draft: Draft, source: string, handle: string, target: string): void {
  const id = `xy-edge__${source}${handle}-${target}end`;
  draft.wire({ id, source, sourceHandle: handle, target, targetHandle: "end", data: { isHovered: false } });
}

/** setSetting changes a param, with the edges for errors that it leads to. */
export function setSetting(draft: Draft, id: string, name: string, value: unknown): void {
  const before = gotos(draft, id);
  setParam(draft, id, name, value);
  const after = gotos(draft, id).filter((target) => draft.component(target));
  for (const target of before) if (!after.includes(target)) forgetError(draft, id, target);
  for (const target of after) {
    if (before.includes(target)) continue;
    draft.include(["components", target, "upstream"], id);
    draw(draft, id, exception, target);
  }
}

function forgetError(draft: Draft, source: string, target: string): void {
  if (!draft.list(["components", source, "downstream"]).includes(target))
    draft.exclude(["components", target, "upstream"], source);
  draft.unwire((edge) => edge["source"] === source && edge["target"] === target && edge["sourceHandle"] === exception);
}

/** disconnect removes an edge. */
export function disconnect(draft: Draft, specs: Specs, source: string, target: string, branch?: string): void {
  const handle =
    branch === undefined ? undefined : branch === errorHandle ? exception : handleOf(draft, source, branch);
  if (branch === errorHandle) {
    const left = gotos(draft, source).filter((id) => id !== target);
    setSetting(draft, source, "exception_goto", left);
    if (left.length === 0) setSetting(draft, source, "exception_method", "");
  } else if (branch !== undefined) {
    extend(draft, specs, source, branch, (to) => to.filter((id) => id !== target));
  }
  const spec = specs.get(draft.component(source)?.obj.component_name ?? "");
  const byBranch = branchTargets(draft, spec, source).includes(target);
  if (branch !== errorHandle && !byBranch) draft.exclude(["components", source, "downstream"], target);
  const still =
    draft.list(["components", source, "downstream"]).includes(target) || gotos(draft, source).includes(target);
  if (!still) draft.exclude(["components", target, "upstream"], source);
  draft.unwire(
    (edge) =>
      edge["source"] === source &&
      edge["target"] === target &&
      (!still || (handle === undefined ? edge["sourceHandle"] !== exception : edge["sourceHandle"] === handle)),
  );
  if (still) redraw(draft, spec, source, target);
}

// redraw draws an edge of the document that `graph` lost, because two ways had one handle there.
function redraw(draft: Draft, spec: ComponentSpec | undefined, source: string, target: string): void {
  if (draft.edges().some((edge) => edge["source"] === source && edge["target"] === target)) return;
  const way = targetPaths(draft, spec, source).find(({ path }) => draft.list(path).includes(target));
  const isError = gotos(draft, source).includes(target);
  draw(draft, source, way ? handleOf(draft, source, way.branch) : isError ? exception : "start", target);
}

/** gotos returns the nodes that an error of a node leads to. */
export function gotos(draft: Draft, id: string): string[] {
  return draft.params(id)["exception_method"] === "goto"
    ? draft.list(["components", id, "obj", "params", "exception_goto"])
    : [];
}

/** branchTargets returns the nodes that the branches of a node lead to. */
export function branchTargets(draft: Draft, spec: ComponentSpec | undefined, id: string): string[] {
  return targetPaths(draft, spec, id).flatMap(({ path }) => draft.list(path));
}

interface TargetPath {
  /** Branch, as the model names it. */
  branch: string;
  path: Path;
}

// targetPaths leads to the list of ids of each branch of a node.
function targetPaths(draft: Draft, spec: ComponentSpec | undefined, id: string): TargetPath[] {
  return (spec?.branches ?? []).flatMap(({ param, to, label = param }): TargetPath[] => {
    const base: Path = ["components", id, "obj", "params", param];
    if (to === undefined) return [{ branch: param, path: base }];
    const value = draft.get(base);
    if (Array.isArray(value)) {
      return value.flatMap((each, i) =>
        isObject(each) ? [{ branch: `${label} ${i + 1}`, path: [...base, i, to] }] : [],
      );
    }
    if (!isObject(value)) return [];
    return Object.keys(value)
      .filter((name) => isObject(value[name]))
      .map((name) => ({ branch: name, path: [...base, name, to] }));
  });
}

function extend(draft: Draft, specs: Specs, id: string, branch: string, change: (to: string[]) => string[]): void {
  const spec = specs.get(draft.component(id)?.obj.component_name ?? "");
  const found = targetPaths(draft, spec, id).find((each) => each.branch === branch);
  if (!found) return;
  const [, , , , param] = found.path as string[];
  const before = draft.get(found.path);
  draft.set(found.path, change(draft.list(found.path)));
  if (param === undefined || same(before, draft.get(found.path))) return;
  const form = ["graph", "nodes", id, "data", "form", param];
  if (draft.get(form) !== undefined) draft.set(form, draft.get(["components", id, "obj", "params", param]));
}

/** handleOf returns the handle of a branch in `graph`: in RAGFlow categories have separate ids. */
export function handleOf(draft: Draft, id: string, branch: string): string {
  const items = draft.get(["graph", "nodes", id, "data", "form", "items"]);
  const item = Array.isArray(items)
    ? (items.find((each) => isObject(each) && each["name"] === branch) as unknown)
    : undefined;
  return isObject(item) && typeof item["uuid"] === "string" ? item["uuid"] : branch;
}

/** forget removes a node from every list of another: edges, branches, error handlers. */
export function forget(draft: Draft, specs: Specs, id: string, gone: ReadonlySet<string>): void {
  for (const list of ["downstream", "upstream"]) {
    for (const each of draft.list(["components", id, list]))
      if (gone.has(each)) draft.exclude(["components", id, list], each);
  }
  const spec = specs.get(draft.component(id)?.obj.component_name ?? "");
  for (const { branch, path } of targetPaths(draft, spec, id)) {
    if (draft.list(path).some((each) => gone.has(each)))
      extend(draft, specs, id, branch, (to) => to.filter((each) => !gone.has(each)));
  }
  const left = gotos(draft, id);
  if (left.some((each) => gone.has(each)))
    setParam(
      draft,
      id,
      "exception_goto",
      left.filter((each) => !gone.has(each)),
    );
}
