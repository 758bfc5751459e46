// Metadata of documents as people write it: texts, numbers, dates and lists.

import type { MetaValue } from "./datasets.ts";

/** MetaType is the type of a value in forms; the host stores dates as texts. */
export type MetaType = "text" | "number" | "date" | "list";

/** metaTypes lists the types in the order in which they are offered. */
export const metaTypes: readonly MetaType[] = ["text", "number", "date", "list"];

/** longestKey is the largest number of characters of a key. */
export const longestKey = 128;

const day = /^\d{4}-\d{2}-\d{2}$/;

/** typeOf returns the type of a stored value. */
export function typeOf(value: MetaValue): MetaType {
  if (Array.isArray(value)) return "list";
  if (typeof value === "number") return "number";
  return isDay(value) ? "date" : "text";
}

function isDay(text: string): boolean {
  const at = day.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return at !== undefined && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** textOf writes a value for a field of its type. */
export function textOf(value: MetaValue): string {
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** valueOf parses a field; undefined if the text is not of the type. */
export function valueOf(type: MetaType, text: string): MetaValue | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  switch (type) {
    case "number": {
      const number = Number(trimmed);
      return Number.isFinite(number) ? number : undefined;
    }
    case "date":
      return isDay(trimmed) ? trimmed : undefined;
    case "list": {
      const list = trimmed.split(/[,，、\n]/).map((each) => each.trim()).filter(Boolean);
      return list.length > 0 ? list : undefined;
    }
    case "text":
      return trimmed;
  }
}
