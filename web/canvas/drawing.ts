// The drawing of a canvas: boxes, edges, groups with children. model.ts builds it from a document,
// places.ts places it.

import type { ComponentSpec } from "@easel/engine";
import type { Params } from "./dsl.ts";
import type { ServerTools } from "./servers.ts";
import type { Line } from "./summary.ts";

/** Role is the kind of a box. `tool` and `agent` are parts of an Agent, `note` is text. */
export type Role = "node" | "group" | "item" | "note" | "tool" | "agent";

/**
 * Specs maps names and aliases of components to their descriptions. It is empty until the engine
 * has sent them.
 */
export type Specs = ReadonlyMap<string, ComponentSpec>;

/** Branch is one branch of a node that chooses. */
export interface Branch {
  id: string;
  label: string;
  to: string[];
}

/**
 * Member selects the calls that belong to a box: those of one agent inside another, or those of an
 * agent's plain tools.
 */
export interface Member {
  /** Node that records the calls. */
  node: string;
  /** Path of the agent that makes them, as records write it. */
  path: string;
  /** Name of the agent that is called; undefined for plain tools. */
  agent?: string;
  /** Names of all agents that the calling one may call. */
  agents: string[];
}

/** CanvasNode is one box. */
export interface CanvasNode {
  id: string;
  role: Role;
  kind: string;
  /** Description of the component, once the engine has sent it. */
  spec?: ComponentSpec;
  name: string;
  /** Relative to the parent, if any. */
  x: number;
  y: number;
  width?: number;
  height?: number;
  parent?: string;
  params: Params;
  branches: Branch[];
  /** The most important settings, for the card. */
  summary: Line[];
  /** Names of an agent's tools without a box. */
  tools: string[];
  /** MCP servers of an agent. */
  servers?: ServerTools[];
  /** Text of a note. */
  text?: string;
  /** Switched off. */
  off?: true;
  /** Of a box below an agent: the calls that it shows. */
  member?: Member;
}

/** CanvasEdge joins two boxes. */
export interface CanvasEdge {
  id: string;
  source: string;
  target: string;
  /** Branch of the source it leaves by. */
  branch?: string;
  role: "flow" | "tool" | "error";
}

/** CanvasModel is the complete drawing. */
export interface CanvasModel {
  nodes: CanvasNode[];
  edges: CanvasEdge[];
  byId: Map<string, CanvasNode>;
  /** True when a node has no place and no layout was given. */
  unplaced: boolean;
}
