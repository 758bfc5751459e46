// The values that a webhook reads of a request: {query, headers, body}, each {properties: {field:
// {type}}, required: [field]}. Forms show them as rows.

import { isObject, own, word, type Params } from "./dsl.ts";

/** hookParts are the parts of a request, in the order of the rows. */
export const hookParts = ["body", "query", "headers"] as const;

/** HookPart is a part of a request. */
export type HookPart = (typeof hookParts)[number];

/** hookTypes are the types of values; an empty one is any. */
export const hookTypes = [
  "string", "number", "boolean", "object", "array<string>", "array<number>", "array<object>", "file", "",
] as const;

/** HookField is a value that is read. */
export interface HookField {
  part: HookPart;
  name: string;
  type: string;
  required: boolean;
}

/** hookFields returns the rows of a schema. */
export function hookFields(schema: unknown): HookField[] {
  return hookParts.flatMap((part) => {
    const section = isObject(schema) ? schema[part] : undefined;
    const properties = isObject(section) && isObject(section["properties"]) ? section["properties"] : {};
    const required = isObject(section) && Array.isArray(section["required"]) ? section["required"] : [];
    return Object.entries(properties).map(([name, field]): HookField => ({
      part, name, type: typeOf(field), required: required.includes(name),
    }));
  });
}

function typeOf(field: unknown): string {
  return isObject(field) ? word(field["type"] ?? "") : "";
}

/** hookSchema returns the schema of rows. What else stands in a field that stays is kept. */
export function hookSchema(before: unknown, rows: readonly HookField[]): Params {
  const out: Params = isObject(before) ? { ...before } : {};
  for (const part of hookParts) {
    const mine = rows.filter((row) => row.part === part);
    const { properties: old, required: listed, ...rest } = isObject(out[part]) ? out[part] : {};
    if (mine.length === 0 && !Object.hasOwn(out, part)) continue;
    const stored: Params = isObject(old) ? old : {};
    const properties = Object.fromEntries(mine.map(({ name, type }) => {
      const field = own(stored, name);
      if (field !== undefined && type === typeOf(field)) return [name, field]; // also types that no row has
      const { type: _type, ...others } = isObject(field) ? field : {};
      return [name, type === "" ? others : { ...others, type }];
    }));
    // Names that have no property are in no row.
    const unseen = Array.isArray(listed) ? listed.filter((name) => own(stored, word(name)) === undefined) : [];
    const required = [...mine.filter((row) => row.required).map(({ name }) => name), ...unseen];
    out[part] = { ...rest, properties, required };
  }
  return out;
}

/**
 * hookExample adds the members of an example of a body to rows; known ones stay. It returns a fault
 * for a text that is not an object in JSON.
 */
export function hookExample(rows: readonly HookField[], text: string): HookField[] | "not_json" | "not_object" {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "not_json";
  }
  if (!isObject(value)) return "not_object";
  const known = new Set(rows.filter(({ part }) => part === "body").map(({ name }) => name));
  const added = Object.entries(value).filter(([name]) => !known.has(name));
  return [...rows, ...added.map(([name, each]): HookField => ({
    part: "body", name, type: typeName(each), required: false,
  }))];
}

function typeName(value: unknown): string {
  if (value === null) return "";
  if (!Array.isArray(value)) return typeof value === "object" ? "object" : typeof value;
  const kinds = new Set(value.map(typeName));
  const [kind = ""] = kinds;
  return kinds.size === 1 && ["string", "number", "object"].includes(kind) ? `array<${kind}>` : "array";
}
