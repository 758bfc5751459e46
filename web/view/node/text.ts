import { texts, type NodeKey } from "../../words/node.ts";
import { filler } from "../../words/words.ts";
import { useLook } from "../context.tsx";

const translators = { en: filler(texts.en), zh: filler(texts.zh) };

/** useNodeText returns the texts of the panel of a node in the person's language. */
export function useNodeText(): (key: NodeKey, ...values: (string | number)[]) => string {
  return translators[useLook((look) => look.language)];
}
