import { texts, type FormText } from "../../words/form.ts";
import { filler } from "../../words/words.ts";
import { useLook } from "../context.tsx";

const translators = { en: filler(texts.en), zh: filler(texts.zh) };

/** useFormText returns the texts of forms in the person's language. */
export function useFormText(): FormText {
  return translators[useLook((look) => look.language)];
}

export type { FormKey } from "../../words/form.ts";
