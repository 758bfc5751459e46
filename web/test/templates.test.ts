// The templates of the home view: each is complete, laid out, and runs to its end offline.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { open } from "../canvas/dsl.ts";
import { build } from "../canvas/model.ts";
import { useCases, type Template } from "../view/example.ts";
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
