// What is drawn of a canvas: boxes, edges, groups with children. model.ts builds it from a document, places.ts places it.

import type { Params } from "./dsl.ts";

/** Role is what a box stands for. `tool` and `agent` are parts of an Agent, `note` is text. */
export type Role = "node" | "group" | "item" | "note" | "tool" | "agent";

/** Branch is one way out of a node that chooses. */
export interface Branch {
  id: string;
  label: string;
  to: string[];
}

/** CanvasNode is one box. */
export interface CanvasNode {
  id: string;
  role: Role;
  kind: string;
  name: string;
  /** Relative to the parent, if there is one. */
  x: number;
  y: number;
  width?: number;
  height?: number;
  parent?: string;
  params: Params;
  branches: Branch[];
  /** Names of an agent's tools that have no box of their own. */
  tools: string[];
  /** Text of a note. */
  text?: string;
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

/** CanvasModel is everything there is to draw. */
export interface CanvasModel {
  nodes: CanvasNode[];
  edges: CanvasEdge[];
  byId: Map<string, CanvasNode>;
  /** True when a node has no place and no layout was given. */
  unplaced: boolean;
}
