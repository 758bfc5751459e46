// Resources of a host that a canvas names: models, datasets, MCP servers, secrets, and components
// of plugins. One act replaces a resource in all steps.

import type { CanvasModel, Specs } from "../drawing.ts";
import { isObject, own, word, type Dsl, type Params } from "../dsl.ts";
import { diff } from "../diff.ts";
import { toolEntries } from "../members.ts";
import type { Draft } from "./draft.ts";
import { removeNodes } from "./nodes.ts";
import { detach } from "./tools.ts";

/** ResourceKind is a kind of resource that a canvas names. */
export type ResourceKind = "model" | "dataset" | "server" | "secret" | "component";

/** Named maps names of resources to the ids of the steps that use them. */
export type Named = ReadonlyMap<string, readonly string[]>;

/** Choices maps names of resources to others; an empty text removes the use. */
export type Choices = Readonly<Partial<Record<Exclude<ResourceKind, "secret">, ReadonlyMap<string, string>>>>;

const deepest = 40; // levels of a value that is searched

/** resourcesOf lists the resources that the steps of a canvas name, in document order. */
export function resourcesOf(dsl: Dsl): Record<ResourceKind, Named> {
  const found = {
    model: new Map<string, string[]>(), dataset: new Map<string, string[]>(), server: new Map<string, string[]>(),
    secret: new Map<string, string[]>(), component: new Map<string, string[]>(),
  };
  for (const [node, { obj, disabled }] of Object.entries(dsl.components)) {
    if (disabled === true) continue;
    for (const [kind, name] of named(obj)) {
      const nodes = found[kind].get(name) ?? [];
      found[kind].set(name, nodes.includes(node) ? nodes : [...nodes, node]);
    }
  }
  for (const id of fallbacks(dsl)) if (!found.model.has(id)) found.model.set(id, []);
  return found;
}

/** settle replaces the resources of a canvas; steps whose component becomes "" are removed. */
export function settle(draft: Draft, specs: Specs, model: CanvasModel, choices: Choices): void {
  const lost = (kind: unknown): boolean => choices.component?.get(word(kind)) === "";
  const gone = Object.entries(draft.dsl.components).filter(([, { obj }]) => lost(obj.component_name));
  removeNodes(draft, specs, model, gone.map(([id]) => id));
  for (const [id, { obj }] of Object.entries(draft.dsl.components)) detachLost(draft, id, obj.params, lost);
  draft.take(diff(draft.dsl, replaced(draft.dsl, choices)));
}

// detachLost removes tools from an agent and from the agents among its tools.
function detachLost(draft: Draft, agent: string, params: Params, lost: (kind: unknown) => boolean, depth = 0): void {
  if (!Array.isArray(params["tools"]) || depth > deepest) return;
  for (const tool of toolEntries(params)) {
    if (typeof tool["id"] !== "string" || !isObject(tool["params"])) continue;
    detachLost(draft, tool["id"], tool["params"], lost, depth + 1);
  }
  const kinds = params["tools"].map((tool: unknown) => isObject(tool) && lost(tool["component_name"]));
  for (let at = kinds.length - 1; at >= 0; at--) if (kinds[at]) detach(draft, agent, at);
}

function replaced(dsl: Dsl, choices: Choices): Dsl {
  const change = (value: unknown): unknown => rewritten(value, choices);
  const next: Dsl = { ...dsl, components: change(dsl.components) as Dsl["components"] };
  if (isObject(dsl.graph)) next.graph = pictures(dsl, change(dsl.graph) as Params, choices);
  const { settings } = dsl;
  if (isObject(settings) && Array.isArray(settings["fallback_models"])) {
    const models = settings["fallback_models"].map((id: unknown) => choices.model?.get(word(id)) ?? id);
    next["settings"] = { ...settings, fallback_models: models };
  }
  return next;
}

// pictures updates the components of steps in `graph`, which repeats them.
function pictures({ components }: Dsl, graph: Params, { component }: Choices): Params {
  if (!Array.isArray(graph["nodes"]) || !component?.size) return graph;
  const nodes = graph["nodes"].map((node: unknown) => {
    if (!isObject(node) || !isObject(node["data"])) return node;
    const kind = own(components, word(node["id"]))?.obj.component_name ?? "";
    const next = component.get(kind);
    return next ? { ...node, data: { ...node["data"], label: next } } : node;
  });
  return { ...graph, nodes };
}

function rewritten(value: unknown, choices: Choices, depth = 0): unknown {
  if (depth > deepest) return value;
  if (Array.isArray(value)) return value.map((each: unknown) => rewritten(each, choices, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => {
    if (isDatasets(name) && Array.isArray(member)) return [name, chosen(member, choices.dataset)];
    const kept = name === "mcp" && Array.isArray(member)
      ? member.filter((each: unknown) => !isObject(each) || choices.server?.get(word(each["mcp_id"])) !== "")
      : member;
    const kind = typeof kept === "string" && kept !== "" ? kindOf(name) : undefined;
    const next = kind && choices[kind]?.get(kept as string);
    return [name, next || rewritten(kept, choices, depth + 1)];
  }));
}

// chosen replaces datasets in a list, each once.
function chosen(list: readonly unknown[], choices: ReadonlyMap<string, string> = new Map()): unknown[] {
  const next = list.map((id) => (typeof id === "string" ? choices.get(id) ?? id : id));
  return next.filter((id, at) => id === list[at] || (id !== "" && next.indexOf(id) === at && !list.includes(id)));
}

const isDatasets = (name: string): boolean => name === "dataset_ids" || name === "kb_ids";

function kindOf(name: string): "model" | "server" | "component" | undefined {
  if (name === "llm_id") return "model";
  if (name === "mcp_id") return "server";
  return name === "component_name" ? "component" : undefined;
}

// fallbacks returns the models that answer where others fail.
function fallbacks({ settings }: Dsl): string[] {
  const list: unknown = isObject(settings) ? settings["fallback_models"] : undefined;
  return Array.isArray(list) ? list.filter((id): id is string => typeof id === "string" && id !== "") : [];
}

// named finds the resources that a value names. References are left out: they depend on the run.
function* named(value: unknown, name = "", depth = 0): Generator<[kind: ResourceKind, name: string]> {
  if (typeof value === "string") {
    for (const [, secret = ""] of value.matchAll(/\{\{\s*secret:([\w.-]+)/g)) yield ["secret", secret];
    const kind = kindOf(name);
    if (kind && value !== "" && !value.includes("{")) yield [kind, value];
  }
  if (typeof value !== "object" || value === null || depth > deepest) return;
  if (isDatasets(name) && Array.isArray(value)) {
    for (const id of value) if (typeof id === "string" && id !== "" && !id.includes("{")) yield ["dataset", id];
  }
  for (const [member, each] of Object.entries(value)) yield* named(each, member, depth + 1);
}
