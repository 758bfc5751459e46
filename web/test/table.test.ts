// The table of all settings: each has a label, a help, an editor and a section, and conditions only
// on settings that exist. words.test.ts tests the Chinese texts.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ComponentSpec, Schema } from "../../wasm/js/src/protocol.ts";
import { sectionOrder, tagOf, widgetOf } from "../view/form/shown.ts";
import { loadSpecWords, specWords } from "../words/specs.ts";
import { specs } from "./specs.ts";

const all = [...new Set(specs.values())];
const longest = 120; // characters of a help

interface Row {
  path: string;
  name: string;
  schema: Schema;
  /** All settings of the same object. */
  beside: Record<string, Schema>;
  nested: boolean;
}

function rowsOf({ properties = {} }: Schema, path: string, nested = false): Row[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (tagOf(schema).hidden) return [];
    const own = `${path}.${name}`;
    const row = { path: own, name, schema, beside: properties, nested };
    return [row, ...rowsOf(schema, own, true), ...(schema.items ? rowsOf(schema.items, `${own}[]`, true) : [])];
  });
}

// faultsOf lists what a row lacks.
function faultsOf({ path, name, schema, beside, nested }: Row, words: Record<string, string>): string[] {
  const { title = "", description = "" } = schema;
  const { section = "main", show, options = [] } = tagOf(schema);
  const faults: string[] = [];
  const fault = (when: boolean, text: string): void => { if (when) faults.push(`${path}: ${text}`); };
  fault(title === "" || title === name || /_/.test(title), `label "${title}"`);
  fault(!nested && description === "", "no help");
  fault(description.length > longest, `help of ${description.length} characters`);
  fault(/[{}]|->|\bparam\b/.test(description), `help "${description}"`);
  for (const text of [title, description]) {
    const known = words[text] !== undefined || proper.has(text);
    fault(!known && /[a-z]{3}/.test(text), `no Chinese for "${text}"`);
  }
  fault(!(sectionOrder as readonly string[]).includes(section), `section "${section}"`);
  fault(widgetOf(schema, undefined) === "json", "edited as JSON");
  fault(options.some(({ label }) => label === ""), "an option without a label");
  for (const part of (show ?? "").split("&").filter(Boolean)) {
    const [, other = ""] = /^!?@?([\w.]+)/.exec(part) ?? [];
    fault(!part.includes("@") && beside[other] === undefined, `shown by "${part}", which does not exist`);
  }
  return faults;
}

const proper = new Set(["JSON", "URL"]);

function tableOf(list: readonly ComponentSpec[], words: Record<string, string>): string[] {
  return list.flatMap((spec) => rowsOf(spec.params ?? {}, spec.name).flatMap((row) => faultsOf(row, words)));
}

test("every setting has a label, a help, an editor and a section, in both languages", async () => {
  await loadSpecWords();
  assert.ok(all.length > 50);
  assert.ok(all.flatMap((spec) => rowsOf(spec.params ?? {}, spec.name)).length > 500);
  assert.deepEqual(tableOf(all, specWords.get()), []);
});

test("a row that lacks something is found", async () => {
  await loadSpecWords();
  const [spec] = all.filter(({ name }) => name === "Retrieval");
  assert.ok(spec?.params?.properties?.["top_n"]);
  const { top_n: row, ...others } = spec.params.properties;
  const broken = (schema: Schema): string[] =>
    tableOf([{ ...spec, params: { ...spec.params, properties: { ...others, top_n: schema } } }], specWords.get());
  const tag = tagOf(row);
  assert.deepEqual(broken(row), []);
  assert.ok(broken({ ...row, title: "top_n" })[0]?.includes("label"));
  assert.deepEqual(broken({ ...row, description: "" }), ["Retrieval.top_n: no help"]);
  assert.deepEqual(broken({ ...row, description: "Some words without a translation" }).length, 1);
  assert.deepEqual(broken({ ...row, "x-easel": { ...tag, section: "attic" as "main" } }).length, 1);
  assert.deepEqual(broken({ ...row, "x-easel": { ...tag, show: "nothing=1" } }).length, 1);
  assert.deepEqual(broken({ ...row, "x-easel": { ...tag, widget: "json" } }), ["Retrieval.top_n: edited as JSON"]);
});

test("every output has a line that explains it", async () => {
  await loadSpecWords();
  const bare = all.flatMap(({ name, outputs = [] }) =>
    outputs.filter((output) => !output.name.startsWith("_") && !output.description)
      .map((output) => `${name}@${output.name}`));
  assert.deepEqual(bare, []);
});
