// Notes: text on the canvas that runs ignore.

import type { Draft } from "./draft.ts";
import { newId } from "./ids.ts";

/** addNote adds an empty note. */
export function addNote(draft: Draft, name: string, { x, y }: { x: number; y: number }): string {
  const id = newId(draft, "Note");
  const [width, height] = [240, 120];
  draft.draw({
    id,
    type: "noteNode",
    position: { x: Math.round(x), y: Math.round(y) },
    width,
    height,
    measured: { width, height },
    data: { label: "Note", name, form: { text: "" } },
    dragHandle: ".note-drag-handle",
    sourcePosition: "right",
    targetPosition: "left",
  });
  return id;
}

/** writeNote changes the text of a note. */
export function writeNote(draft: Draft, id: string, text: string): void {
  draft.set(["graph", "nodes", id, "data", "form", "text"], text);
}
