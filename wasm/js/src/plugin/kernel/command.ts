// A command is a WASI program: stdin is the input, stdout the output, and a status other than 0 an
// error. A twin of command.go of the Go host, with the same tests.

import { caps } from "../abi.ts";
import { PluginError } from "../error.ts";
import type { Exit } from "./fault.ts";

/** commandExport is the export of a command. */
export const commandExport = "_start";

const newline = 10;
const blanks = new Set([..." \t\r"].map((c) => c.charCodeAt(0)));
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** StderrLines cuts what a command writes to stderr into lines, and keeps the last one. */
export class StderrLines {
  readonly #log: (line: string) => void;
  readonly #open = new Uint8Array(caps.logBytes); // line without its end
  #length = 0;
  #last = ""; // last line that is not blank, before a stack trace
  #blank = false; // the line before was
  #traced = false; // a stack trace of Go has begun

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  write(piece: Uint8Array): void {
    for (let from = 0; from < piece.length;) {
      const found = piece.indexOf(newline, from);
      const end = found < 0 ? piece.length : found;
      const part = piece.subarray(from, Math.min(end, from + this.#open.length - this.#length));
      this.#open.set(part, this.#length);
      this.#length += part.length;
      if (found >= 0) this.#end();
      from = end + 1;
    }
  }

  #end(): void {
    while (this.#length > 0 && blanks.has(this.#open[this.#length - 1]!)) this.#length--;
    const text = decoder.decode(this.#open.subarray(0, this.#length));
    const line = printable(text).slice(0, caps.logBytes);
    this.#length = 0;
    this.#traced ||= this.#blank && line.startsWith("goroutine ");
    this.#blank = line === "";
    if (this.#blank) return;
    this.#log(line);
    if (!this.#traced) this.#last = line;
  }

  /** error returns the error of a program that ended with a status; undefined for 0. */
  error({ status }: Exit): PluginError | undefined {
    this.close();
    if (status === 0) return undefined;
    return new PluginError("exit", this.#last || `the command ended with status ${status}`);
  }

  /** close completes a line without an end. */
  close(): void {
    if (this.#length > 0) this.#end();
  }
}

// Characters that Printable of plugins/contract escapes, too.
const hidden = /(?![\t\n\u200c\u200d\ufe00-\ufe0f])[\p{Cc}\p{DI}\u2028\u2029\ufff9-\ufffb]/gu;

/** printable writes characters that are invisible, or affect a terminal, as their code points. */
export function printable(text: string): string {
  return text.replace(hidden, (c) => `<U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`);
}
