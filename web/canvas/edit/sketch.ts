// A canvas as a language model reads and changes it: steps with their settings and successors.
// Drawings, state and secrets are left out; changes of the sketch become edits.

import { isObject, own, word, type Dsl, type Params } from "../dsl.ts";
import { picturesOf } from "../picture.ts";
import type { CanvasModel, Specs } from "../drawing.ts";
import { sizeOf } from "../places.ts";
import { same } from "../patch.ts";
import { setBranches } from "./branches.ts";
import { Draft, setParam } from "./draft.ts";
import { nameNode, putNode, removeNodes, startingParams, type Place } from "./nodes.ts";
import { branchTargets, connect, disconnect, setSetting } from "./wires.ts";

/** SketchStep is a step of a sketch. */
export interface SketchStep {
  component: string;
  name: string;
  params: Params;
  /** Steps that follow it; those of branches are in the params. */
  next: string[];
  /** The group around it. */
  inside?: string;
}

/** Sketch is a canvas by the ids of its steps. */
export interface Sketch {
  steps: Record<string, SketchStep>;
}

/** SketchError is the reason why a changed sketch cannot become a canvas. */
export class SketchError extends Error {}

/** hidden stands for a value that may be a secret. */
export const hidden = "(hidden)";

const mostSteps = 200;
const longestName = 120;
const mayBeSecret = /key|secret|password|passwd|token|authorization|credential|cookie/i;
const secretWidgets: ReadonlySet<string> = new Set([
  "secret", "webhook", "headers", "request-headers", "connection", "database",
]);

/** sketchOf returns the sketch of a document. */
export function sketchOf(dsl: Dsl, specs: Specs, { edges }: CanvasModel): Sketch {
  const pictures = picturesOf(dsl);
  const steps = Object.entries(dsl.components).map(([id, { obj, parent_id: inside }]): [string, SketchStep] => {
    const spec = specs.get(obj.component_name);
    const params = Object.entries(obj.params ?? {}).map(([name, value]) => {
      const { widget, hidden: unseen } = spec?.params?.properties?.[name]?.["x-easel"] ?? {};
      return [name, concealed(name, value, unseen === true || secretWidgets.has(widget ?? ""))];
    });
    return [id, {
      component: obj.component_name,
      name: pictures.get(id)?.name || id,
      params: Object.fromEntries(params) as Params,
      next: edges.flatMap((edge) =>
        edge.source === id && edge.role === "flow" && edge.branch === undefined ? [edge.target] : []),
      ...(typeof inside === "string" ? { inside } : {}),
    }];
  });
  return { steps: Object.fromEntries(steps) };
}

// concealed replaces strings that may be secrets; names of secrets of the host stay.
function concealed(name: string, value: unknown, secret: boolean): unknown {
  const isSecret = secret || mayBeSecret.test(name);
  if (typeof value === "string") return isSecret && value !== "" && !/^\{\{\s*secret:/.test(value) ? hidden : value;
  if (Array.isArray(value)) return value.map((each) => concealed(name, each, secret));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, concealed(key, each, isSecret)]));
}

// revealed restores hidden values at their places; `shown` is the old value as the model saw it.
function revealed(value: unknown, shown: unknown, old: unknown): unknown {
  if (value === hidden) {
    if (shown !== hidden) throw new SketchError(`${hidden} stands for a value that was not there before`);
    return old;
  }
  if (Array.isArray(value)) {
    const [was, values] = [shown, old].map((each) => (Array.isArray(each) ? (each as unknown[]) : []));
    return value.map((each, i) => {
      const from = holdsHidden(each) ? origin(value, was ?? [], i) : i;
      return revealed(each, was?.[from], values?.[from]);
    });
  }
  if (!isObject(value)) return value;
  const member = (of: unknown, key: string): unknown => (isObject(of) ? own(of, key) : undefined);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, revealed(each, member(shown, key), member(old, key))]),
  );
}

function holdsHidden(value: unknown): boolean {
  return JSON.stringify(value).includes(hidden);
}

// origin finds the old index of a list's element, so that a secret never goes to another entry.
function origin(list: readonly unknown[], was: readonly unknown[], i: number): number {
  const equal = was.flatMap((each, k) => (same(each, list[i]) ? [k] : []));
  const [only] = equal;
  if (only !== undefined && equal.length === 1) return only;
  const isPlaced = equal.length === 0
    ? list.length === was.length && !list.some((each) => same(each, was[i]))
    : list.length >= was.length && equal.includes(i);
  if (isPlaced) return i;
  throw new SketchError(`it is not clear which value ${hidden} stands for in a list that was changed: write it out`);
}

/** read checks that a value is a sketch. It throws a SketchError. */
export function read(value: unknown, specs: Specs): Sketch {
  const steps = isObject(value) ? value["steps"] : undefined;
  if (!isObject(steps)) throw new SketchError("steps: expected an object of steps by id");
  const entries = Object.entries(steps);
  if (entries.length > mostSteps) throw new SketchError(`steps: more than ${mostSteps}`);
  const known = new Set(Object.keys(steps));
  const read = entries.map(([id, step]) => [id, readStep(id, step, known, specs)] as const);
  return { steps: Object.fromEntries(read) };
}

function readStep(id: string, step: unknown, known: ReadonlySet<string>, specs: Specs): SketchStep {
  const bad = (problem: string): SketchError => new SketchError(`step ${JSON.stringify(id.slice(0, 80))}: ${problem}`);
  if (!/^[\p{L}\p{N}_:. -]{1,80}$/u.test(id)) throw bad("an id has at most 80 letters, digits and _ : . -");
  if (!isObject(step)) throw bad("is not an object");
  const { component, name = id, params = {}, next = [], inside } = step;
  if (typeof component !== "string" || !specs.has(component))
    throw bad(`unknown component ${JSON.stringify(component ?? null).slice(0, 80)}`);
  if (typeof name !== "string") throw bad("name is not a string");
  if (!isObject(params)) throw bad("params is not an object");
  if (!Array.isArray(next)) throw bad("next is not a list of ids");
  for (const to of next)
    if (typeof to !== "string" || !known.has(to)) throw bad(`next names no step: ${JSON.stringify(to).slice(0, 80)}`);
  if (inside !== undefined && (typeof inside !== "string" || !known.has(inside))) throw bad("inside names no step");
  // Control and direction characters would let a name pose as other text.
  const clean = name.replace(/[\p{Cc}\p{Cf}]/gu, "").trim().slice(0, longestName) || id;
  return { component, name: clean, params, next: next as string[], ...(inside === undefined ? {} : { inside }) };
}

/** redraw edits a draft from one sketch of it to another. It throws a SketchError. */
export function redraw(draft: Draft, specs: Specs, model: CanvasModel, before: Sketch, after: Sketch): void {
  const gone = Object.keys(before.steps).filter((id) => !Object.hasOwn(after.steps, id));
  removeNodes(draft, specs, model, gone);
  for (const id of gone) if (draft.component(id)) throw new SketchError(`step "${id}" cannot be removed`);
  const spots = placesOf(model, gone);
  for (const [id, step] of Object.entries(after.steps)) {
    const old = own(before.steps, id);
    if (!old) {
      checkGroup(specs, id, after);
      add(draft, specs, id, step, spotOf(spots, id, after));
    } else if (old.component !== step.component)
      throw new SketchError(`step "${id}" is of ${old.component}: remove it and add another`);
    else if (old.inside !== step.inside) throw new SketchError(`step "${id}" cannot move to another group`);
    else if (old.name !== step.name) nameNode(draft, id, step.name);
  }
  for (const [id, step] of Object.entries(after.steps)) {
    settings(draft, specs, id, own(before.steps, id), step);
    follow(draft, specs, id, step.next);
  }
}

// checkGroup refuses a new step in itself or in a step that is not a group: it could not be drawn.
function checkGroup(specs: Specs, id: string, { steps }: Sketch): void {
  const around = new Set([id]);
  for (let group = steps[id]?.inside; group !== undefined; group = steps[group]?.inside) {
    if (around.has(group)) throw new SketchError(`step "${id}" is inside itself`);
    const { component = "" } = steps[group] ?? {};
    if (specs.get(component)?.role !== "container")
      throw new SketchError(`step "${id}" is inside "${group}", which is no group`);
    around.add(group);
  }
}

function add(draft: Draft, specs: Specs, id: string, step: SketchStep, place: Place): void {
  if (draft.component(id) || draft.picture(id)) throw new SketchError(`the id "${id}" is taken`);
  const { component: kind, name } = step;
  const spec = specs.get(kind);
  putNode(draft, { id, kind, spec, name, params: startingParams(spec) }, place);
}

function settings(draft: Draft, specs: Specs, id: string, old: SketchStep | undefined, step: SketchStep): void {
  const branches = specs.get(step.component)?.branches ?? [];
  const stored = draft.component(id)?.obj.params ?? {};
  const names = old ? new Set([...Object.keys(old.params), ...Object.keys(step.params)]) : Object.keys(step.params);
  for (const name of names) {
    const [was, next] = [own(old?.params, name), own(step.params, name)];
    if (old && same(was, next)) continue;
    const value = next === undefined ? undefined : revealed(next, was, own(stored, name));
    const branch = branches.find(({ param }) => param === name);
    if (branch) setBranches(draft, specs, id, branch, value ?? {});
    else if (value === undefined) setParam(draft, id, name, undefined);
    else setSetting(draft, id, name, value);
  }
}

function follow(draft: Draft, specs: Specs, id: string, next: readonly string[]): void {
  const spec = specs.get(draft.component(id)?.obj.component_name ?? "");
  const byBranch = new Set(branchTargets(draft, spec, id));
  const now = draft.list(["components", id, "downstream"]).filter((to) => !byBranch.has(to));
  for (const to of now) if (!next.includes(to)) disconnect(draft, specs, id, to);
  for (const to of next) {
    if (to === id) throw new SketchError(`step "${id}" follows itself`);
    if (!now.includes(to)) connect(draft, specs, id, to);
  }
}

interface Spot extends Place { width: number; height: number }

function placesOf(model: CanvasModel, gone: readonly string[]): Map<string, Spot> {
  const left = model.nodes.filter(({ id }) => !gone.includes(id));
  return new Map(left.map((node) => {
    const { width, height } = sizeOf(node);
    const { x, y, parent } = node;
    return [node.id, { x, y, width, height, ...(parent === undefined ? {} : { parent }) }];
  }));
}

const gap = 60;
const box = { width: 240, height: 120 };

// spotOf finds a free place for a new step: right of one that leads to it, below other boxes.
function spotOf(spots: Map<string, Spot>, id: string, { steps }: Sketch): Place {
  const parent = steps[id]?.inside;
  const around = [...spots.values()].filter((spot) => spot.parent === parent);
  const leads = ([, step]: [string, SketchStep]): boolean =>
    step.next.includes(id) || JSON.stringify(step.params).includes(JSON.stringify(id));
  const [before = ""] = Object.entries(steps).find((each) => spots.has(each[0]) && leads(each)) ?? [];
  const from = spots.get(before);
  const beside = from && from.parent === parent;
  const spot: Spot = {
    ...box, ...(parent === undefined ? {} : { parent }),
    x: beside ? from.x + from.width + gap : Math.max(0, ...around.map(({ x, width }) => x + width + gap)),
    y: beside ? from.y : Math.min(...around.map(({ y }) => y), parent === undefined ? 0 : 110),
  };
  const meets = (other: Spot): boolean =>
    spot.x < other.x + other.width && other.x < spot.x + spot.width &&
    spot.y < other.y + other.height && other.y < spot.y + spot.height;
  for (let hit = around.find(meets); hit; hit = around.find(meets)) spot.y = hit.y + hit.height + gap / 2;
  spots.set(id, spot);
  return { x: spot.x, y: spot.y, ...(parent === undefined ? {} : { parent }) };
}

/** catalogue describes components for a model, one line each. */
export function catalogue(specs: Specs, most: number): string {
  const usable = [...new Set(specs.values())].filter(({ pipeline, missing }) => !pipeline && missing === undefined);
  const lines = usable.map((spec) => {
    const params = Object.entries(spec.params?.properties ?? {}).flatMap(([name, schema]) => {
      const { section = "main", hidden: unseen, options } = schema["x-easel"] ?? {};
      if (unseen || section === "advanced" || section === "fail") return [];
      const values = options?.map(({ value }) => value).join("|");
      return [`${name}:${values ?? schema.$comment ?? word(schema.type ?? "any")}`];
    });
    const outputs = (spec.outputs ?? []).map(({ name }) => name).filter((name) => !/^[_*]/.test(name));
    const branches = (spec.branches ?? []).map(({ param, to }) => (to === undefined ? param : `${param}.*.${to}`));
    const role = spec.role ? ` [${spec.role}]` : "";
    const leads = branches.length > 0 ? `; branches lead on by ${branches.join(", ")}` : "";
    return `${spec.name}${role}: ${spec.description ?? ""} params ${params.join(", ") || "-"};` +
      ` outputs ${outputs.join(", ") || "-"}${leads}`;
  });
  return lines.join("\n").slice(0, most);
}
