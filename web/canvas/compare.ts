// A difference of two documents for people: nodes that were added, removed and changed, and their
// changed settings.

import { diff } from "./diff.ts";
import { isObject, own, type Dsl } from "./dsl.ts";
import { picturesOf } from "./picture.ts";

/** Setting is a param of a node, or a part of the canvas, with both values. */
export interface Setting {
  name: string;
  before?: unknown;
  after?: unknown;
}

/** NodeChange is a node that differs. */
export interface NodeChange {
  id: string;
  name: string;
  kind: string;
  change: "added" | "removed" | "changed";
  settings: Setting[];
}

/** Comparison is a difference, grouped. */
export interface Comparison {
  nodes: NodeChange[];
  /** Added and removed edges, by the names of their nodes. */
  edges: { from: string; to: string; change: "added" | "removed" }[];
  /** Parts of the canvas as a whole, such as variables. */
  other: Setting[];
  /** Only positions, sizes and other parts of the drawing differ. */
  looks: boolean;
}

// state lists the members of a document that runs write.
const state = new Set(["history", "path", "retrieval", "memory", "messages", "reference", "task_id", "waiting"]);

/** compare returns the differences of the second document from the first. */
export function compare(before: Dsl, after: Dsl): Comparison {
  const nodes: NodeChange[] = [];
  const names = (dsl: Dsl): ((id: string) => string) => {
    const pictures = picturesOf(dsl);
    return (id) => pictures.get(id)?.name || id;
  };
  const [nameBefore, nameAfter] = [names(before), names(after)];
  for (const id of new Set([...Object.keys(before.components), ...Object.keys(after.components)])) {
    const [old, now] = [own(before.components, id), own(after.components, id)];
    const obj = (now ?? old)?.obj;
    const settings = settingsOf(old?.obj.params ?? {}, now?.obj.params ?? {});
    if (old && now && nameBefore(id) !== nameAfter(id))
      settings.unshift({ name: "name", before: nameBefore(id), after: nameAfter(id) });
    if (old && now && settings.length === 0) continue;
    const change = !old ? "added" : !now ? "removed" : "changed";
    nodes.push({
      id,
      name: now ? nameAfter(id) : nameBefore(id),
      kind: obj?.component_name ?? "",
      change,
      settings: old && now ? settings : [],
    });
  }
  const [then, since] = [edgesOf(before), edgesOf(after)];
  const edges = [
    ...[...since]
      .filter(([key]) => !then.has(key))
      .map(([, [from, to]]) => ({ from: nameAfter(from), to: nameAfter(to), change: "added" as const })),
    ...[...then]
      .filter(([key]) => !since.has(key))
      .map(([, [from, to]]) => ({ from: nameBefore(from), to: nameBefore(to), change: "removed" as const })),
  ];
  const rest = (dsl: Dsl): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(dsl).filter(([name]) => name !== "components" && name !== "graph" && !state.has(name)),
    );
  const other = settingsOf(rest(before), rest(after));
  const looks = nodes.length + edges.length + other.length === 0 && diff(before, after).length > 0;
  return { nodes, edges, other, looks };
}

function settingsOf(before: Record<string, unknown>, after: Record<string, unknown>): Setting[] {
  const names = new Set(
    diff(before, after).flatMap(({ path }) =>
      path.length > 0 ? [String(path[0])] : [...Object.keys(before), ...Object.keys(after)],
    ),
  );
  return [...names].flatMap((name) => {
    const [old, now] = [own(before, name), own(after, name)];
    if (diff(old ?? null, now ?? null).length === 0) return [];
    return [{ name, ...(old === undefined ? {} : { before: old }), ...(now === undefined ? {} : { after: now }) }];
  });
}

function edgesOf(dsl: Dsl): Map<string, [from: string, to: string]> {
  return new Map(
    Object.entries(dsl.components).flatMap(([from, component]) => {
      const list: unknown = isObject(component) ? component["downstream"] : undefined;
      const targets = Array.isArray(list) ? list.filter((to): to is string => typeof to === "string") : [];
      return targets.map((to): [string, [string, string]] => [JSON.stringify([from, to]), [from, to]]);
    }),
  );
}

/** shown returns a value as text for a text difference; a list of strings becomes paragraphs. */
export function shown(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join("\n\n");
  return JSON.stringify(value, undefined, 2);
}
