// The tools of an agent: components, other agents and MCP servers. They are in its params; `graph`
// draws each agent as a box below it, and all plain tools as one.

import type { ComponentSpec } from "@easel/engine";
import type { CanvasModel, Specs } from "../drawing.ts";
import { isObject, word, type Params } from "../dsl.ts";
import { sizeOf } from "../places.ts";
import { paramsPath, setParam, type Draft } from "./draft.ts";
import { newId } from "./ids.ts";
import { startingParams, takesTools } from "./nodes.ts";

/** callable lists the components that an agent may call. */
export function callable(specs: Specs): ComponentSpec[] {
  return [...new Set(specs.values())].filter((spec) => spec.tool !== undefined);
}

/**
 * attach adds a tool to an agent; a component that calls tools itself becomes another agent.
 */
export function attach(
  draft: Draft,
  specs: Specs,
  model: CanvasModel,
  agent: string,
  kind: string,
  name: string,
): string | undefined {
  const spec = specs.get(kind);
  const path = paramsPath(draft.dsl, agent);
  if (!spec || !path) return undefined;
  const inner = takesTools(spec);
  const id = newId(draft, inner ? kind : "Tool");
  const before = draft.get([...path, "tools"]);
  const tools: unknown[] = Array.isArray(before) ? before : [];
  const entry: Params = {
    component_name: kind,
    name: unused(tools, name, inner ? model.nodes.map((node) => node.name) : []),
    params: startingParams(spec),
    ...(inner ? { id } : {}),
  };
  setParam(draft, agent, "tools", [...tools, entry]);
  const box = model.byId.get(agent);
  const boxes = model.edges.filter((edge) => edge.role === "tool" && edge.source === agent);
  const drawn = boxes.some(({ target }) => model.byId.get(target)?.role === "tool");
  if (!box || (!inner && drawn)) return inner ? id : undefined;
  const place = { x: box.x + boxes.length * 230, y: box.y + sizeOf(box).height + 70 };
  draft.draw({
    id,
    type: inner ? "agentNode" : "toolNode",
    position: place,
    data: { label: inner ? kind : "Tool", name: inner ? entry["name"] : "Tools", form: inner ? entry["params"] : {} },
    ...(box.parent === undefined ? {} : { parentId: box.parent }),
    sourcePosition: "right",
    targetPosition: "left",
  });
  const [from, to] = inner ? ["agentBottom", "agentTop"] : ["tool", "end"];
  draft.wire({
    id: `xy-edge__${agent}${from}-${id}${to}`,
    source: agent,
    sourceHandle: from,
    target: id,
    targetHandle: to,
  });
  return inner ? id : undefined;
}

/** detach removes the tool at an index from an agent, and its box if any. */
export function detach(draft: Draft, agent: string, index: number): void {
  const path = paramsPath(draft.dsl, agent);
  const tools = path && draft.get([...path, "tools"]);
  if (!Array.isArray(tools)) return;
  const tool: unknown = tools[index];
  const left = tools.toSpliced(index, 1);
  setParam(draft, agent, "tools", left);
  const gone = new Set<string>();
  if (isObject(tool) && typeof tool["id"] === "string") gone.add(tool["id"]);
  else if (left.every((each) => isObject(each) && typeof each["id"] === "string")) {
    for (const edge of draft.edges())
      if (edge["source"] === agent && edge["sourceHandle"] === "tool") gone.add(word(edge["target"]));
  }
  for (const id of gone) {
    draft.unwire((edge) => edge["source"] === id || edge["target"] === id);
    while (draft.picture(id)) draft.remove(["graph", "nodes", id]);
  }
}

// unused returns a name that neither another tool of the agent nor one of `others` has: the box of
// an inner agent is named like a node.
function unused(tools: unknown[], name: string, others: readonly string[]): string {
  const taken = new Set([...tools.map((tool) => (isObject(tool) ? tool["name"] : undefined)), ...others]);
  for (let number = 2, made = name; ; made = `${name} ${number++}`) if (!taken.has(made)) return made;
}
