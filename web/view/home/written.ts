// Templates as canvases in the language of the page, loaded when one is opened.

import { isObject } from "../../canvas/dsl.ts";
import { pick, type Language } from "../../words/words.ts";
import { zh } from "../../words/templates.zh.ts";
import type { Template } from "../example.ts";

/** written returns the text of a template as a canvas. */
export function written({ title, description, dsl }: Template, language: Language): string {
  return JSON.stringify({
    title: pick(title, language),
    description: pick(description, language),
    dsl: language === "zh" ? translate(dsl) : dsl,
  });
}

// Values of these keys are read by programs, whatever they spell.
const technical: ReadonlySet<string> = new Set(["id", "type", "label", "component_name"]);

// translate replaces texts, and names of categories, which are keys.
function translate(value: unknown, key = ""): unknown {
  if (typeof value === "string") return technical.has(key) ? value : (zh[value] ?? value);
  if (Array.isArray(value)) return value.map((each) => translate(each, key));
  if (!isObject(value)) return value;
  const rename = (name: string): string => (key === "category_description" ? (zh[name] ?? name) : name);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [rename(name), translate(each, name)]));
}
