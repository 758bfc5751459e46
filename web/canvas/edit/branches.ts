// The branches of a node that chooses, edited in its form: added, renamed, moved and removed with
// their edges and handles.

import type { BranchSpec } from "@easel/engine";
import type { Specs } from "../drawing.ts";
import { isObject, word, type Params } from "../dsl.ts";
import { setParam, type Draft } from "./draft.ts";
import { branchTargets, exception, gotos } from "./wires.ts";

/** setBranches replaces the branches of a node, and removes the edges of removed branches. */
export function setBranches(draft: Draft, specs: Specs, id: string, branch: BranchSpec, value: unknown): void {
  const spec = specs.get(draft.component(id)?.obj.component_name ?? "");
  const before = new Set(branchTargets(draft, spec, id));
  const old = draft.get(["components", id, "obj", "params", branch.param]);
  const then = handlesOf(draft, id, branch, old);
  setParam(draft, id, branch.param, value);
  const after = new Set(branchTargets(draft, spec, id));
  mirrorItems(draft, id, old, value);
  for (const target of before) {
    if (after.has(target)) continue;
    draft.exclude(["components", id, "downstream"], target);
    if (!gotos(draft, id).includes(target)) draft.exclude(["components", target, "upstream"], id);
  }
  for (const target of after) {
    if (!draft.component(target)) continue;
    draft.include(["components", id, "downstream"], target);
    draft.include(["components", target, "upstream"], id);
  }
  const handles = handlesOf(draft, id, branch, value);
  draft.unwire((edge) => {
    if (edge["source"] !== id) return false;
    const handle = word(edge["sourceHandle"] ?? "");
    const target = word(edge["target"]);
    const isPlain = !after.has(target) && draft.list(["components", id, "downstream"]).includes(target);
    if (isPlain) return false;
    if (handles.has(handle) || then.has(handle)) return handles.get(handle)?.has(target) !== true;
    return handle !== exception && !after.has(target) && before.has(target);
  });
  rewire(draft, id, handles);
}

// handlesOf returns the targets of each handle of a param.
function handlesOf(
  draft: Draft,
  id: string,
  { param, to, label = param }: BranchSpec,
  value: unknown,
): Map<string, Set<string>> {
  const targets = (each: unknown): Set<string> => new Set(strings(to !== undefined && isObject(each) ? each[to] : []));
  if (to === undefined) return new Map([[param, new Set(strings(value))]]);
  if (Array.isArray(value)) return new Map(value.map((each, i) => [`${label} ${i + 1}`, targets(each)]));
  const items = draft.get(["graph", "nodes", id, "data", "form", "items"]);
  return new Map(
    Object.entries(isObject(value) ? value : {}).map(([name, each]) => {
      const item: unknown = Array.isArray(items)
        ? items.find((one) => isObject(one) && one["name"] === name)
        : undefined;
      return [isObject(item) && typeof item["uuid"] === "string" ? item["uuid"] : name, targets(each)];
    }),
  );
}

function rewire(draft: Draft, id: string, handles: Map<string, Set<string>>): void {
  for (const [handle, targets] of handles) {
    for (const target of targets) {
      if (!draft.component(target)) continue;
      const drawn = draft
        .edges()
        .some((edge) => edge["source"] === id && edge["target"] === target && edge["sourceHandle"] === handle);
      if (!drawn)
        draft.wire({
          id: `xy-edge__${id}${handle}-${target}end`,
          source: id,
          sourceHandle: handle,
          target,
          targetHandle: "end",
        });
    }
  }
}

// mirrorItems updates the list that RAGFlow's form has instead of a record of branches; the ids by
// which its edges are attached stay.
function mirrorItems(draft: Draft, id: string, old: unknown, value: unknown): void {
  const path = ["graph", "nodes", id, "data", "form", "items"];
  const items = draft.get(path);
  if (!Array.isArray(items) || !isObject(value)) return;
  const names = Object.keys(isObject(old) ? old : {});
  const now = Object.keys(value);
  const next = now.map((name, at) => {
    const renamed = !names.includes(name) && names.length === now.length ? names[at] : name;
    const known: unknown = items.find((each) => isObject(each) && each["name"] === renamed);
    const { description, examples }: Params = isObject(value[name]) ? value[name] : {};
    return {
      ...(isObject(known) ? known : { uuid: crypto.randomUUID() }),
      name,
      ...(description === undefined ? {} : { description }),
      ...(Array.isArray(examples)
        ? { examples: examples.map((each: unknown) => (typeof each === "string" ? { value: each } : each)) }
        : {}),
    };
  });
  draft.set(path, next);
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
