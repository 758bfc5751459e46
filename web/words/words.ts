import type { Words } from "../canvas/dsl.ts";
import { en, type Key } from "./en.ts";
import { zh } from "./zh.ts";

/** Language is a language of the page. */
export type Language = "en" | "zh";

/** translator returns the texts of one language; {0}, {1} are placeholders for values. */
export function translator(language: Language): (key: Key, ...values: (string | number)[]) => string {
  return filler(language === "zh" ? zh : en);
}

/** filler returns the texts of a table with values in their places. */
export function filler<K extends string>(texts: Record<K, string>): (key: K, ...values: (string | number)[]) => string {
  return (key, ...values) => texts[key].replace(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)] ?? ""));
}

/** pick chooses the text in the person's language, or in the nearest one. */
export function pick(words: Words, language: Language): string {
  if (typeof words === "string") return words;
  return words[language] ?? words["en"] ?? Object.values(words)[0] ?? "";
}

/** preferred returns the language of the browser. */
export function preferred(): Language {
  return navigator.language.startsWith("zh") ? "zh" : "en";
}
