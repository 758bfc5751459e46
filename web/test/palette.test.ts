// The palette finds steps by what people call them, in both languages, and shows names as their
// owners spell them.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { ComponentSpec } from "../../wasm/js/src/protocol.ts";
import { offered, recentFirst, search } from "../view/edit/palette.tsx";
import { titled } from "../view/text.ts";
import { loadSpecWords, specWords, translated } from "../words/specs.ts";
import { specs } from "./specs.ts";

const all = [...new Set(specs.values())];
before(loadSpecWords);

const chinese = (english: string): string => translated(specWords.get(), english);
const languages: Record<string, (english: string) => string> = { English: (english) => english, Chinese: chinese };

// Words of people and the step that they mean; it is among the first three.
const meant: [word: string, component: string][] = [
  ["human", "UserFillUp"], ["form", "UserFillUp"], ["人工", "UserFillUp"], ["确认", "UserFillUp"],
  ["if", "Switch"], ["condition", "Switch"], ["router", "Switch"],
  ["条件", "Switch"], ["如果", "Switch"], ["判断", "Switch"],
  ["api", "Invoke"], ["rest", "Invoke"], ["接口", "Invoke"],
  ["pdf", "DocGenerator"], ["pdf", "Retrieval"], ["pdf", "Parser"], ["文档", "Retrieval"],
  ["webhook", "Begin"], ["trigger", "Begin"], ["网络钩子", "Begin"], ["触发", "Begin"],
  ["answer", "Message"], ["回答", "Message"], ["rag", "Retrieval"], ["知识库", "Retrieval"],
  ["foreach", "Iteration"], ["遍历", "Iteration"], ["while", "Loop"], ["直到", "Loop"],
  ["mcp", "Agent"], ["tools", "Agent"], ["gpt", "LLM"], ["intent", "Categorize"], ["意图", "Categorize"],
  ["python", "CodeExec"], ["脚本", "CodeExec"], ["mysql", "ExeSQL"], ["数据库", "ExeSQL"],
  ["smtp", "Email"], ["邮件", "Email"],
  ["csv", "ExcelProcessor"], ["jinja", "StringTransform"], ["counter", "VariableAssigner"], ["subflow", "Canvas"],
  ["stock", "YahooFinance"],
  ["weather", "QWeather"], ["天气", "QWeather"], ["translate", "DeepL"], ["翻译", "DeepL"],
];

for (const [word, component] of meant) {
  test(`"${word}" finds ${component}`, () => {
    for (const [language, words] of Object.entries(languages)) {
      const found = search(all, word, words, () => "").map(({ name }) => name);
      assert.ok(found.slice(0, 3).includes(component), `${language}: ${found.slice(0, 5).join(", ")}`);
    }
  });
}

test("every step is the first or second that its stored name and its title find", () => {
  for (const [language, words] of Object.entries(languages)) {
    for (const spec of all) {
      for (const name of [spec.name, titled(spec, spec.name), words(titled(spec, spec.name))]) {
        const found = search(all, name, words, () => "").slice(0, 2);
        assert.ok(found.includes(spec), `${language}: ${name}: ${found.map((each: ComponentSpec) => each.name)}`);
      }
    }
  }
});

test("every component has a title, and services are spelled as they spell themselves", () => {
  for (const { name, title } of all) assert.ok(title, name);
  const spelled = {
    ArXiv: "arXiv", DuckDuckGo: "DuckDuckGo", SearXNG: "SearXNG", PubMed: "PubMed", GoogleScholar: "Google Scholar",
    WenCai: "WenCai", AkShare: "AkShare", TuShare: "TuShare", QWeather: "QWeather", DeepL: "DeepL",
    GitHub: "GitHub repositories", YahooFinance: "Yahoo Finance", Google: "Google (SerpApi)", Jin10: "Jin10",
  };
  assert.deepEqual(Object.fromEntries(Object.keys(spelled).map((name) => [name, specs.get(name)?.title])), spelled);
});

test("groups stand in the order of the engine, and each component is in one", () => {
  const groups = offered(all, false, false).map(({ group }) => group);
  assert.deepEqual([...new Set(groups)], [
    "talk", "ai", "knowledge", "flow", "data", "code", "files", "web", "papers", "finance", "weather",
  ]);
  const together = [...new Set(groups)].flatMap((group) => groups.filter((each) => each === group));
  assert.deepEqual(groups, together);
  assert.deepEqual([...new Set(offered(all, true, false).map(({ group }) => group))], ["pipeline"]);
});

test("components that were added last come first, each once, without those that are gone", () => {
  const list = offered(all, false, false);
  const { specs: sorted, recent } = recentFirst(list, ["Loop", "Gone", "Message"]);
  assert.equal(recent, 2);
  assert.deepEqual(sorted.slice(0, 2).map(({ name }) => name), ["Loop", "Message"]);
  assert.equal(new Set(sorted).size, list.length);
});
