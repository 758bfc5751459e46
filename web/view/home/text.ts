import { texts, type HomeText } from "../../words/home.ts";
import { filler } from "../../words/words.ts";
import { useLook } from "../context.tsx";

const translators = { en: filler(texts.en), zh: filler(texts.zh) };

/** useHomeText returns the texts of the home view in the person's language. */
export function useHomeText(): HomeText {
  return translators[useLook((look) => look.language)];
}
