// A draft collects the changes of one act, each based on the document after the previous ones. Acts
// keep `components`, which runs, and `graph`, which is drawn, consistent.

import type { Role } from "../drawing.ts";
import { isObject, own, type Component, type Dsl, type Params } from "../dsl.ts";
import { apply, find, removing, same, setting, type Change, type Path, type Step } from "../patch.ts";
import { toolEntries } from "../members.ts";

/** Draft is a document while an act changes it. */
export class Draft {
  dsl: Dsl;
  readonly changes: Change[] = [];

  constructor(dsl: Dsl) {
    this.dsl = dsl;
  }

  /** get returns the value at a path, or undefined. */
  get(path: Path): unknown {
    return find(this.dsl, path);
  }

  /** set replaces or adds the value at a path. */
  set(path: Path, value: unknown): void {
    if (same(this.get(path), value)) return;
    this.#make(setting(this.dsl, path, value));
  }

  /** insert adds an element to a list: at an index, or at the end. */
  insert(path: Path, value: unknown, at?: number): void {
    const list = this.get(path);
    const end = Array.isArray(list) ? list.length : 0;
    const named = isObject(value) && typeof value["id"] === "string" ? value["id"] : undefined;
    const id = named !== undefined && this.get([...path, named]) === undefined ? named : undefined;
    const step: Step = id ?? at ?? end;
    this.#make({ path: [...path, step], after: value, ...(id !== undefined && at !== undefined ? { at } : {}) });
  }

  /** remove removes a value; a missing one needs no change. */
  remove(path: Path): void {
    if (this.get(path) !== undefined) this.#make(removing(this.dsl, path));
  }

  /** take applies changes that were computed elsewhere, such as a difference of documents. */
  take(changes: readonly Change[]): void {
    for (const change of changes) this.#make(change);
  }

  component(id: string): Component | undefined {
    return own(this.dsl.components, id);
  }

  params(id: string): Params {
    return this.component(id)?.obj.params ?? {};
  }

  /** pictures returns the nodes of `graph`, of any type. */
  pictures(): Params[] {
    return this.#listed("nodes");
  }

  edges(): Params[] {
    return this.#listed("edges");
  }

  picture(id: string): Params | undefined {
    return this.pictures().findLast((each) => each["id"] === id);
  }

  /** draw adds a node to `graph`. */
  draw(picture: Params): void {
    this.#graph("nodes");
    this.insert(["graph", "nodes"], picture);
  }

  /** wire adds an edge to `graph`. */
  wire(edge: Params): void {
    this.#graph("edges");
    if (!this.edges().some(({ id }) => id === edge["id"])) this.insert(["graph", "edges"], edge);
  }

  /** unwire removes the edges of `graph` that pass a test. */
  unwire(test: (edge: Params) => boolean): void {
    const list = this.get(["graph", "edges"]);
    if (!Array.isArray(list)) return;
    for (let at = list.length - 1; at >= 0; at--) {
      const edge: unknown = list[at];
      if (isObject(edge) && test(edge)) this.remove(["graph", "edges", at]);
    }
  }

  /** list returns the strings of a list, or of a single string. */
  list(path: Path): string[] {
    const value = this.get(path);
    if (typeof value === "string") return value === "" ? [] : [value];
    return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  }

  /** include adds a string to a list. */
  include(path: Path, value: string): void {
    const list = this.list(path);
    if (!list.includes(value)) this.set(path, [...list, value]);
  }

  /** exclude removes a string from a list. */
  exclude(path: Path, value: string): void {
    const list = this.list(path);
    if (list.includes(value))
      this.set(
        path,
        list.filter((each) => each !== value),
      );
  }

  #make(change: Change): void {
    this.dsl = apply(this.dsl, [change]);
    this.changes.push(change);
  }

  #graph(member: "nodes" | "edges"): void {
    if (!isObject(this.dsl.graph)) this.set(["graph"], { nodes: [], edges: [] });
    if (!Array.isArray(this.get(["graph", member]))) this.set(["graph", member], []);
  }

  #listed(member: string): Params[] {
    const list = this.get(["graph", member]);
    return Array.isArray(list) ? list.filter(isObject) : [];
  }
}

/**
 * paramsPath leads to the params of a node, or of an agent that is a tool of another; undefined for
 * other boxes.
 */
export function paramsPath(dsl: Dsl, id: string): Path | undefined {
  if (own(dsl.components, id)) return ["components", id, "obj", "params"];
  for (const [owner, component] of Object.entries(dsl.components)) {
    const found = toolPath(component.obj.params, id);
    if (found) return ["components", owner, "obj", "params", ...found, "params"];
  }
  return undefined;
}

// toolPath leads from the params of an agent to the tool with an id, through agents inside it.
function toolPath(params: Params, id: string, depth = 0): Path | undefined {
  if (!Array.isArray(params["tools"]) || depth > 20) return undefined;
  for (const tool of toolEntries(params)) {
    const at = params["tools"].indexOf(tool);
    if (tool["id"] === id) return ["tools", at];
    const inner = isObject(tool["params"]) ? toolPath(tool["params"], id, depth + 1) : undefined;
    if (inner) return ["tools", at, "params", ...inner];
  }
  return undefined;
}

/** paramOf returns a param of a node, or of an agent that is a tool of another. */
export function paramOf(dsl: Dsl, id: string, name: string): unknown {
  const path = paramsPath(dsl, id);
  return path && find(dsl, [...path, name]);
}

/** setParam changes a param, and its copy in `graph`. */
export function setParam(draft: Draft, id: string, name: string, value: unknown): void {
  const path = paramsPath(draft.dsl, id);
  if (!path) return;
  if (value === undefined) draft.remove([...path, name]);
  else draft.set([...path, name], value);
  const form = draft.get(["graph", "nodes", id, "data", "form"]);
  if (!isObject(form)) return;
  if (Object.hasOwn(form, name)) {
    if (value === undefined) draft.remove(["graph", "nodes", id, "data", "form", name]);
    else draft.set(["graph", "nodes", id, "data", "form", name], value);
  }
}

/** pictured are the roles of boxes that exist in `graph` only. */
export const pictured: ReadonlySet<Role> = new Set(["note", "tool", "agent"]);
