// The descriptions of components come from the engine in English. Other languages are looked up by
// the English text and loaded on demand, since the engine's module would contain them for
// everybody.

import { Store } from "../run/store.ts";

/** SpecWords are texts by their English. */
export type SpecWords = Readonly<Record<string, string>>;

/** specWords holds the texts that are loaded. */
export const specWords = new Store<SpecWords>({});

let loading: Promise<void> | undefined;

/** loadSpecWords loads the Chinese texts once; texts that cannot be loaded stay English. */
export function loadSpecWords(): Promise<void> {
  loading ??= import("./specs.zh.ts").then(({ zh }) => specWords.set(zh), () => { loading = undefined; });
  return loading;
}

/** translated looks up a text, also one that ends in a number, such as "Case 2". */
export function translated(words: SpecWords, english: string): string {
  const found = words[english];
  if (found !== undefined) return found;
  const [, label = "", number = ""] = /^(.*) (\d+)$/.exec(english) ?? [];
  if (words[label]) return `${words[label]} ${number}`;
  const [, name] = /^Calling (.+)\.$/.exec(english) ?? [];
  return (name !== undefined && words["Calling {0}."]?.replace("{0}", name)) || english;
}
