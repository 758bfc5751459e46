// The words of projects and roles, which are loaded with them.

import { texts, type SharingKey } from "../../words/sharing.ts";
import { filler } from "../../words/words.ts";
import { useLook } from "../context.tsx";

const translators = { en: filler(texts.en), zh: filler(texts.zh) };

/** SharingText returns a text with values in its places. */
export type SharingText = (key: SharingKey, ...values: (string | number)[]) => string;

/** useSharingText returns the texts in the person's language. */
export function useSharingText(): SharingText {
  return translators[useLook((look) => look.language)];
}
