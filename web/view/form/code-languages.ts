// Editing of code: colours, brackets, numbers of lines, and a mark on the line that failed.

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Prec, StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, keymap, lineNumbers, type DecorationSet } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Language names one of them; `text` is any other. */
export type Language = "javascript" | "python" | "json" | "text";

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.propertyName], color: "var(--select)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ink-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--ink-number)" },
  { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
]);

/** fail marks the line that failed, from 1; undefined marks none. */
export const fail = StateEffect.define<number | undefined>();

// A line that was edited since may be right.
const failed = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { effects, docChanged, state: { doc } }) {
    for (const effect of effects) {
      if (!effect.is(fail)) continue;
      const line = effect.value;
      const there = line !== undefined && line >= 1 && line <= doc.lines;
      return there ? Decoration.set(Decoration.line({ class: "failed" }).range(doc.line(line).from)) : Decoration.none;
    }
    return docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** codeSetup sets an editor up for a language. */
export function codeSetup(language: Language): Extension {
  const parsers = { javascript, python, json };
  return [
    language === "text" ? [] : parsers[language](),
    bracketMatching(),
    indentOnInput(),
    closeBrackets(),
    Prec.high(keymap.of(closeBracketsKeymap)),
    language === "python" ? indentUnit.of("    ") : [],
    language === "python" || language === "javascript" ? lineNumbers() : [],
    failed,
    syntaxHighlighting(colors),
  ];
}
