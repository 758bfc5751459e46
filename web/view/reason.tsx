// What errors and diagnostics say, in the person's language as far as their code goes.

import { messageOf } from "@easel/engine";
import { own, type CanvasError } from "../canvas/dsl.ts";
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

/**
 * unreadable returns why a text is not a canvas. Browsers report JSON errors in English only, so
 * the position or the unexpected character is extracted and shown in the person's language.
 */
export function unreadable(
  words: ReturnType<typeof translator>, { code, detail }: Pick<CanvasError, "code" | "detail">,
): string {
  if (code !== "not_json") return words(`error.${code}`, detail);
  const [, line, column] = /line (\d+) column (\d+)/.exec(detail) ?? [];
  if (line && column) return words("error.not_json_at", line, column);
  const [, position] = /position (\d+)/.exec(detail) ?? []; // of older browsers
  if (position) return words("error.not_json_char", Number(position) + 1);
  const [, token, near] = /^Unexpected token '?(.+?)'?, (.+) is not valid JSON$/s.exec(detail) ?? [];
  if (token && near) return words("error.not_json_token", token, near);
  return /end of (JSON )?(input|data)/i.test(detail) ? words("error.not_json_end") : words("error.not_json", detail);
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
