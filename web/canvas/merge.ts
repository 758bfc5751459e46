// Three-way merge of documents: the changes of two people since a common revision. Changes of
// different settings go together; a setting that both changed is a conflict, which a person
// decides.

import { Draft } from "./edit/draft.ts";
import { isObject, own, type Dsl } from "./dsl.ts";
import { same, type Path, type Step } from "./patch.ts";

/** Conflict is one thing that both sides changed. */
export interface Conflict {
  key: string;
  /** Node that it belongs to; absent for the canvas itself. */
  node?: string;
  /** Setting; absent when one side removed what the other changed. */
  name?: string;
  /** Values; undefined where the setting is absent. */
  base: unknown;
  mine: unknown;
  theirs: unknown;
  /** Paths in the document, which repeats settings in `graph`. */
  places: Place[];
}

interface Place {
  path: Path;
  mine: unknown;
}

/** Merged is the other document with our changes, apart from those in conflict. */
export interface Merged {
  dsl: Dsl;
  conflicts: Conflict[];
  /** Nodes of all three documents. */
  nodes: ReadonlySet<string>;
}

/** merge applies the changes of `mine` since `base` to `theirs`. */
export function merge(base: Dsl, mine: Dsl, theirs: Dsl): Merged {
  const merger = new Merger(base, mine, theirs);
  merger.run();
  return { dsl: merger.draft.dsl, conflicts: [...merger.conflicts.values()], nodes: merger.nodes };
}

/**
 * settle returns the merged document in which the conflicts with the given keys have our values.
 */
export function settle({ dsl, conflicts, nodes }: Merged, ours: ReadonlySet<string>): Dsl {
  const draft = new Draft(dsl);
  for (const { key, places } of conflicts) if (ours.has(key)) for (const place of places) put(draft, place);
  prune(draft, nodes);
  return draft.dsl;
}

class Merger {
  readonly draft: Draft;
  readonly conflicts = new Map<string, Conflict>();
  readonly nodes = new Set<string>();
  readonly #base: Dsl;
  readonly #mine: Dsl;
  readonly #theirs: Dsl;
  readonly #apart = new Set<string>(); // nodes that are added, removed or in conflict as a whole

  constructor(base: Dsl, mine: Dsl, theirs: Dsl) {
    [this.#base, this.#mine, this.#theirs] = [base, mine, theirs];
    this.draft = new Draft(theirs);
  }

  run(): void {
    const documents = [this.#base, this.#mine, this.#theirs];
    const boxes = documents.map(boxesOf);
    for (const id of boxes.flatMap((each) => [...each.keys()])) this.nodes.add(id);
    for (const id of this.nodes) {
      this.#node(id, boxes.map((each) => each.get(id)) as [Box?, Box?, Box?]);
    }
    this.#walk([], this.#base, this.#mine, this.#theirs);
    prune(this.draft, this.nodes);
  }

  // node handles a node that one side removed: it is removed unless the other side changed its
  // behaviour.
  #node(id: string, [base, mine, theirs]: [Box?, Box?, Box?]): void {
    if (!base || (mine && theirs)) return;
    this.#apart.add(id);
    if (!mine && !theirs) return;
    const left = (mine ?? theirs) as Box;
    const places = left.places.map(({ path, value }) => ({ path, mine: mine && value }));
    if (same(base.content, left.content)) {
      if (!mine) for (const place of places) put(this.draft, place);
      return;
    }
    const values = { base: base.content, mine: mine?.content, theirs: theirs?.content };
    this.conflicts.set(id, { key: id, node: id, ...values, places });
  }

  #walk(path: Path, base: unknown, mine: unknown, theirs: unknown): void {
    if (this.#isApart(path) || same(base, mine) || same(mine, theirs)) return;
    if (path.length > 0 && same(base, theirs)) { // the document itself has no place
      put(this.draft, { path, mine });
      return;
    }
    const names = membersOf(base, mine, theirs);
    if (names) {
      const [b, m, t] = [recordOf(base), recordOf(mine), recordOf(theirs)];
      for (const name of names) this.#walk([...path, name], own(b, name), own(m, name), own(t, name));
      return;
    }
    if (isState(path)) return;
    const list = joined(path, base, mine, theirs);
    if (list) put(this.draft, { path, mine: list });
    else if (isLooks(path)) {
      if (mine !== undefined && theirs !== undefined) put(this.draft, { path, mine });
    } else this.#conflict(path, base, mine, theirs);
  }

  #isApart(path: Path): boolean {
    const [first, second, third] = path;
    if (first === "components") return this.#apart.has(String(second));
    return first === "graph" && second === "nodes" && this.#apart.has(String(third));
  }

  #conflict(path: Path, base: unknown, mine: unknown, theirs: unknown): void {
    const { node, name } = subjectOf(path);
    const key = JSON.stringify([node ?? "", name]);
    const place = { path, mine };
    const known = this.conflicts.get(key);
    if (known) known.places.push(place);
    else {
      const of = node === undefined ? {} : { node };
      this.conflicts.set(key, { key, ...of, name, base, mine, theirs, places: [place] });
    }
  }
}

/** Box is a node in all its places. */
interface Box {
  /** The settings: no wiring, position or size. */
  content: unknown;
  places: { path: Path; value: unknown }[];
}

function boxesOf(dsl: Dsl): Map<string, Box> {
  const boxes = new Map<string, Box>();
  for (const [id, component] of Object.entries(dsl.components)) {
    boxes.set(id, { content: component.obj, places: [{ path: ["components", id], value: component }] });
  }
  const pictures = isObject(dsl.graph) && Array.isArray(dsl.graph["nodes"]) ? dsl.graph["nodes"] : [];
  for (const picture of pictures as unknown[]) {
    if (!isObject(picture) || typeof picture["id"] !== "string") continue;
    const id = picture["id"];
    const box = boxes.get(id) ?? { content: picture["data"], places: [] };
    box.places.push({ path: ["graph", "nodes", id], value: picture });
    boxes.set(id, box);
  }
  return boxes;
}

// membersOf names the members of values that merge member by member: objects, and lists whose
// elements have ids.
function membersOf(base: unknown, mine: unknown, theirs: unknown): string[] | undefined {
  const records = [mine, theirs, ...(base === undefined ? [] : [base])].map(recordOf);
  if (records.some((each) => each === undefined)) return undefined;
  const lists = [base, mine, theirs].filter(Array.isArray).length;
  if (lists > 0 && lists < records.length) return undefined;
  return [...new Set(records.flatMap((each) => Object.keys(each as object)))];
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(value)) return isObject(value) ? value : undefined;
  const record: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const each of value as unknown[]) {
    if (!isObject(each) || typeof each["id"] !== "string" || each["id"] in record) return undefined;
    record[each["id"]] = each;
  }
  return record;
}

// joined merges lists of strings: the wiring of a node, and lists to which both sides only added.
function joined(path: Path, base: unknown, mine: unknown, theirs: unknown): string[] | undefined {
  const lists = [base ?? [], mine, theirs];
  if (!lists.every(isSet)) return undefined;
  const [b, m, t] = lists as [string[], string[], string[]];
  const wiring = path[0] === "components" && path.length === 3 && /^(down|up)stream$/.test(String(path[2]));
  const grew = b.every((each) => m.includes(each) && t.includes(each));
  if (!wiring && !grew) return undefined;
  const added = m.filter((each) => !b.includes(each) && !t.includes(each));
  return [...t.filter((each) => m.includes(each) || !b.includes(each)), ...added];
}

function isSet(value: unknown): value is string[] {
  if (!Array.isArray(value) || new Set(value).size < value.length) return false;
  return value.every((each) => typeof each === "string");
}

// isLooks reports whether a path leads into the drawing of a node, where the last writer counts.
function isLooks(path: Path): boolean {
  return path[0] === "graph" && path.length > 3 && path[3] !== "data";
}

const states = new Set<Step>([
  "history", "path", "retrieval", "memory", "messages", "reference", "task_id", "waiting",
]);

// isState reports whether a path leads to a part of a document that runs write.
function isState([first = "", second]: Path): boolean {
  return states.has(first) || (first === "globals" && typeof second === "string" && second.startsWith("sys."));
}

// subjectOf names the setting that a path leads to; `graph` repeats those of nodes.
function subjectOf(path: Path): { node?: string; name: string } {
  const [first, second, third, ...rest] = path;
  if (first === "components" && third === "obj" && rest[0] === "params" && rest.length > 1) {
    return { node: String(second), name: rest.slice(1).join(".") };
  }
  if (first === "components") return { node: String(second), name: [third, ...rest].join(".") };
  if (first !== "graph" || second !== "nodes" || third === undefined) return { name: path.join(".") };
  const inside = rest[0] === "data" ? rest.slice(rest[1] === "form" && rest.length > 2 ? 2 : 1) : rest;
  return { node: String(third), name: inside.join(".") };
}

function put(draft: Draft, { path, mine }: Place): void {
  if (mine === undefined) draft.remove(path);
  else draft.set(path, mine);
}

// prune removes edges to removed nodes.
function prune(draft: Draft, nodes: ReadonlySet<string>): void {
  const there = new Set([...Object.keys(draft.dsl.components), ...draft.pictures().map(({ id }) => id)]);
  const isGone = (id: unknown): boolean => typeof id === "string" && nodes.has(id) && !there.has(id);
  for (const [id, component] of Object.entries(draft.dsl.components)) {
    for (const member of ["downstream", "upstream"] as const) {
      const list: unknown = component[member];
      if (!Array.isArray(list) || !list.some(isGone)) continue;
      draft.set(["components", id, member], list.filter((each) => !isGone(each)));
    }
  }
  draft.unwire(({ source, target }) => isGone(source) || isGone(target));
}
