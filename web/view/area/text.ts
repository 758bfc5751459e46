// The words of the areas, which are loaded with them.

import { en, type AreaKey } from "../../words/areas.en.ts";
import { zh } from "../../words/areas.zh.ts";
import { filler } from "../../words/words.ts";
import { useLook } from "../context.tsx";

const translators = { en: filler(en), zh: filler(zh) };

/** AreaText translates texts of the areas. */
export type AreaText = (key: AreaKey, ...values: (string | number)[]) => string;

/** useAreaText returns the words of the areas in the person's language. */
export function useAreaText(): AreaText {
  return translators[useLook((look) => look.language)];
}

/** moneyOf formats an amount; without a currency it is a plain number. */
export function moneyOf(language: string, amount: number, currency?: string): string {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 4 };
  return new Intl.NumberFormat(language, currency ? { ...digits, style: "currency", currency } : digits).format(amount);
}

/**
 * useNamed returns words for names of the host: chunk methods, kinds of text and sources of runs.
 * An unknown name stays.
 */
export function useNamed(): (group: "method" | "kind" | "source", name: string) => string {
  const a = useAreaText();
  return (group, name) => (Object.hasOwn(en, `${group}.${name}`) ? a(`${group}.${name}` as AreaKey) : name);
}
