// MCP servers in the params of an agent: {mcp_id, tools: {name: {name, description, inputSchema}}}.
// Without tools, or with an empty record, the agent gets all tools of a server, also future ones.

import { isObject, word, type Params } from "./dsl.ts";

/** Offered is a tool that a server has now. */
export interface Offered {
  name: string;
  description?: string;
  input_schema?: unknown;
}

/** ServerTools selects the tools of a server for an agent; without `tools` it selects all. */
export interface ServerTools {
  /** Id or name of the server, or its address. */
  server: string;
  tools?: string[];
}

/** serverEntries returns the servers in the params of an agent. */
export function serverEntries(params: Params): Params[] {
  return Array.isArray(params["mcp"]) ? params["mcp"].filter(isObject) : [];
}

/** chosenOf returns the names of the tools that an entry chooses; undefined for all. */
export function chosenOf(entry: Params): string[] | undefined {
  const names = Object.keys(isObject(entry["tools"]) ? entry["tools"] : {});
  return names.length === 0 ? undefined : names;
}

/** serverTools returns the servers of an agent with their selected tools. */
export function serverTools(params: Params): ServerTools[] {
  return serverEntries(params).map((entry) => {
    const tools = chosenOf(entry);
    return { server: word(entry["mcp_id"] || entry["url"] || ""), ...(tools ? { tools } : {}) };
  });
}

/** withAll returns an entry that gets all tools of its server, also future ones. */
export function withAll(entry: Params): Params {
  const { tools: _tools, ...rest } = entry;
  return rest;
}

/**
 * withTools returns an entry with tools added and removed. Those that stay keep their stored
 * descriptions; an entry that loses its last tool gets all.
 */
export function withTools(entry: Params, add: readonly Offered[], remove: readonly string[] = []): Params {
  const before = isObject(entry["tools"]) ? entry["tools"] : {};
  const tools = Object.fromEntries(Object.entries(before).filter(([name]) => !remove.includes(name)));
  for (const { name, description = "", input_schema } of add) {
    if (!Object.hasOwn(tools, name)) tools[name] = { name, description, inputSchema: input_schema ?? {} };
  }
  return Object.keys(tools).length === 0 ? withAll(entry) : { ...entry, tools };
}

/** withApproval lets a person decide about each call of a tool or, without a name, of all tools. */
export function withApproval(entry: Params, asks: boolean, name?: string): Params {
  const put = (of: Params): Params => {
    const { approval: _approval, ...rest } = of;
    return asks ? { ...rest, approval: true } : rest;
  };
  if (name === undefined) return put(entry);
  const tools = isObject(entry["tools"]) ? entry["tools"] : {};
  const tool = tools[name];
  return { ...entry, tools: { ...tools, [name]: put(isObject(tool) ? tool : {}) } };
}

/** asksFirst reports whether a person decides about each call of a tool, or of all tools. */
export function asksFirst(entry: Params, name?: string): boolean {
  const tools = isObject(entry["tools"]) ? entry["tools"] : {};
  const of = name === undefined ? entry : tools[name];
  return isObject(of) && of["approval"] === true;
}

/** goneOf returns the chosen tools that the server no longer has. */
export function goneOf(entry: Params, offered: readonly Pick<Offered, "name">[]): string[] {
  const now = new Set(offered.map(({ name }) => name));
  return (chosenOf(entry) ?? []).filter((name) => !now.has(name));
}

/** matching returns the tools whose name or description contains all words of a text. */
export function matching<T extends Offered>(tools: readonly T[], text: string): T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ name, description = "" }: T): boolean => {
    const all = `${name} ${description}`.toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return tools.filter(fits);
}
