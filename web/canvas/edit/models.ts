// The models that steps name: in their params, in those of their tools, and in `graph`.

import type { Dsl } from "../dsl.ts";
import type { Path } from "../patch.ts";
import type { Draft } from "./draft.ts";

const deepest = 40; // levels of a value that is searched

/** modelsOf lists the models that steps name, each with the ids of the steps. */
export function modelsOf(dsl: Dsl): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [node, { obj, disabled }] of Object.entries(dsl.components)) {
    if (disabled === true) continue;
    for (const [id] of named(obj.params, [])) {
      const nodes = found.get(id) ?? [];
      found.set(id, nodes.includes(node) ? nodes : [...nodes, node]);
    }
  }
  return found;
}

/** renameModels replaces models by their ids, in all steps. */
export function renameModels(draft: Draft, ids: ReadonlyMap<string, string>): void {
  const places = [...named(draft.dsl.components, ["components"]), ...named(draft.dsl.graph, ["graph"])];
  for (const [id, path] of places) {
    const next = ids.get(id);
    if (next !== undefined) draft.set(path, next);
  }
}

// named finds the models in a value, and the paths to them. References are left out, because only a
// run knows them.
function* named(value: unknown, path: Path): Generator<[id: string, path: Path]> {
  if (typeof value !== "object" || value === null || path.length > deepest) return;
  for (const [name, member] of Object.entries(value)) {
    const to = [...path, Array.isArray(value) ? Number(name) : name];
    if (name === "llm_id" && typeof member === "string" && member !== "" && !member.includes("{")) yield [member, to];
    yield* named(member, to);
  }
}
