// Operators by the tables of the engine: the stored word of what a person or a file writes, and
// what stands on its right.

import type { OperatorSet } from "@easel/engine";
import { operatorSets, type Operator } from "./operators.generated.ts";

/** operatorOf returns the operator that a word means in a set, in any case and by its synonyms. */
export function operatorOf(set: OperatorSet, word: unknown): Operator | undefined {
  if (typeof word !== "string") return undefined;
  const folded = word.trim().replaceAll(/\s+/g, " ").toLowerCase();
  return operatorSets[set].find((each) => each.word === folded) ??
    operatorSets[set].find((each) => each.synonyms.includes(folded));
}

/** fitting lists the operators of a set for the type of the left side; all if it is unknown. */
export function fitting(set: OperatorSet, type: string | undefined): readonly Operator[] {
  const kind = kindOf(type);
  if (kind === undefined) return operatorSets[set];
  return operatorSets[set].filter(({ types }) => types.length === 0 || types.includes(kind));
}

/** kindOf returns the kind of a declared type by the tables; undefined if it is unknown. */
export function kindOf(type: string | undefined): string | undefined {
  const word = type?.toLowerCase() ?? "";
  if (/^(array|list)/.test(word)) return "list";
  if (["string", "text", "line", "paragraph", "options"].includes(word)) return "string";
  if (["number", "integer", "float", "int"].includes(word)) return "number";
  if (["boolean", "bool", "switch"].includes(word)) return "boolean";
  return word === "object" || word === "dict" ? "object" : undefined;
}
