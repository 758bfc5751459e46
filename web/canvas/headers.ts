// Header lines as rows. Documents hold an object, or its JSON text: RAGFlow writes the text.

import { isObject } from "./dsl.ts";

/** Header is one line; a value that is not a string stays as it is. */
export interface Header {
  name: string;
  value: unknown;
}

/**
 * headersOf returns the lines of a setting; undefined for a value that is not an object, and for a
 * text with a repeated name, which rows cannot hold.
 */
export function headersOf(value: unknown): Header[] | undefined {
  if (value === undefined || value === null) return [];
  if (isObject(value)) return linesOf(value);
  if (typeof value !== "string") return undefined;
  if (value.trim() === "") return [];
  try {
    const read: unknown = JSON.parse(value);
    if (!isObject(read) || hasDuplicates(value)) return undefined;
    return linesOf(read);
  } catch {
    return undefined;
  }
}

function linesOf(object: object): Header[] {
  return Object.entries(object).map(([name, value]): Header => ({ name, value }));
}

// hasDuplicates reports whether the top object of a JSON text has a name twice.
function hasDuplicates(text: string): boolean {
  const names = new Set<string>();
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (depth === 1 && /^\s*:/.test(text.slice(index + token.length))) {
      const name = JSON.parse(token) as string;
      if (names.has(name)) return true;
      names.add(name);
    }
  }
  return false;
}

/** headersAs returns lines in the form of the value before them: a text stays a text. */
export function headersAs(before: unknown, lines: readonly Header[]): unknown {
  if (typeof before !== "string") return Object.fromEntries(lines.map(({ name, value }) => [name, value]));
  if (lines.length === 0) return before.trim() === "" ? before : "{}";
  const indent = /^\s*\{[^\S\n]*\n([ \t]*)\S/.exec(before)?.[1];
  const pairs = lines.map(({ name, value }) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  if (indent === undefined && before.trim() !== "") return `{${pairs.join(", ")}}`;
  const by = indent ?? "  ";
  return `{\n${pairs.map((pair) => by + pair).join(",\n")}\n}`;
}

/** badHeader reports whether a text cannot be the name of a header. */
export function badHeader(name: string): boolean {
  return !/^[!#$%&'*+.^_`|~\w-]+$/.test(name);
}
