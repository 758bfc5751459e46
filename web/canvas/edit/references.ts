// References inside the texts of a canvas: {node@output}, {sys.query}, without braces in params
// that are one reference. The engine resolves them; here they are only updated when an id or a name
// changes.

import { isObject } from "../dsl.ts";

/** Renaming maps old ids to new ones, or old references to new ones. */
export type Renaming = ReadonlyMap<string, string>;

/**
 * renameIds returns a value in which each id, whole or at the head of a reference, has its new
 * name.
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
 * renameReferences returns a value in which references, such as begin@topic or env.city, have their
 * new names. All are renamed at once: a new name may be the old one of another.
 */
export function renameReferences<T>(value: T, names: Renaming): T {
  return mapped(value, (text) => {
    const bare = renamed(text, names);
    if (bare !== undefined) return bare;
    return text.replaceAll(/\{(\s*)([^{}]*?)(\s*)\}/g, (match, before: string, inner: string, after: string) => {
      const name = renamed(inner, names);
      return name === undefined ? match : `{${before}${name}${after}}`;
    });
  }) as T;
}

// renamed returns the new name of a reference, which may end in a path.
function renamed(reference: string, names: Renaming): string | undefined {
  for (let end = reference.length; end > 0; end = reference.lastIndexOf(".", end - 1)) {
    const name = names.get(reference.slice(0, end));
    if (name !== undefined) return name + reference.slice(end);
  }
  return undefined;
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

/** isReference reports whether a text is one reference without braces. */
export function isReference(text: string): boolean {
  return /^[^{}@\s"']+@[^{}@\s"']+$/.test(text) || /^(sys|env)\.[\w.-]+$/.test(text);
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
