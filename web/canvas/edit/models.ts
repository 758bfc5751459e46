// The models that a canvas names: in its settings, in `graph`, in the params of steps and their
// tools.

import { isObject, type Dsl } from "../dsl.ts";
import type { Path } from "../patch.ts";
import type { Draft } from "./draft.ts";

const deepest = 40; // levels of a value that is searched

/** modelsOf lists the models that a canvas names, each with the ids of its steps. */
export function modelsOf(dsl: Dsl): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [node, { obj, disabled }] of Object.entries(dsl.components)) {
    if (disabled === true) continue;
    for (const [id] of named(obj.params, [])) {
      const nodes = found.get(id) ?? [];
      found.set(id, nodes.includes(node) ? nodes : [...nodes, node]);
    }
  }
  for (const [id] of fallbacks(dsl)) if (!found.has(id)) found.set(id, []);
  return found;
}

/** renameModels replaces models by their ids. */
export function renameModels(draft: Draft, ids: ReadonlyMap<string, string>): void {
  const { dsl } = draft;
  const places = [...named(dsl.components, ["components"]), ...named(dsl.graph, ["graph"]), ...fallbacks(dsl)];
  for (const [id, path] of places) {
    const next = ids.get(id);
    if (next !== undefined) draft.set(path, next);
  }
}

// fallbacks returns the models that answer where others fail, and the paths to them.
function fallbacks({ settings }: Dsl): [id: string, path: Path][] {
  const list: unknown = isObject(settings) ? settings["fallback_models"] : undefined;
  if (!Array.isArray(list)) return [];
  return list.flatMap((id: unknown, i): [string, Path][] =>
    typeof id === "string" && id !== "" ? [[id, ["settings", "fallback_models", i]]] : []);
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
