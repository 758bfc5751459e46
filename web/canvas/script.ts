// Scripts of a canvas: the line that failed, and the text that a new one begins with.

import type { Specs } from "./drawing.ts";
import { isObject, word, type Dsl, type Params } from "./dsl.ts";

/** failingLine returns the line of a script that the text of an error names, from 1. */
export function failingLine(error: string): number | undefined {
  // The innermost call is last in Python, first in JavaScript.
  const python = [...error.matchAll(/File "main\.py", line (\d+)/g)].at(-1);
  const [, line] = python ?? /\bscript\.js:(?: Line )?(\d+)/.exec(error) ?? [];
  return line === undefined ? undefined : Number(line);
}

/** languageOf returns the language of the script of params; a `text` has none that is known. */
export function languageOf(params: Params, usual: string): "python" | "javascript" | "text" {
  const chosen = params["lang"] ?? usual;
  if (chosen === "python" || chosen === "python3") return "python";
  return chosen === "javascript" || chosen === "nodejs" ? "javascript" : "text";
}

/** scriptsOf returns the steps with scripts in each language, also those whose tools have one. */
export function scriptsOf({ components }: Dsl, specs: Specs): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const look = (node: string, kind: unknown, params: unknown): void => {
    const schemas = specs.get(typeof kind === "string" ? kind : "")?.params?.properties;
    if (!isObject(params) || schemas?.["lang"] === undefined) return;
    const language = languageOf(params, word(schemas["lang"].default ?? ""));
    const nodes = found.get(language) ?? [];
    if (!nodes.includes(node)) found.set(language, [...nodes, node]);
  };
  for (const [node, { obj }] of Object.entries(components)) {
    look(node, obj.component_name, obj.params);
    const tools = obj.params["tools"];
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (isObject(tool)) look(node, tool["component_name"], tool["params"]);
    }
  }
  return found;
}

/** skeleton returns a script with a function that gets these inputs. */
export function skeleton(language: "python" | "javascript", inputs: readonly string[]): string {
  const names = inputs.filter((name) => /^[A-Za-z_]\w*$/.test(name)).join(", ");
  const result = names === "" ? (language === "python" ? "None" : "null") : names.split(", ")[0];
  if (language === "python") return `def main(${names}):\n    return ${result}\n`;
  return `function main(${names === "" ? "" : `{ ${names} }`}) {\n  return ${result};\n}\n`;
}
