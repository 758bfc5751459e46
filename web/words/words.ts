import type { Words } from "../canvas/dsl.ts";
import { en, type Key } from "./en.ts";
import { shown } from "./shown.ts";

/** Language is a language of the page. */
export type Language = "en" | "zh";

// English is part of the page, other languages are loaded when they are first shown.
const tables: Partial<Record<Language, Record<Key, string>>> = { en };

/** learn loads the texts of a language. */
export async function learn(language: Language): Promise<void> {
  if (language === "zh") tables.zh ??= (await import("./zh.ts")).zh;
}

/** Translator returns a text; {0}, {1} are places for values. */
export type Translator = (key: Key, ...values: (string | number)[]) => string;

const translators = new Map<Record<Key, string>, Translator>();

/**
 * translator returns texts of a language that was learned, or else English. It is the same function
 * until the language is learned.
 */
export function translator(language: Language): Translator {
  const table = tables[language] ?? en;
  const made = translators.get(table) ?? filler(table);
  translators.set(table, made);
  return made;
}

/** filler returns the texts of a table with values in their places, as they may be shown. */
export function filler<K extends string>(texts: Record<K, string>): (key: K, ...values: (string | number)[]) => string {
  const valued = (text: string, values: (string | number)[]): string =>
    text.replace(/\{(\d)\}/g, (_, at: string) => shown(String(values[Number(at)] ?? "")));
  return (key, ...values) => valued(texts[key], values);
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
