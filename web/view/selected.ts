// What a person has selected in a field, so that they continue in the editor that replaces it.

import type { EditorView } from "@codemirror/view";

/** Selected is a selection in a text; `head` is where the caret is. */
export interface Selected {
  anchor: number;
  head: number;
}

/** SelectedRef is the selection in the field that was replaced; undefined if it had no focus. */
export type SelectedRef = React.RefObject<Selected | undefined>;

/** selectedIn returns the selection in a field. */
export function selectedIn({ selectionStart, selectionEnd, selectionDirection }: HTMLTextAreaElement): Selected {
  const back = selectionDirection === "backward";
  return back ? { anchor: selectionEnd, head: selectionStart } : { anchor: selectionStart, head: selectionEnd };
}

/** resume moves focus and selection from the plain field to the editor that replaces it. */
export function resume(view: EditorView, selected: SelectedRef): void {
  if (!selected.current) return;
  const { anchor, head } = selected.current;
  const end = view.state.doc.length;
  view.focus();
  view.dispatch({ selection: { anchor: Math.min(anchor, end), head: Math.min(head, end) } });
  selected.current = undefined;
}
