// The templates of the home view: each is complete, laid out, and runs to its end offline.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isObject, open } from "../canvas/dsl.ts";
import { build } from "../canvas/model.ts";
import { useCases, type Template } from "../view/example.ts";
import { written } from "../view/home/written.ts";
import { zh } from "../words/templates.zh.ts";
import { apart, unhidden } from "./apart.ts";
import { engine, runsOffline } from "./offline.ts";
import { specs } from "./specs.ts";

const folder = new URL("../templates/", import.meta.url);
const files = readdirSync(folder);
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");
const all = files.map((file) => JSON.parse(read(file)) as Template);

// The first question of templates that start with one.
const questions: Record<string, string> = {
  "support-bot": "How long can I return goods?",
  "support-faq": "How long are gift cards valid?",
};

test("there are three templates for each use case, described in both languages", () => {
  for (const use of useCases) assert.equal(all.filter((template) => template.use === use).length, 3, use);
  assert.equal(all.length, 3 * useCases.length);
  for (const { id, title, description } of all) {
    for (const words of [title, description]) {
      assert.ok(typeof words === "object" && words["en"] && /\p{Script=Han}/u.test(words["zh"] ?? ""), id);
    }
  }
});

for (const file of files) {
  const id = file.replace(/\.json$/, "");
  test(`${id} is laid out: no boxes overlap, edges lead to the right`, () => {
    const { dsl } = open(read(file));
    assert.equal(all.find((template) => template.id === id)?.id, id, "the file is named after its id");
    const model = build(dsl, specs);
    assert.equal(model.unplaced, false);
    apart(model);
    unhidden(model);
  });

  test(`${id} runs to its end with the offline model`, async () => {
    const answer = await runsOffline(read(file), questions[id] ?? "Should we open a second shop?");
    assert.doesNotMatch(answer, /\{[^{}\s]*@[^{}\s]*\}/, "references are replaced");
  });
}

test("the support bots answer from the sample handbook and cite the source", async () => {
  assert.match(await runsOffline(read("support-bot.json"), questions["support-bot"] ?? ""), /30 days/);
  assert.match(
    await runsOffline(read("support-faq.json"), questions["support-faq"] ?? ""),
    /three years[\s\S]*\[ID:\d+\]/,
  );
  const nothing = await runsOffline(read("support-faq.json"), "xylophone quartz");
  assert.match(nothing, /nothing about this/);
});

test("the support bot asks for an address when human help is needed", async () => {
  const { text } = open(read("support-bot.json"));
  const run = (await engine.load(text)).run({ query: "My parcel is broken, I want to talk to a human" });
  for await (const event of run) assert.equal("error" in event.data && Boolean(event.data.error), false);
  assert.equal((await run.result).status, "paused");
});

// What people read or write in a canvas, by the key of its value.
const spoken = new Set([
  "name", "text", "prologue", "sys_prompt", "content", "description", "examples", "tips", "title", "empty_response",
  "options",
]);

// readable lists the texts of a canvas, without references and code.
function readable(value: unknown, key = "", list: string[] = []): string[] {
  if (key === "id") return list;
  if (typeof value === "string") {
    if (spoken.has(key) || /[a-z]{2} [a-z]{2}/i.test(value.replaceAll(/\{[^{}]*\}/g, ""))) list.push(value);
  } else if (Array.isArray(value)) {
    for (const each of value) readable(each, key, list);
  } else if (isObject(value)) {
    if (key === "category_description") list.push(...Object.keys(value));
    for (const [name, each] of Object.entries(value)) readable(each, name, list);
  }
  return list;
}

const bareOf = (text: string): string => text.replaceAll(/\{[^{}]*\}|[\s*#|`-]|sql/g, "");

test("templates are translated as a whole, and no other text is listed", () => {
  const listed = new Set(Object.keys(zh));
  const used = new Set(all.flatMap(({ dsl }) => [...JSON.stringify(dsl).matchAll(/"(?:[^"\\]|\\.)*"/g)]
    .map(([text]) => JSON.parse(text) as string)));
  assert.deepEqual([...listed].filter((text) => !used.has(text)), [], "remove these from words/templates.zh.ts");
  for (const { id, dsl } of all) {
    const texts = readable(dsl).filter((text) => bareOf(text) !== "" && !/^function main/.test(text));
    const missing = texts.filter((text) => !listed.has(text));
    assert.deepEqual(missing, [], `${id}: add these to words/templates.zh.ts`);
  }
});

test("Chinese texts of templates name the same references and the steps as they are named there", () => {
  const named = (text: string): string[] => (text.match(/\{[\w.:@]+\}/g) ?? []).toSorted();
  for (const [english, chinese] of Object.entries(zh)) {
    assert.deepEqual(named(chinese), named(english), english);
    if (english !== "retrieval augmented generation") assert.match(chinese, /\p{Script=Han}/u);
  }
  for (const template of all) {
    const nodes = [...JSON.stringify(open(written(template, "zh")).dsl.graph).matchAll(/"name":"([^"]*)"/g)]
      .map(([, name]) => name);
    const fields = Object.values(template.dsl.components).flatMap(({ obj }) =>
      Object.values((obj.params["inputs"] ?? {}) as Record<string, { name: string }>).map(({ name }) => zh[name]));
    for (const note of readable(template.dsl.graph, "graph").filter((text) => text.includes("**"))) {
      for (const [, step] of (zh[note] ?? "").matchAll(/\*\*([^*]+)\*\*/g)) {
        assert.ok([...nodes, ...fields].includes(step), `${template.id}: ${step}`);
      }
    }
  }
});

for (const template of all) {
  test(`${template.id} runs to its end in Chinese`, async () => {
    const answer = await runsOffline(written(template, "zh"), questions[template.id] ?? "我们该开第二家店吗？");
    assert.doesNotMatch(answer, /\{[^{}\s]*@[^{}\s]*\}/, "references are replaced");
  });
}
