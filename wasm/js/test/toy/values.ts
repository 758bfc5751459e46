// References and comparisons, as far as the toy needs them.

/** Values are outputs by node, and variables by name. */
export interface Values {
  outputs: Record<string, Record<string, unknown>>;
  variables: Record<string, unknown>;
}

/** ToyComponent is an entry of `components`. */
export interface ToyComponent {
  obj: { component_name: string; params: Record<string, unknown> };
  downstream?: string[];
  upstream?: string[];
  parent_id?: string;
}

/** ToyCanvas is a parsed canvas with its state. */
export interface ToyCanvas {
  components: Record<string, ToyComponent>;
  globals?: Record<string, unknown>;
  variables?: Record<string, { value?: unknown }>;
  history?: unknown[];
  path?: string[];
  waiting?: string[];
  kept?: Values["outputs"];
  graph?: { nodes?: { id: string; data?: { name?: string } }[] };
}

const reference = /\{+\s*([\w:-]+@[\w.-]+|(?:sys|env)\.[\w.]+)\s*\}+/g;

/** look resolves one reference, with or without braces. */
export function look(values: Values, ref: unknown): unknown {
  const name = String(ref ?? "").replace(/[{}\s]/g, "");
  if (!name.includes("@")) return values.variables[name];
  const [node = "", path = ""] = name.split("@", 2);
  let value: unknown = values.outputs[node];
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null) return null;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** text replaces all references in a string by their values. */
export function text(values: Values, template: unknown): string {
  return String(template ?? "").replace(reference, (_, name: string) => show(look(values, name)));
}

/** show returns the text form of a value. */
export function show(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** references lists the references in a tree of params. */
export function references(tree: unknown): string[] {
  return [...JSON.stringify(tree ?? null).matchAll(reference)].map((match) => match[1] as string);
}

/** split divides a string into its literal parts and references, in order. */
export function split(template: string): (string | { ref: string })[] {
  const parts: (string | { ref: string })[] = [];
  let at = 0;
  for (const match of template.matchAll(reference)) {
    if (match.index > at) parts.push(template.slice(at, match.index));
    parts.push({ ref: match[1] as string });
    at = match.index + match[0].length;
  }
  if (at < template.length) parts.push(template.slice(at));
  return parts;
}

/** holds evaluates one condition. */
export function holds(left: unknown, operator: string, right: unknown): boolean {
  const [a, b] = [show(left).toLowerCase(), show(right).toLowerCase()];
  switch (operator) {
    case "contains": return a.includes(b);
    case "not contains": return !a.includes(b);
    case "start with": return a.startsWith(b);
    case "end with": return a.endsWith(b);
    case "empty": return a === "";
    case "not empty": return a !== "";
    case "=": case "is": return a === b;
    case "≠": case "is not": return a !== b;
    case ">": return Number(left) > Number(right);
    case "<": return Number(left) < Number(right);
    case "≥": return Number(left) >= Number(right);
    case "≤": return Number(left) <= Number(right);
    default: return false;
  }
}
