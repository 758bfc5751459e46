// The operations on the open canvas, each as one step of undo. Views call these; the rules are in
// canvas/edit.

import { aligned, type Alignment } from "../canvas/edit/align.ts";
import { setBranches } from "../canvas/edit/branches.ts";
import { copy, paste, read, written } from "../canvas/edit/clip.ts";
import { paramOf, setParam, type Draft } from "../canvas/edit/draft.ts";
import { enclose, groupAt, grow, origin } from "../canvas/edit/groups.ts";
import * as nodes from "../canvas/edit/nodes.ts";
import { settle, type Choices } from "../canvas/edit/resources.ts";
import { addNote, writeNote } from "../canvas/edit/notes.ts";
import { setOrder, type Order } from "../canvas/edit/order.ts";
import { typedAt } from "../canvas/edit/steps.ts";
import { attach, detach } from "../canvas/edit/tools.ts";
import { nameOutput } from "../canvas/edit/outputs.ts";
import { nameVariable, removeVariable, setVariable, type Variable } from "../canvas/edit/variables.ts";
import { connect, disconnect, refusal, setSetting, type Refusal } from "../canvas/edit/wires.ts";
import type { CanvasModel, CanvasNode, Specs } from "../canvas/drawing.ts";
import { isObject, type Dsl } from "../canvas/dsl.ts";
import { sizeOf, type Places } from "../canvas/places.ts";

/** Drawn is an open canvas with its picture. */
interface Drawn {
  dsl: Dsl;
  model: CanvasModel;
}

/** Editable is the owner of the open canvas. */
export interface Editable {
  readonly specs: { get(): Specs };
  readonly document: { get(): Drawn | undefined };
  act<T>(change: (draft: Draft, document: Drawn) => T, key?: string): T | undefined;
  /** drawing returns the picture of a document that an act is making. */
  drawing(dsl: Dsl): CanvasModel;
  /** layout returns the engine's places for the open canvas. */
  layout(): Promise<Places>;
}

/** Point is a place on the whole plane. */
export interface Point {
  x: number;
  y: number;
}

/** Wire names an edge. */
export interface Wire {
  source: string;
  target: string;
  branch?: string;
}

/** Spot is the position of a new node. */
export interface Spot {
  at?: Point;
  /** Somewhere near this point. */
  near?: Point;
  /** Node, and branch, that leads to it. */
  after?: { node: string; branch?: string };
  /** Edge that it goes into. */
  between?: Wire;
}

const gap = 80;

/** Editing changes the canvas of a session. */
export class Editing {
  readonly #session: Editable;

  constructor(session: Editable) {
    this.#session = session;
  }

  get #specs(): Specs {
    return this.#session.specs.get();
  }

  /** add puts a new node of a component at a spot, and returns its id. */
  add(kind: string, name: string, given: Spot): string | undefined {
    return this.#session.act((draft, { model }) => {
      const specs = this.#specs;
      const start = given.after || given.between ? undefined : onlyStart(model);
      const spot = start === undefined ? given : { ...(given.at ? { at: given.at } : {}), after: { node: start } };
      const before = spot.after?.node ?? spot.between?.source;
      const at = spot.at ?? (spot.near ? free(model, spot.near, undefined) : this.#freePlace(model, before));
      const parent = before === undefined ? groupAt(model, at) : model.byId.get(before)?.parent;
      const around = parent === undefined ? { x: 0, y: 0 } : origin(model, parent);
      const place = { x: at.x - around.x, y: at.y - around.y, ...(parent === undefined ? {} : { parent }) };
      const id = nodes.addNode(draft, specs, kind, unused(model, name), place);
      if (spot.between) {
        nodes.insertBetween(draft, specs, id, spot.between);
        makeRoom(draft, model, spot.between.target, at);
      } else if (spot.after) {
        connect(draft, specs, spot.after.node, id, spot.after.branch);
      }
      this.#grow(draft, [id]);
      return id;
    });
  }

  /** refused returns the reason why an edge may not be drawn, or undefined. */
  refused({ source, target, branch }: Wire): Refusal | undefined {
    const model = this.#session.document.get()?.model;
    return model ? refusal(model, source, target, branch) : "note";
  }

  connect(wire: Wire): Refusal | undefined {
    const refused = this.refused(wire);
    if (refused) return refused;
    this.#session.act((draft) => connect(draft, this.#specs, wire.source, wire.target, wire.branch));
    return undefined;
  }

  /** remove deletes nodes and edges. */
  remove(ids: readonly string[], wires: readonly Wire[] = []): void {
    this.#session.act((draft, { model }) => {
      for (const { source, target, branch } of wires) disconnect(draft, this.#specs, source, target, branch);
      nodes.removeNodes(draft, this.#specs, model, ids);
    });
  }

  /**
   * move moves boxes to places relative to their groups; boxes dropped on a group move into it. It
   * returns the number of edges that could not stay, because they would cross its border.
   */
  move(places: Readonly<Record<string, Point>>, regroup: boolean): number {
    return this.#session.act((draft, document) => {
      nodes.moveNodes(draft, document.model, places);
      const crossed = regroup ? this.#regroup(draft, document, places) : 0;
      this.#grow(draft, Object.keys(places));
      return crossed;
    }) ?? 0;
  }

  // grow enlarges the groups around nodes to the size of their content.
  #grow(draft: Draft, ids: Iterable<string>): void {
    if (draft.changes.length > 0) grow(draft, this.#session.drawing(draft.dsl), ids);
  }

  #regroup(draft: Draft, { model }: Drawn, places: Readonly<Record<string, Point>>): number {
    const moved = this.#session.drawing(draft.dsl);
    // Those that go the same way go together: edges between them cross no border.
    const ways = new Map<string | undefined, string[]>();
    for (const id of Object.keys(places)) {
      const node = moved.byId.get(id);
      if (node?.role !== "node" || node.spec?.role === "start") continue;
      const { width, height } = sizeOf(node);
      const at = origin(moved, id);
      const middle = { x: at.x + width / 2, y: at.y + height / 2 };
      const group = groupAt(moved, middle, new Set(Object.keys(places)));
      if (group !== model.byId.get(id)?.parent) ways.set(group, [...(ways.get(group) ?? []), id]);
    }
    let crossed = 0;
    for (const [group, ids] of ways) {
      const out = enclose(draft, this.#specs, this.#session.drawing(draft.dsl), ids, group);
      crossed += out.crossed;
      const after = this.#session.drawing(draft.dsl);
      for (const { source, target, branch } of out.instead) {
        if (!refusal(after, source, target, branch)) connect(draft, this.#specs, source, target, branch);
      }
    }
    return crossed;
  }

  /** setting changes a setting of the canvas; undefined removes it. */
  setting(name: string, value: unknown): void {
    this.#session.act((draft) => {
      if (value === undefined) draft.remove(["settings", name]);
      else if (isObject(draft.dsl["settings"])) draft.set(["settings", name], value);
      else draft.set(["settings"], { [name]: value });
    });
  }

  /** settings replaces all settings of the canvas, also a value other than an object. */
  settings(value: unknown): void {
    this.#session.act((draft) => draft.set(["settings"], value));
  }

  /** settle replaces models, datasets, servers and components in all steps. */
  settle(choices: Choices): void {
    this.#session.act((draft, { model }) => settle(draft, this.#specs, model, choices));
  }

  resize(id: string, width: number, height: number): void {
    this.#session.act((draft) => nodes.sizeNode(draft, id, width, height));
  }

  align(ids: readonly string[], how: Alignment): void {
    this.#session.act((draft, { model }) => nodes.moveNodes(draft, model, aligned(model, ids, how)));
  }

  /** tidy places nodes by the engine's layout: all, or those that are named. */
  async tidy(ids: readonly string[] = []): Promise<void> {
    const places = await this.#session.layout();
    const only = new Set(ids);
    this.#session.act((draft, { model }) => {
      const chosen = Object.entries(places).filter(([id]) => only.size < 2 || only.has(id));
      const shift = only.size < 2 ? { x: 0, y: 0 } : between(model, chosen);
      nodes.moveNodes(
        draft,
        model,
        Object.fromEntries(chosen.map(([id, { x, y }]) => [id, { x: x + shift.x, y: y + shift.y }])),
      );
      for (const [id, { width, height }] of chosen) if (width && height) nodes.sizeNode(draft, id, width, height);
    });
  }

  /** switch switches nodes off, or on again if all of them are off. */
  switch(ids: readonly string[]): void {
    this.#session.act((draft, { model }) => {
      const off = ids.some((id) => model.byId.get(id)?.off !== true);
      nodes.switchNodes(draft, model, ids, off);
    });
  }

  /** disconnect removes an edge. */
  disconnect({ source, target, branch }: Wire): void {
    this.#session.act((draft) => disconnect(draft, this.#specs, source, target, branch));
  }

  rename(id: string, name: string): void {
    this.#session.act((draft) => nodes.nameNode(draft, id, name), `name of ${id}`);
  }

  /** note adds a note near a point, where no box covers it. */
  note(near: Point, name: string): string | undefined {
    return this.#session.act((draft, { model }) => addNote(draft, name, free(model, near, undefined)));
  }

  write(id: string, text: string): void {
    this.#session.act((draft) => writeNote(draft, id, text), `note ${id}`);
  }

  /** branches replaces the value of a param that holds branches. */
  branches(id: string, param: string, value: unknown): void {
    const spec = this.#session.document.get()?.model.byId.get(id)?.spec;
    const branch = spec?.branches?.find((each) => each.param === param);
    if (!branch) return;
    this.#session.act((draft) => setBranches(draft, this.#specs, id, branch, value), this.#step(id, param, value));
  }

  attach(agent: string, kind: string, name: string): void {
    this.#session.act((draft, { model }) => attach(draft, this.#specs, model, agent, kind, name));
  }

  detach(agent: string, index: number): void {
    this.#session.act((draft) => detach(draft, agent, index));
  }

  /** tool changes a param of a tool of an agent. */
  tool(agent: string, tools: unknown): void {
    this.#session.act((draft) => setParam(draft, agent, "tools", tools), this.#step(agent, "tools", tools));
  }

  // step returns the key of a step of undo: typing in one field is one step, each other change is
  // another.
  #step(id: string, param: string, value: unknown): string {
    const dsl = this.#session.document.get()?.dsl;
    const place = dsl && typedAt(paramOf(dsl, id, param), value);
    return place === undefined ? "" : `${id}/${param}${place}`;
  }

  /** each changes params of several nodes in one step of undo; undefined removes one. */
  each(ids: readonly string[], changes: Record<string, unknown>): void {
    const [[name, value] = ["", undefined], more] = Object.entries(changes);
    const step = more ? "" : this.#step(ids[0] ?? "", name, value);
    this.#session.act((draft) => {
      for (const id of ids) for (const [key, next] of Object.entries(changes)) setSetting(draft, id, key, next);
    }, step && `${ids.join(" ")}/${step}`);
  }

  /** params changes several params of a node; undefined removes one. */
  params(node: string, changes: Record<string, unknown>): void {
    this.#session.act((draft) => {
      for (const [name, value] of Object.entries(changes)) setParam(draft, node, name, value);
    });
  }

  /**
   * copied returns a selection as text for the clipboard; undefined when nothing in it can be
   * copied.
   */
  copied(ids: readonly string[]): string | undefined {
    const document = this.#session.document.get();
    if (!document) return undefined;
    const clip = copy(document.dsl, document.model, ids);
    return clip.nodes.length > 0 ? written(clip) : undefined;
  }

  /** paste inserts a text of the clipboard, and returns the new ids. It throws a ClipError. */
  paste(text: string, at?: Point): string[] {
    const clip = read(text);
    const tops = clip.nodes.filter((node) => !clip.nodes.some(({ id }) => id === node["parentId"]));
    const places = tops.map((node) => node["position"] as Point);
    const corner = { x: Math.min(...places.map(({ x }) => x)), y: Math.min(...places.map(({ y }) => y)) };
    const start = at ? { x: at.x - corner.x, y: at.y - corner.y } : { x: 40, y: 40 };
    const ids = this.#session.act((draft, { model }) => {
      const roots = tops.filter((node) => typeof node["parentId"] !== "string");
      const made = paste(
        draft, this.#specs, clip, clear(model, roots.map((node) => node["position"] as Point), start));
      nameCopies(draft, model, this.#session.drawing(draft.dsl), [...made.values()]);
      return made;
    });
    return [...(ids?.values() ?? [])];
  }

  variable(variable: Variable): void {
    this.#session.act((draft) => setVariable(draft, variable), `variable ${variable.name}`);
  }

  removeVariable(name: string): void {
    this.#session.act((draft) => removeVariable(draft, name));
  }

  /** renameOutput renames a declared output of a node, and the references to it. */
  renameOutput(node: string, from: string, to: string): void {
    this.#session.act((draft) => nameOutput(draft, node, from, to));
  }

  renameVariable(from: string, to: string): void {
    this.#session.act((draft) => nameVariable(draft, from, to));
  }

  order(order: Order): void {
    this.#session.act((draft) => setOrder(draft, order));
  }

  // freePlace finds a free place to the right of a node, or below everything.
  #freePlace(model: CanvasModel, id: string | undefined): Point {
    const node = id === undefined ? undefined : model.byId.get(id);
    if (!node) return { x: 0, y: Math.max(0, ...model.nodes.map((each) => each.y + sizeOf(each).height)) + gap };
    const at = origin(model, node.id);
    return free(model, { x: at.x + sizeOf(node).width + gap, y: at.y }, node.parent);
  }
}

// free returns the nearest place below a point where a new box covers no other.
function free(model: CanvasModel, { x, y }: Point, group: string | undefined): Point {
  const place = { x, y };
  const covered = (each: CanvasNode): boolean => {
    if (each.id === group) return false;
    const there = origin(model, each.id);
    const { width, height } = sizeOf(each);
    return there.x < x + 220 && there.x + width + 20 > x && there.y < place.y + 100 && there.y + height > place.y;
  };
  for (let other = model.nodes.find(covered); other; other = model.nodes.find(covered)) {
    place.y = origin(model, other.id).y + sizeOf(other).height + 40;
  }
  return place;
}

// clear returns an offset, at or below the given one, with which boxes at these points cover no
// other.
function clear(model: CanvasModel, points: readonly Point[], { x, y }: Point): Point {
  const [xs, ys] = [points.map((point) => point.x), points.map((point) => point.y)];
  const [left, right, top] = [Math.min(...xs) + x, Math.max(...xs) + x + 220, Math.min(...ys)];
  const height = Math.max(...ys) - top + 100;
  const tops = model.nodes.filter(({ parent, role }) => parent === undefined && role !== "note");
  const by = { x, y };
  const covered = (each: CanvasNode): boolean => {
    const size = sizeOf(each);
    const isBeside = each.x >= right || each.x + size.width <= left;
    return !isBeside && each.y < top + by.y + height && each.y + size.height > top + by.y;
  };
  for (let other = tops.find(covered); other; other = tops.find(covered)) {
    by.y = other.y + sizeOf(other).height + 20 - top;
  }
  return by;
}

// makeRoom moves the node after a new one, and all its successors, to the right.
function makeRoom(draft: Draft, model: CanvasModel, target: string, at: Point): void {
  const node = model.byId.get(target);
  if (!node) return;
  const missing = at.x + 200 + gap - origin(model, target).x;
  if (missing <= 0) return;
  const moved = model.nodes.filter((each) => each.parent === node.parent && each.x >= node.x && each.role !== "note");
  nodes.moveNodes(draft, model, Object.fromEntries(moved.map(({ id, x, y }) => [id, { x: x + missing, y }])));
}

// between returns the offset of a layout of some nodes that keeps their common position.
function between(model: CanvasModel, places: [string, Point][]): Point {
  const known = places.flatMap(([id, place]) => {
    const node = model.byId.get(id);
    return node ? [{ node, place }] : [];
  });
  const least = (pick: (each: (typeof known)[number]) => number): number => Math.min(...known.map(pick));
  return {
    x: least(({ node }) => node.x) - least(({ place }) => place.x),
    y: least(({ node }) => node.y) - least(({ place }) => place.y),
  };
}

function unused(model: CanvasModel, name: string): string {
  return freeTitle(new Set(model.nodes.map((node) => node.name)), name);
}

// freeTitle returns a title that no step has, with the next number.
function freeTitle(taken: ReadonlySet<string>, name: string): string {
  for (let number = 2, made = name; ; made = `${name} ${number++}`) if (!taken.has(made)) return made;
}

// nameCopies makes the titles of copies unique, except those of the items of groups.
function nameCopies(draft: Draft, before: CanvasModel, after: CanvasModel, ids: readonly string[]): void {
  const taken = new Set(before.nodes.map((node) => node.name));
  for (const id of ids) {
    const node = after.byId.get(id);
    if (!node || (node.role !== "node" && node.role !== "group")) continue;
    const name = taken.has(node.name) ? freeTitle(taken, node.name.replace(/ \d+$/, "")) : node.name;
    taken.add(name);
    if (name !== node.name) nodes.nameNode(draft, id, name);
  }
}

// onlyStart returns the start of a canvas without other steps, which a first step follows.
function onlyStart({ nodes: all }: CanvasModel): string | undefined {
  const [only, more] = all.filter(({ role }) => role !== "note");
  return only?.spec?.role === "start" && more === undefined ? only.id : undefined;
}
