// The keyboard and the clipboard of the editor. Keys typed into a field belong to the field.

import { useReactFlow } from "@xyflow/react";
import { useEffect } from "react";
import { ClipError } from "../../canvas/edit/clip.ts";
import type { CanvasModel } from "../../canvas/drawing.ts";
import { following, neighbor } from "../../canvas/neighbor.ts";
import type { Point } from "../../run/editing.ts";
import { useApp, useSelect, useText } from "../context.tsx";
import { center, type Command, follow, matches, remove } from "./commands.ts";
import { choose, notify, useEdited } from "./state.ts";

/** useKeyboard lets the commands be called by their keys. */
export function useKeyboard(commands: readonly Command[]): void {
  const edited = useEdited();
  const { session, look } = useApp();
  const select = useSelect();
  useEffect(() => {
    const model = (): CanvasModel | undefined => session.document.get()?.model;
    const goTo = (id: string | undefined, chosen: boolean): void => {
      if (id === undefined) return;
      if (chosen) {
        choose(edited, [id]);
        select(id, { reveal: true });
      }
      drawing.disconnect();
      if (focusBox(id)) return; // React Flow brings it into view
      if (!chosen) look.update({ reveal: { node: id, count: (look.get().reveal?.count ?? 0) + 1 } });
      awaited = id;
      const board = document.querySelector(".board");
      if (board) drawing.observe(board, { childList: true, subtree: true });
    };
    // Of a large canvas a box is drawn when it comes into view.
    let awaited = "";
    const drawing = new MutationObserver(() => {
      if (focusBox(awaited)) drawing.disconnect();
    });
    // release leaves the keyboard on a box that is no longer selected.
    const release = (): void => {
      choose(edited, []);
      select(undefined);
    };
    // The first Enter on a box selects it.
    let selected: readonly string[] = [];
    const note = (event: KeyboardEvent): void => {
      selected = edited.get().nodes;
      const act = moveOf(event);
      if (!act || document.querySelector("dialog[open]")) return;
      const at = idOf(event);
      const held = at !== undefined && selected.includes(at);
      if (act.kind === "release" ? !held : act.kind === "rove" && (!isCanvas(event) || held)) return;
      event.preventDefault();
      event.stopPropagation(); // arrows move a selected box
      if (act.kind === "release") release();
      else goTo(act.next(model(), at ?? selected[0]), act.kind === "select");
    };
    const isSelected = (event: KeyboardEvent): boolean => {
      const box = idOf(event);
      return box === undefined || selected.includes(box);
    };
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
      const counts = ({ where }: Command): boolean => {
        if (where === "anywhere") return true;
        if (isField(event) || (where === "board" && isBeside(event))) return false;
        return where !== "canvas" || (isCanvas(event) && isSelected(event));
      };
      const found =
        commands.find((each) => each.keys !== undefined && counts(each) && matches(event, each.keys)) ??
        (!isField(event) && matches(event, "Mod+Y") ? commands.find(({ label }) => label === "bar.redo") : undefined);
      if (!found) return;
      event.preventDefault();
      const { nodes, edges } = edited.get();
      if (nodes.length + (found.label === "edit.delete" ? edges.length : 0) >= (found.needs ?? 0)) found.run();
    };
    addEventListener("keydown", note, true);
    addEventListener("keydown", pressed);
    return () => {
      drawing.disconnect();
      removeEventListener("keydown", note, true);
      removeEventListener("keydown", pressed);
    };
  }, [commands, edited, session, look, select]);
}

const directions: Record<string, Point> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

const turns: Record<string, 1 | -1> = { PageDown: 1, PageUp: -1 };

/** Move is the action of a key on the focused box. */
interface Move {
  /** rove moves the focus, select also the selection, release clears the selection. */
  kind: "rove" | "select" | "release";
  next(model: CanvasModel | undefined, from: string | undefined): string | undefined;
}

// moveOf reads a key on the canvas: arrows lead in a direction, the page keys through all boxes.
// With Alt they do so everywhere on the canvas, where the browser would leave the page.
function moveOf(event: KeyboardEvent): Move | undefined {
  if (event.ctrlKey || event.metaKey || event.shiftKey || !onBoard(event)) return undefined;
  if (event.key === "Escape" && !event.altKey) return { kind: "release", next: () => undefined };
  const direction = directions[event.key];
  if (direction) {
    return { kind: event.altKey ? "select" : "rove", next: (model, from) => neighbor(model, from, direction) };
  }
  const step = turns[event.key];
  return step && !event.altKey ? { kind: "rove", next: (model, from) => following(model, from, step) } : undefined;
}

// onBoard reports whether an event comes from the canvas, but from no field there and from nothing
// that lies over it.
function onBoard(event: Event): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof Element && !isField(event) && target.closest(".board") !== null && !target.closest(".overlay")
  );
}

// idOf returns the box that an event belongs to.
function idOf({ target }: Event): string | undefined {
  return target instanceof HTMLElement && target.matches(".react-flow__node") ? target.dataset["id"] : undefined;
}

// focusBox focuses a box; false if it is not drawn.
function focusBox(id: string): boolean {
  const box = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
  box?.focus({ preventScroll: true });
  return box !== null;
}

/** useClipboard copies, cuts and pastes boxes as text, also between canvases and browsers. */
export function useClipboard(): void {
  const app = useApp();
  const t = useText();
  const edited = useEdited();
  const flow = useReactFlow();
  useEffect(() => {
    const { session } = app;
    const take = (event: ClipboardEvent): boolean => {
      if (isField(event) || document.querySelector("dialog[open]") || getSelection()?.toString()) return false;
      const text = session.editing.copied(edited.get().nodes);
      if (text === undefined) return false;
      event.clipboardData?.setData("text/plain", text);
      event.preventDefault();
      return true;
    };
    const copied = (event: ClipboardEvent): void => {
      take(event);
    };
    const cut = (event: ClipboardEvent): void => {
      if (!isBeside(event) && take(event)) remove(app, edited);
    };
    const pasted = (event: ClipboardEvent): void => {
      if (isField(event) || document.querySelector("dialog[open]")) return;
      const text = event.clipboardData?.getData("text/plain") ?? "";
      try {
        follow(app, edited, session.editing.paste(text, center(flow)));
        event.preventDefault();
      } catch (err) {
        if (!(err instanceof ClipError)) throw err;
        notify(edited, t(`paste.${err.code}`));
      }
    };
    document.addEventListener("copy", copied);
    document.addEventListener("cut", cut);
    document.addEventListener("paste", pasted);
    return () => {
      document.removeEventListener("copy", copied);
      document.removeEventListener("cut", cut);
      document.removeEventListener("paste", pasted);
    };
  }, [app, edited, flow, t]);
}

// isBeside reports whether an event comes from the bar or the panel.
function isBeside({ target }: Event): boolean {
  return target instanceof Element && target.closest(".bar, .panel") !== null;
}

// isCanvas reports whether an event belongs to the canvas or one of its boxes, not to a button
// there.
function isCanvas(event: Event): boolean {
  const [target] = event.composedPath();
  return target instanceof HTMLElement && target.matches(".board, .react-flow__node");
}

function isField(event: Event): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
