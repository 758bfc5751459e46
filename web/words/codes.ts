// Messages of errors and diagnostics are English. Other languages have a text for each code, which
// is loaded on demand and shown before the message, which names values and nodes.

import { Store } from "../run/store.ts";
import type { Language } from "./words.ts";

/** codeWords holds the texts by code in the person's language; it is empty for English. */
export const codeWords = new Store<Readonly<Partial<Record<string, string>>>>({});

/** speakCodes sets the language of codes; until its texts are loaded, only messages are shown. */
export async function speakCodes(language: Language): Promise<void> {
  if (language === "en") return codeWords.set({});
  const { zh } = await import("./codes.zh.ts");
  codeWords.set(zh);
}
