// The variables that a node may use: outputs of earlier nodes, and those of the conversation.

import type { CanvasModel, CanvasNode, Specs } from "./drawing.ts";
import { isObject, own, word, type Dsl } from "./dsl.ts";
import { variablesOf } from "./edit/variables.ts";
import { lists } from "./members.ts";

/** Usable is a variable that a text may refer to. */
export interface Usable {
  /** Reference without braces: LLM:A@content, sys.query. */
  ref: string;
  /** Name of the node, or of the group of variables. */
  from: string;
  name: string;
  type: string;
  /** Description by its component. */
  about?: string;
  /** Node with this output; absent for variables of the conversation. */
  node?: string;
}

const system: [name: string, type: string][] = [
  ["query", "string"],
  ["user_id", "string"],
  ["principal", "object"],
  ["conversation_turns", "number"],
  ["files", "array<file>"],
  ["history", "array<string>"],
  ["date", "string"],
];

/** usable lists the variables that a node may refer to, the nearest first. */
export function usable(dsl: Dsl, model: CanvasModel, specs: Specs, id: string): Usable[] {
  const self = model.byId.get(id);
  const around = self?.role === "group" ? [self.id] : []; // its own variables, for its conditions
  const nodes = [...around, ...before(model, id)].flatMap((each) => outputsOf(model.byId.get(each), specs));
  const own_ = variablesOf(dsl).map(({ name, type }) => ({ ref: `env.${name}`, from: "env", name, type }));
  return [...nodes, ...system.map(([name, type]) => ({ ref: `sys.${name}`, from: "sys", name, type })), ...own_];
}

// before lists the nodes that may have run when a node runs, the nearest first: predecessors of the
// node, of its agents and of the groups around it.
function before(model: CanvasModel, id: string): string[] {
  const found = new Set([id]);
  const sources = lists(model.edges.map(({ source, target }) => [target, source] as const));
  for (const at of found) {
    for (const source of sources.get(at) ?? []) found.add(source);
    const parent = model.byId.get(at)?.parent;
    if (parent === undefined) continue;
    found.add(parent);
    for (const node of model.nodes) if (node.role === "item" && node.parent === parent) found.add(node.id);
  }
  found.delete(id);
  return [...found];
}

/** plainly returns the description of an output without the members of its value. */
export function plainly(description: string | undefined): string {
  return (description ?? "").replaceAll(/:? \{[^{}]*\}/g, "");
}

/**
 * outputsOf lists the outputs of a component, those that the node declares, and the fields of its
 * form.
 */
export function outputsOf(node: CanvasNode | undefined, specs: Specs): Usable[] {
  if (!node || node.off || node.role === "note" || node.role === "tool" || node.role === "agent") return [];
  const types = new Map<string, string>();
  const start = node.spec?.role === "start" && !/webhook/i.test(word(node.params["mode"] ?? ""));
  const outputs = specs.get(node.kind)?.outputs ?? [];
  const asked = outputs.some(({ name }) => name === "*"); // its other outputs are parts of a web request
  for (const { name, type = "any" } of outputs) if (!/^(\*|_)/.test(name) && !(asked && start)) types.set(name, type);
  for (const [name, type] of namedIn(node, specs)) types.set(name, type);
  if (node.params["on_error"] === "collect") types.set("errors", "array<object>");
  const declared = isObject(node.params["outputs"]) ? node.params["outputs"] : {};
  for (const [name, entry] of Object.entries(declared)) {
    if (name.startsWith("_")) continue;
    const { type }: Record<string, unknown> = isObject(entry) ? entry : {};
    types.set(name, typeof type === "string" ? type : (types.get(name) ?? "any"));
  }
  if (asked) {
    const inputs = isObject(node.params["inputs"]) ? node.params["inputs"] : {};
    for (const [name, field] of Object.entries(inputs))
      types.set(name, isObject(field) ? word(own(field, "type") ?? "any") : "any");
  }
  const about = new Map(outputs.map(({ name, description }) => [name, plainly(description)]));
  return [...types].map(([name, type]) => ({
    ref: `${node.id}@${name}`, from: node.name, name, type, node: node.id, about: about.get(name) ?? "",
  }));
}

// namedIn lists the outputs that rows of a node's params name, such as the variables of a loop.
function namedIn(node: CanvasNode, specs: Specs): [name: string, type: string][] {
  return Object.entries(specs.get(node.kind)?.params?.properties ?? {}).flatMap(([param, { items }]) => {
    const members = Object.entries(items?.properties ?? {});
    const naming = members.find(([, { "x-easel": tag }]) => tag?.output !== undefined);
    const [name, type] = [naming?.[0], naming?.[1]["x-easel"]?.output];
    const rows = node.params[param];
    if (name === undefined || type === undefined || !Array.isArray(rows)) return [];
    return rows.filter(isObject).flatMap((row): [string, string][] => {
      const named = row[name];
      return typeof named === "string" && named !== "" ? [[named, word(row[type] ?? "any")]] : [];
    });
  });
}
