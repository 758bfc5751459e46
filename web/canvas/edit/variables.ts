// Variables of a conversation: their values are in `globals` as env.name, their types in
// `variables`.

import { isObject, word, type Dsl } from "../dsl.ts";
import type { Draft } from "./draft.ts";
import { renameReferences, type Renaming } from "./references.ts";

/** Variable is a variable of the conversation. */
export interface Variable {
  name: string;
  type: string;
  value: unknown;
}

/** variablesOf lists the variables that a canvas declares. */
export function variablesOf({ globals, variables }: Dsl): Variable[] {
  const declared = isObject(variables) ? variables : {};
  const names = Object.keys(globals ?? {}).flatMap((key) => (key.startsWith("env.") ? [key.slice(4)] : []));
  return [...new Set([...Object.keys(declared), ...names])].map((name) => {
    const entry = declared[name];
    const { type, value }: Record<string, unknown> = isObject(entry) ? entry : {};
    const now = globals?.[`env.${name}`] ?? value;
    return { name, type: typeof type === "string" ? type : typeOf(now), value: now };
  });
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array<string>";
  return value === null || value === undefined ? "string" : typeof value;
}

/** setVariable adds a variable or changes it. */
export function setVariable(draft: Draft, { name, type, value }: Variable): void {
  if (!isObject(draft.dsl.variables)) draft.set(["variables"], {});
  if (!isObject(draft.dsl.globals)) draft.set(["globals"], {});
  const entry = draft.get(["variables", name]);
  draft.set(["variables", name], { ...(isObject(entry) ? entry : { name }), type, value });
  draft.set(["globals", `env.${name}`], value);
}

/** removeVariable deletes a variable; references to it are reported as problems. */
export function removeVariable(draft: Draft, name: string): void {
  draft.remove(["variables", name]);
  draft.remove(["globals", `env.${name}`]);
}

/** nameVariable renames a variable in every text of the canvas. */
export function nameVariable(draft: Draft, from: string, to: string): void {
  const entry = draft.get(["variables", from]);
  const value = draft.get(["globals", `env.${from}`]);
  if (entry !== undefined) {
    draft.remove(["variables", from]);
    draft.set(["variables", to], isObject(entry) && "name" in entry ? { ...entry, name: to } : entry);
  }
  if (value !== undefined) {
    draft.remove(["globals", `env.${from}`]);
    draft.set(["globals", `env.${to}`], value);
  }
  follow(draft, new Map([[`env.${from}`, `env.${to}`]]));
}

/**
 * follow renames references in params and in their copies in `graph`: in all nodes, or in those
 * that are named.
 */
export function follow(draft: Draft, names: Renaming, only?: ReadonlySet<string>): void {
  for (const [id, { obj }] of Object.entries(draft.dsl.components)) {
    if (only && !only.has(id)) continue;
    for (const [name, value] of Object.entries(obj.params)) {
      const changed = renameReferences(value, names);
      if (changed !== value) draft.set(["components", id, "obj", "params", name], changed);
    }
  }
  for (const picture of draft.pictures()) {
    const id = word(picture["id"]);
    if (only && !only.has(id)) continue;
    const form = draft.get(["graph", "nodes", id, "data", "form"]);
    for (const [name, value] of Object.entries(isObject(form) ? form : {})) {
      const changed = renameReferences(value, names);
      if (changed !== value) draft.set(["graph", "nodes", id, "data", "form", name], changed);
    }
  }
}
