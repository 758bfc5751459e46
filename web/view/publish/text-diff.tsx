// Two texts in one column, with what differs marked. CodeMirror lies in a shadow root, where it
// uses constructed style sheets, which a strict Content-Security-Policy allows.

import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";

const theme = EditorView.theme({
  "&": {
    fontSize: "var(--t1)",
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
  },
  ".cm-content": { fontFamily: "var(--mono)" },
  ".cm-scroller": { maxHeight: "260px", overflow: "auto" },
  ".cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--good-soft)" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft)" },
  "&.cm-merge-b .cm-changedText, .cm-insertedLine": { background: "var(--good-soft)", textDecoration: "underline" },
  ".cm-deletedChunk .cm-deletedText": { background: "transparent", textDecoration: "line-through" },
  ".cm-collapsedLines": { background: "var(--ground)", color: "var(--ink-soft)" },
});

/** TextDiff compares two texts. */
export default function TextDiff({
  before,
  after,
  label,
}: {
  before: string;
  after: string;
  label: string;
}): React.ReactNode {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: after,
        extensions: [
          EditorState.readOnly.of(true),
          EditorView.lineWrapping,
          theme,
          EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true" }),
          unifiedMergeView({ original: before, mergeControls: false, gutter: false, collapseUnchanged: {} }),
        ],
      }),
    });
    return () => view.destroy();
  }, [before, after, label]);
  return <div ref={host} className="editor" />;
}
