// Writes an edited document into its original text: unedited parts keep their bytes, including
// numbers that JavaScript cannot represent and the layout of the file.

import { isObject } from "./dsl.ts";
import { skip, stringEnd, trimmedEnd } from "./source.ts";

/** rewrite returns the text of `after`, made of the text of `before`. */
export function rewrite(text: string, before: unknown, after: unknown): string {
  const from = skip(text, 0);
  return text.slice(0, from) + new Rewriter(text).value(from, before, after) + text.slice(trimmedEnd(text, from));
}

class Rewriter {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(from: number, before: unknown, after: unknown): string {
    const end = trimmedEnd(this.#text, from);
    if (before === after) return this.#text.slice(from, end);
    if (isObject(before) && isObject(after)) return this.#object(from, end, before, after);
    if (Array.isArray(before) && Array.isArray(after)) return this.#list(from, end, before, after);
    return this.#written(from, after);
  }

  // object keeps the existing members. If they are in the old order, the text between them is kept
  // too.
  #object(from: number, end: number, before: Record<string, unknown>, after: Record<string, unknown>): string {
    const parts = this.#members(from, end);
    const last = new Map(parts.map((part) => [part.name, part])); // the last member with a name counts
    if ([...last].some(([name]) => !Object.hasOwn(before, name))) return this.#written(from, after);
    const names = Object.keys(after);
    const old = Object.keys(before);
    const complete = old.every((name) => last.has(name));
    if (complete && names.length === old.length && names.every((name, i) => name === old[i])) {
      const counting = parts.filter((part) => last.get(part.name) === part);
      return this.#spliced(from, end, counting, (part) => [before[part.name], after[part.name]]);
    }
    const unwritten = (name: string): boolean => !last.has(name) && before[name] === after[name];
    return this.#assembled(
      from,
      "{",
      "}",
      parts,
      names
        .filter((name) => !unwritten(name))
        .map((name) => {
          const part = last.get(name);
          const key = part ? this.#text.slice(part.key, part.from) : `${JSON.stringify(name)}${this.#colon(parts)}`;
          return key + (part ? this.value(part.from, before[name], after[name]) : this.#written(from, after[name], 1));
        }),
    );
  }

  #list(from: number, end: number, before: unknown[], after: unknown[]): string {
    const parts = this.#elements(from, end);
    if (before.length === after.length) {
      return this.#spliced(from, end, parts, (_, i) => [before[i], after[i]]);
    }
    const ids = new Map(before.map((each, i) => [isObject(each) ? (each["id"] ?? each) : each, i]));
    return this.#assembled(
      from,
      "[",
      "]",
      parts,
      after.map((each) => {
        const i = ids.get(isObject(each) ? (each["id"] ?? each) : each);
        const part = i === undefined ? undefined : parts[i];
        return part && i !== undefined ? this.value(part.from, before[i], each) : this.#written(from, each, 1);
      }),
    );
  }

  #spliced(
    from: number,
    end: number,
    parts: Part[],
    values: (part: Part, i: number) => [before: unknown, after: unknown],
  ): string {
    let made = "";
    let at = from;
    parts.forEach((part, i) => {
      made += this.#text.slice(at, part.from) + this.value(part.from, ...values(part, i));
      at = part.end;
    });
    return made + this.#text.slice(at, end);
  }

  // assembled writes all members between the brackets, spaced as the first of them was.
  #assembled(from: number, open: string, close: string, parts: Part[], members: string[]): string {
    if (members.length === 0) return open + close;
    const [first, second] = parts;
    const last = parts.at(-1);
    const own = this.#indent(from);
    const indent = own === undefined ? "" : `\n${own}${this.#step()}`;
    const before = first ? this.#text.slice(from + 1, first.key) : indent;
    const between =
      first && second
        ? this.#text.slice(first.end, second.key)
        : `,${first && before.includes("\n") ? before : indent || (this.#spaced() ? " " : "")}`;
    const behind = last ? this.#text.slice(last.end, trimmedEnd(this.#text, from) - 1) : indent && `\n${own ?? ""}`;
    return open + before + members.join(between) + behind + close;
  }

  // written returns a new value, indented as the rest of the text.
  #written(from: number, value: unknown, deeper = 0): string {
    const own = this.#indent(from);
    if (own === undefined) return this.#spaced() ? spaced(value) : JSON.stringify(value);
    const step = this.#step();
    return JSON.stringify(value, null, step || undefined).replaceAll("\n", "\n" + own + step.repeat(deeper));
  }

  // indent returns the indentation of the line at a position; undefined if the text has one line.
  #indent(at: number): string | undefined {
    if (!this.#text.includes("\n")) return undefined;
    const line = this.#text.lastIndexOf("\n", at) + 1;
    return /^[ \t]*/.exec(this.#text.slice(line, at + 1))?.[0] ?? "";
  }

  #step(): string {
    return /\n([ \t]+)\S/.exec(this.#text)?.[1] ?? "";
  }

  #spaced(): boolean {
    return /^\s*\{\s*"(?:[^"\\]|\\.)*": /.test(this.#text);
  }

  #colon(parts: Part[]): string {
    const [part] = parts;
    if (part) return this.#text.slice(stringEnd(this.#text, part.key), part.from);
    return this.#spaced() || this.#text.includes("\n") ? ": " : ":";
  }

  #members(from: number, end: number): Part[] {
    const parts: Part[] = [];
    let at = skip(this.#text, from + 1);
    while (at < end - 1) {
      const keyEnd = stringEnd(this.#text, at);
      const value = skip(this.#text, this.#text.indexOf(":", keyEnd) + 1);
      const name = JSON.parse(this.#text.slice(at, keyEnd)) as string;
      const part = { key: at, name, from: value, end: trimmedEnd(this.#text, value) };
      parts.push(part);
      at = skip(this.#text, part.end);
      if (this.#text[at] === ",") at = skip(this.#text, at + 1);
    }
    return parts;
  }

  #elements(from: number, end: number): Part[] {
    const parts: Part[] = [];
    let at = skip(this.#text, from + 1);
    while (at < end - 1) {
      const part = { key: at, name: "", from: at, end: trimmedEnd(this.#text, at) };
      parts.push(part);
      at = skip(this.#text, part.end);
      if (this.#text[at] === ",") at = skip(this.#text, at + 1);
    }
    return parts;
  }
}

/** Part is a member of an object or an element of a list in the text. */
interface Part {
  /** Where the name begins; of an element, the value. */
  key: number;
  name: string;
  from: number;
  end: number;
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${spaced(each)}`);
  return `{${members.join(", ")}}`;
}
