// The keyboard and the clipboard of the editor. Keys typed into a field belong to the field.

import { useReactFlow } from "@xyflow/react";
import { useEffect } from "react";
import { ClipError } from "../../canvas/edit/clip.ts";
import { useApp, useText } from "../context.tsx";
import { center, matches, remove, type Command } from "./commands.ts";
import { choose, notify, useEdited } from "./state.ts";

/** useKeyboard lets the commands be called by their keys. */
export function useKeyboard(commands: readonly Command[]): void {
  const edited = useEdited();
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || isField(event) || document.querySelector("dialog[open]")) return;
      const found =
        commands.find(({ keys }) => keys !== undefined && matches(event, keys)) ??
        (matches(event, "Mod+Y") ? commands.find(({ label }) => label === "bar.redo") : undefined);
      if (!found) return;
      event.preventDefault();
      const { nodes, edges } = edited.get();
      if (nodes.length + (found.label === "edit.delete" ? edges.length : 0) >= (found.needs ?? 0)) found.run();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [commands, edited]);
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

function isField(event: Event): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
