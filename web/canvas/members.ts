// Boxes below an agent: the agent's calls that each represents. They are not components, so no
// event of a run names them; the records of the outer agent's calls do, by the path of the calling
// agent.

import type { Params } from "./dsl.ts";
import { isObject } from "./dsl.ts";
import type { CanvasEdge, CanvasNode } from "./drawing.ts";
import { text } from "./picture.ts";

/**
 * joinMembers sets the owner of the boxes below each agent that is a component.
 */
export function joinMembers(edges: CanvasEdge[], known: Map<string, CanvasNode>): void {
  const below = lists(edges.filter((edge) => edge.role === "tool").map(({ source, target }) => [source, target]));
  const components = [...known.values()].filter(({ role }) => role === "node");
  const open = components.map((agent) => ({ agent, node: agent.id, path: agent.name }));
  for (const { agent, node, path } of open) {
    const boxes = (below.get(agent.id) ?? []).flatMap((id) => known.get(id) ?? []).filter((box) => !box.member);
    const agents = boxes.filter((box) => box.role === "agent").map((box) => calledName(agent, box));
    for (const box of boxes) {
      box.member = { node, path, agents };
      if (box.role !== "agent") continue;
      const name = calledName(agent, box);
      box.member.agent = name;
      open.push({ agent: box, node, path: `${path}-->${name}` });
    }
  }
}

// calledName returns the name that a model knows an agent by, without its number.
function calledName(agent: CanvasNode, box: CanvasNode): string {
  const entry = toolEntries(agent.params).find((tool) => tool["id"] === box.id);
  return (text(entry?.["name"]) || box.name).replaceAll(" ", "_");
}

/** toolEntries returns the tools in the params of an agent. */
export function toolEntries(params: Params): Params[] {
  return Array.isArray(params["tools"]) ? params["tools"].filter(isObject) : [];
}

/** lists collects the second of each pair by the first. */
export function lists(pairs: (readonly [string, string])[]): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const [key, value] of pairs) {
    const list = all.get(key);
    if (list) list.push(value);
    else all.set(key, [value]);
  }
  return all;
}
