// What errors and diagnostics say, in the person's language as far as their code goes.

import { messageOf } from "@easel/engine";
import { own } from "../canvas/dsl.ts";
import type { PluginFault } from "../run/plugins.ts";
import { codeWords } from "../words/codes.ts";
import { useStore } from "./context.tsx";
import type { translator } from "../words/words.ts";
import { brief } from "./text.ts";

/** Told is a message in the language of the translator and of codeWords. */
export type Told = (words: ReturnType<typeof translator>) => string;

/** reasonOf returns the message of an error, behind the words for its code. */
export function reasonOf(err: unknown): string {
  const code = err instanceof Error && "code" in err ? String(err.code) : "";
  const words = own(codeWords.get(), code);
  return words === undefined ? messageOf(err) : `${words}（${messageOf(err)}）`;
}

/** faultOf returns the message of a plugin that could not be used. */
export function faultOf({ name, error }: PluginFault): string {
  return name === "" ? reasonOf(error) : `${name}: ${reasonOf(error)}`;
}

/** Reason shows a message, below the words for its code. */
export function Reason({ code, message, most }: {
  code: string | undefined; message: string; most: number;
}): React.ReactNode {
  const words = useStore(codeWords, (all) => own(all, code ?? ""));
  if (words === undefined) return brief(message, most);
  return (
    <>
      {words}
      <small lang="en" className="original">{brief(message, most)}</small>
    </>
  );
}
