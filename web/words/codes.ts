// Messages of errors and diagnostics are English. Other languages have words for each code, which
// are loaded on demand and stand before the message: it names values and nodes.

import { Store } from "../run/store.ts";
import type { Language } from "./words.ts";

/** codeWords are the words by code in the person's language; none in English. */
export const codeWords = new Store<Readonly<Partial<Record<string, string>>>>({});

/** speakCodes sets the language of codes; until its words are loaded, messages stand alone. */
export async function speakCodes(language: Language): Promise<void> {
  if (language === "en") return codeWords.set({});
  const { zh } = await import("./codes.zh.ts");
  codeWords.set(zh);
}
