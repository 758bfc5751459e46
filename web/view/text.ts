// Values as text for people.

import type { ComponentSpec } from "@easel/engine";

/** seconds writes a duration. */
export function seconds(value: number): string {
  if (value < 0.0005) return "<1 ms";
  if (value < 0.9995) return `${Math.round(value * 1000)} ms`;
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

/** sizeText writes a number of bytes in the unit that suits people. */
export function sizeText(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let [size, step] = [Math.max(0, bytes), 0];
  // What would be rounded to 1000 is 1 of the next unit.
  for (; step < units.length - 1 && Math.round(size) >= 1000; step++) size /= 1000;
  return `${step === 0 || size >= 99.95 ? Math.round(size) : Number(size.toFixed(1))} ${units[step]}`;
}

/**
 * show writes any value; what is not text becomes JSON, and what is nested too deeply for that
 * dots.
 */
export function show(value: unknown, indent = 2): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value, null, indent) ?? "";
  } catch {
    return "…";
  }
}

/** brief writes a value on one line. */
export function brief(value: unknown, most = 80): string {
  const line = show(value, 0).replace(/\s+/g, " ");
  return line.length > most ? line.slice(0, most) + "…" : line;
}

/** bare leaves out the outputs that only the engine needs. */
export function bare(outputs: Record<string, unknown> | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(outputs ?? {}).filter(
      ([name, value]) => !name.startsWith("_") || (name === "_ERROR" && Boolean(value)),
    ),
  );
}

/**
 * like returns the value of an edited text: a string if the value was one before or the text is not
 * JSON, else the parsed value.
 */
export function like(before: unknown, text: string): unknown {
  if (typeof before === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** sentence begins a description with a capital letter, unless it begins with a name of code. */
export function sentence(text: string): string {
  return /^[a-z]+(?=[\s,;:-]|$)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** titled returns the display name of a component. */
export function titled(spec: ComponentSpec | undefined, name: string): string {
  return spec?.title ?? spoken(spec?.name ?? name);
}

/** spoken writes the name of a component as words: VariableAssigner becomes Variable assigner. */
export function spoken(name: string): string {
  const words = name.replace(/^plugin:/, "").replaceAll(/([a-z0-9])([A-Z][a-z])/g, "$1 $2").split(" ");
  return words.map((word, i) => (i > 0 && /^[A-Z][a-z]+$/.test(word) ? word.toLowerCase() : word)).join(" ");
}
