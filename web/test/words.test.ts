// The words of components: each English text of the engine has a Chinese one, and no other is
// listed.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schema } from "../../wasm/js/src/protocol.ts";
import { CanvasError, open } from "../canvas/dsl.ts";
import { plainly } from "../canvas/upstream.ts";
import { loadSpecWords, specWords, translated } from "../words/specs.ts";
import { EngineError } from "../../wasm/js/src/errors.ts";
import { HostError } from "../run/host.ts";
import { reasonOf, unreadable } from "../view/reason.tsx";
import { operatorSets } from "../view/form/operators.generated.ts";
import { settingsSchema } from "../view/form/settings.generated.ts";
import { speakCodes } from "../words/codes.ts";
import { learn, translator } from "../words/words.ts";
import { zh as codes } from "../words/codes.zh.ts";
import { specs } from "./specs.ts";

// proper are names that are the same in every language.
const proper = new Set([
  "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "JSON", "Markdown", "HTML", "PDF", "Word", "Excel", "CSV", "Python",
  "JavaScript", "MySQL", "PostgreSQL", "MariaDB", "SQL Server", "IBM DB2", "Trino", "OceanBase", "SQLite", "A4",
  "Letter", "10",
]);

// textsOf are the texts of a form.
function textsOf({ properties = {}, items }: Schema): (string | undefined)[] {
  const own = Object.values(properties).flatMap((param) => {
    const { options = [], unit, zero, want, hint } = param["x-easel"] ?? {};
    const labels = options.map(({ label }) => label);
    return [param.title, param.description, unit, zero, want, hint, ...labels, ...textsOf(param)];
  });
  return items ? [...own, ...textsOf(items)] : own;
}

// texts are the texts of components in the page, without the thoughts that contain a name.
function texts(): Set<string> {
  const all = [...new Set(specs.values())].flatMap((spec) => [
    spec.title, spec.description, spec.thoughts, spec.label, ...(spec.branches ?? []).map((branch) => branch.label),
    ...textsOf(spec.params ?? {}), ...(spec.outputs ?? []).map(({ description }) => plainly(description)),
  ]);
  all.push(...textsOf(settingsSchema));
  const operators = Object.values(operatorSets).flatMap((set) => set.map(({ label }) => label));
  const shown = [...all, ...operators].filter((text): text is string => Boolean(text));
  return new Set(shown.filter((text) => !proper.has(text) && !/^Calling /.test(text)));
}

test("every text of a component has a Chinese one, and nothing else is listed", async () => {
  await loadSpecWords();
  const listed = new Set(Object.keys(specWords.get()));
  listed.delete("Calling {0}.");
  const shown = texts();
  assert.ok(shown.size > 800);
  assert.deepEqual([...shown].filter((text) => !listed.has(text)), [], "add these to words/form.zh.ts");
  assert.deepEqual([...listed].filter((text) => !shown.has(text)), [], "remove these from words/*.zh.ts");
});

test("texts of forms have no schema prose", () => {
  const prose = /[{}]|->|\bparam\b|mcp_id/;
  assert.deepEqual([...texts()].filter((text) => prose.test(text)), []);
});

test("Chinese texts are Chinese", async () => {
  await loadSpecWords();
  const foreign = ([, text]: [string, string]): boolean => !/\p{Script=Han}/u.test(text);
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

test("what is wrong with a broken file has no English words in Chinese", async () => {
  await learn("zh");
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
