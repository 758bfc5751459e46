// The words of components: each English text of the engine has a Chinese one, and no other is
// listed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CanvasError, open } from "../canvas/dsl.ts";
import { loadSpecWords, specWords, translated } from "../words/specs.ts";
import { EngineError } from "../../wasm/js/src/errors.ts";
import { HostError } from "../run/host.ts";
import { reasonOf, unreadable } from "../view/reason.tsx";
import { spoken } from "../view/text.ts";
import { speakCodes } from "../words/codes.ts";
import { translator } from "../words/words.ts";
import { zh as codes } from "../words/codes.zh.ts";
import { specs } from "./specs.ts";

// texts are the texts of components in the page, without the thoughts that contain a name.
function texts(): Set<string> {
  const all = [...new Set(specs.values())].flatMap((spec) => [
    spec.description, spec.thoughts, spec.label, ...(spec.branches ?? []).map((branch) => branch.label),
    ...Object.values(spec.params?.properties ?? {}).flatMap((param) => [param.title, param.description]),
  ]);
  return new Set(all.filter((text): text is string => Boolean(text) && !/^Calling /.test(text ?? "")));
}

test("every text of a component has a Chinese one, and nothing else is listed", async () => {
  await loadSpecWords();
  const listed = new Set(Object.keys(specWords.get()));
  listed.delete("Calling {0}.");
  const shown = texts();
  assert.ok(shown.size > 400);
  assert.deepEqual([...shown].filter((text) => !listed.has(text)), [], "add these to words/specs.zh.ts");
  const names = new Set([...specs.values()].map((spec) => spoken(spec.name)));
  const unknown = [...listed].filter((text) => !shown.has(text) && !names.has(text));
  assert.deepEqual(unknown, [], "remove these from words/specs.zh.ts");
});

test("components have Chinese names, but for services, which keep theirs", async () => {
  await loadSpecWords();
  const names = [...specs.values()].filter(({ category }) => category !== "tool").map((spec) => spoken(spec.name));
  assert.deepEqual(names.filter((name) => !Object.hasOwn(specWords.get(), name)), []);
});

test("Chinese texts are Chinese", async () => {
  await loadSpecWords();
  const same = new Set(["Top P", "SQL"]);
  const foreign = ([english, text]: [string, string]): boolean => !same.has(english) && !/\p{Script=Han}/u.test(text);
  const latin = Object.entries(specWords.get()).filter(foreign);
  assert.deepEqual(latin, []);
});

test("numbered labels and thoughts that name a tool are translated, unknown texts stay", () => {
  const words = { Case: "情况", "Calling {0}.": "正在调用 {0}。" };
  const shown = ["Case 2", "Calling Email.", "n > 1", "Case"].map((text) => translated(words, text));
  assert.deepEqual(shown, ["情况 2", "正在调用 Email。", "n > 1", "情况"]);
});

test("every code of an error or diagnostic has Chinese words, and the message is behind them", async () => {
  assert.ok(Object.keys(codes).length > 90);
  assert.deepEqual(Object.entries(codes).filter(([, words]) => !/\p{Script=Han}/u.test(words)), []);
  const refused = new HostError(404, 'no canvas "x"', "not_found");
  assert.equal(reasonOf(refused), 'no canvas "x"');
  await speakCodes("zh");
  assert.equal(reasonOf(refused), '没有这条记录（no canvas "x"）');
  assert.equal(reasonOf(new HostError(0, "offline")), "offline");
  assert.equal(reasonOf(new EngineError("watchdog", "no answer")), `${codes.watchdog}（no answer）`);
  await speakCodes("en");
  assert.equal(reasonOf(refused), 'no canvas "x"');
});

test("what is wrong with a broken file has no English words in Chinese", () => {
  const words = translator("zh");
  const broken = ["{", '{"a": 1,\n "b" 2}', '{"a": }', '{"title": "x", "components": {"begin": nothing at all}}', ""];
  for (const text of broken) {
    const told = unreadable(words, failure(text));
    const own = told.replace(text, "").replaceAll(/"[^]*"/g, "");
    assert.doesNotMatch(own, /[a-z]{2}/, `${JSON.stringify(text)}: ${told}`);
  }
});

function failure(text: string): CanvasError {
  try {
    open(text);
  } catch (err) {
    if (err instanceof CanvasError) return err;
  }
  return assert.fail("it is a canvas");
}
