// References inside the texts of a canvas: {node@output}, {sys.query}, bare in params that hold
// nothing else. The engine says what they mean; here they are only followed when an id or a name
// changes.

import { isObject } from "../dsl.ts";

/** Renaming maps old ids to new ones, or old references to new ones. */
export type Renaming = ReadonlyMap<string, string>;

/**
 * renameIds gives a value in which each id, whole or at the head of a reference, has its new name.
 */
export function renameIds<T>(value: T, ids: Renaming): T {
  return mapped(value, (text) => {
    const whole = ids.get(text);
    if (whole !== undefined) return whole;
    const bare = /^\{?([^{}@\s]+)@[^{}\s]+\}?$/.exec(text)?.[1];
    if (bare !== undefined && ids.has(bare)) return text.replace(bare, () => ids.get(bare) ?? bare);
    return text.replaceAll(/\{([^{}@]+)(@[^{}]*)?\}/g, (match, id: string, rest: string | undefined) => {
      const name = ids.get(id.trim());
      return name === undefined || rest === undefined ? match : `{${id.replace(id.trim(), () => name)}${rest}}`;
    });
  }) as T;
}

/**
 * renameReference gives a value in which a reference, such as begin@topic or env.city, has its new
 * name.
 */
export function renameReference<T>(value: T, from: string, to: string): T {
  const pattern = new RegExp(`\\{(\\s*)${RegExp.escape?.(from) ?? escaped(from)}((?:\\.[^{}]*)?\\s*)\\}`, "g");
  return mapped(value, (text) => {
    if (text === from || text.startsWith(`${from}.`)) return to + text.slice(from.length);
    return text.replaceAll(pattern, (_, before: string, after: string) => `{${before}${to}${after}}`);
  }) as T;
}

/** referencesOf lists the references in a value, each once. */
export function referencesOf(value: unknown): string[] {
  const found = new Set<string>();
  mapped(value, (text) => {
    for (const [, inner = ""] of text.matchAll(/\{([^{}\n]+)\}/g))
      if (isReference(inner.trim())) found.add(inner.trim());
    if (isReference(text.trim())) found.add(text.trim());
    return text;
  });
  return [...found];
}

/** isReference reports whether a text reads as one reference, without braces. */
export function isReference(text: string): boolean {
  return /^[^{}@\s"']+@[^{}@\s"']+$/.test(text) || /^(sys|env)\.[\w.-]+$/.test(text);
}

declare global {
  interface RegExpConstructor {
    escape?(text: string): string;
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) {
    const list = value.map((each: unknown) => mapped(each, change));
    return list.some((each, i) => each !== value[i]) ? list : value;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, mapped(each, change)] as const);
  return entries.some(([key, each]) => each !== value[key]) ? Object.fromEntries(entries) : value;
}
