// The state of the editor besides the canvas: the selection, the position of a new step, the open
// overlay.

import { createContext, useContext } from "react";
import type { Spot } from "../../run/editing.ts";
import { Store } from "../../run/store.ts";

/** Overlay is the open overlay of the canvas. */
export type Overlay = "add" | "find" | "commands" | "connect" | "help" | "menu";

/** MenuOf names the target of the context menu. */
export type MenuOf = "canvas" | "step" | "edge" | "selection";

/** Edited is the state of the editor. */
export interface Edited {
  /** Selected boxes and edges, by id. */
  nodes: readonly string[];
  edges: readonly string[];
  overlay?: Overlay | undefined;
  /** Where the next step goes, while the palette is open. */
  spot?: Spot | undefined;
  /** Position of the palette on the screen; docked at the canvas when absent. */
  at?: { x: number; y: number } | undefined;
  /** Target of the open menu. */
  menu?: MenuOf | undefined;
  /** A short message, such as why an edge was refused. */
  notice?: { text: string; count: number } | undefined;
}

/** newEdited returns the state for a canvas that has just been opened. */
export function newEdited(): Store<Edited> {
  return new Store<Edited>({ nodes: [], edges: [] });
}

/** EditedContext carries the state of the editor. */
export const EditedContext = createContext<Store<Edited>>(newEdited());

/** useEdited returns the store of the editor's state. */
export function useEdited(): Store<Edited> {
  return useContext(EditedContext);
}

/** close closes the overlay. */
export function close(edited: Store<Edited>): void {
  const { nodes, edges } = edited.get();
  edited.set({ nodes, edges });
}

/** notify shows a short message. */
export function notify(edited: Store<Edited>, text: string): void {
  edited.update({ notice: { text, count: (edited.get().notice?.count ?? 0) + 1 } });
}

/** choose selects boxes. */
export function choose(edited: Store<Edited>, nodes: readonly string[]): void {
  const { nodes: before, edges } = edited.get();
  if (edges.length > 0 || before.length !== nodes.length || before.some((id) => !nodes.includes(id))) {
    edited.update({ nodes, edges: [] });
  }
}
