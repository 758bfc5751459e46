import { texts, type DocsKey } from "../../words/docs.ts";
import { filler } from "../../words/words.ts";
import { useLook } from "../context.tsx";

const translators = { en: filler(texts.en), zh: filler(texts.zh) };

/** useDocsText returns the texts of guides and help in the person's language. */
export function useDocsText(): (key: DocsKey, ...values: (string | number)[]) => string {
  return translators[useLook((look) => look.language)];
}
