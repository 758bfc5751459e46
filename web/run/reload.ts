// The changes of an edited canvas that a loaded one can take over.

import { isObject, own, type Dsl, type Params } from "../canvas/dsl.ts";
import { same } from "../canvas/patch.ts";

/**
 * paramsChanged lists the changed params by node, or nothing when more than params of nodes
 * changed.
 */
export function paramsChanged(before: Dsl, after: Dsl): Map<string, Params> | undefined {
  const ids = Object.keys(after.components);
  if (!same(Object.keys(before.components), ids)) return undefined;
  const changed = new Map<string, Params>();
  for (const id of ids) {
    const [then, now] = [own(before.components, id), own(after.components, id)];
    if (!then || !now || then === now) continue;
    const { params: old, ...rest } = then.obj;
    const { params, ...others } = now.obj;
    if (!same({ ...then, obj: rest }, { ...now, obj: others })) return undefined;
    const names = new Set([...Object.keys(old), ...Object.keys(params)]);
    const different = [...names].filter((name) => !same(own(old, name), own(params, name)));
    changed.set(id, Object.fromEntries(different.map((name) => [name, own(params, name) ?? null])));
  }
  return changed;
}

/** carried returns the text of a canvas with the conversation of another state of it. */
export function carried(text: string, state: string | undefined): string {
  if (state === undefined) return text;
  const [now, then]: unknown[] = [JSON.parse(text), JSON.parse(state)];
  if (!isObject(now) || !isObject(then)) return text;
  const globals = isObject(now["globals"]) ? now["globals"] : {};
  const values = isObject(then["globals"]) ? then["globals"] : {};
  const kept = Object.entries(values).filter(([name]) => name.startsWith("sys.") || name in globals);
  const conversation = Object.fromEntries(
    ["history", "memory", "retrieval"].flatMap((name) => (name in then ? [[name, then[name]]] : [])),
  );
  return JSON.stringify({ ...now, ...conversation, globals: { ...globals, ...Object.fromEntries(kept) } });
}
