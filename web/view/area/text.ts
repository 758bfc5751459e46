// The words of the areas, which are loaded with them.

import { en, type AreaKey } from "../../words/areas.en.ts";
import { zh } from "../../words/areas.zh.ts";
import { filler } from "../../words/words.ts";
import { useLook } from "../context.tsx";

const translators = { en: filler(en), zh: filler(zh) };

/** AreaText gives words of the areas. */
export type AreaText = (key: AreaKey, ...values: (string | number)[]) => string;

/** useAreaText returns the words of the areas in the person's language. */
export function useAreaText(): AreaText {
  return translators[useLook((look) => look.language)];
}

/**
 * useNamed returns words for names of the host: chunk methods and kinds of text. An unknown name
 * stays.
 */
export function useNamed(): (group: "method" | "kind", name: string) => string {
  const a = useAreaText();
  return (group, name) => (Object.hasOwn(en, `${group}.${name}`) ? a(`${group}.${name}` as AreaKey) : name);
}
