// CodeMirror for JSON, inside a shadow root: there it uses constructed style sheets,
// which a strict Content-Security-Policy allows.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useLayoutEffect, useRef } from "react";
import { resume, type SelectedRef } from "./selected.ts";

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--select)" },
  { tag: tags.string, color: "var(--ink-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--ink-number)" },
]);

const theme = EditorView.theme({
  "&": {
    fontSize: "var(--t2)",
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "8px",
  },
  "&.cm-focused": { outline: "2px solid var(--select)" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-scroller": { maxHeight: "320px", overflow: "auto" },
});

/** Editor edits text; `selected` is the selection of the plain field that it replaces. */
export default function Editor({ text, label, selected, onChange }: {
  text: string; label: string; selected: SelectedRef; onChange(text: string): void;
}): React.ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const first = useRef({ text, label, onChange });
  first.current.onChange = onChange;
  // Before the page is painted: no key that is typed in between may get lost.
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current.text,
        extensions: [
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          json(),
          bracketMatching(),
          syntaxHighlighting(colors),
          theme,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": first.current.label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) first.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    resume(view, selected);
    return () => view.destroy();
  }, [selected]);
  return <div ref={host} className="editor" />;
}
