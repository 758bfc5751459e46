// The keyboard and the clipboard of the editor. Keys typed into a field belong to the field.

import { useReactFlow } from "@xyflow/react";
import { useEffect } from "react";
import { ClipError } from "../../canvas/edit/clip.ts";
import { neighbor } from "../../canvas/neighbor.ts";
import type { Point } from "../../run/editing.ts";
import { useApp, useSelect, useText } from "../context.tsx";
import { center, matches, remove, type Command } from "./commands.ts";
import { choose, notify, useEdited } from "./state.ts";

/** useKeyboard lets the commands be called by their keys. */
export function useKeyboard(commands: readonly Command[]): void {
  const edited = useEdited();
  const { session } = useApp();
  const select = useSelect();
  useEffect(() => {
    const goTo = (id: string | undefined): void => {
      if (id === undefined) return;
      choose(edited, [id]);
      select(id, { reveal: true });
      const box = (): HTMLElement | null => document.querySelector(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
      if (box()) box()?.focus({ preventScroll: true });
      else requestAnimationFrame(() => box()?.focus({ preventScroll: true })); // drawn when it comes into view
    };
    // The first Enter on a box selects it.
    let selected: readonly string[] = [];
    const note = (event: KeyboardEvent): void => {
      selected = edited.get().nodes;
      const to = event.altKey && isCanvas(event) ? directions[event.key] : undefined;
      if (!to) return;
      event.preventDefault();
      event.stopPropagation(); // arrows move a box
      goTo(neighbor(session.document.get()?.model, selected[0], to));
    };
    const isSelected = ({ target }: KeyboardEvent): boolean => {
      const box = target instanceof HTMLElement ? target.dataset["id"] : undefined;
      return box === undefined || selected.includes(box);
    };
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
      const counts = ({ where }: Command): boolean =>
        where === "anywhere" || (!isField(event) && (where !== "canvas" || (isCanvas(event) && isSelected(event))));
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
      removeEventListener("keydown", note, true);
      removeEventListener("keydown", pressed);
    };
  }, [commands, edited, session, select]);
}

const directions: Record<string, Point> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

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
      if (take(event)) remove(app, edited);
    };
    const pasted = (event: ClipboardEvent): void => {
      if (isField(event) || document.querySelector("dialog[open]")) return;
      const text = event.clipboardData?.getData("text/plain") ?? "";
      try {
        choose(edited, session.editing.paste(text, center(flow)));
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
