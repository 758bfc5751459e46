// Languages that code is coloured in.

import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

/** Language names one of them; `text` is any other. */
export type Language = "javascript" | "python" | "json" | "text";

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.propertyName], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ink-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--ink-number)" },
  { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
]);

/** codeSetup colours a language and matches its brackets. */
export function codeSetup(language: Language): Extension {
  const parsers = { javascript, python, json };
  return [
    language === "text" ? [] : parsers[language](),
    bracketMatching(),
    indentOnInput(),
    syntaxHighlighting(colors),
  ];
}
