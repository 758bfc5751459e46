// The Chinese words of core terms: one for each, in all texts of the page and of components.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { en as areas } from "../words/areas.en.ts";
import { zh as areasZh } from "../words/areas.zh.ts";
import { en } from "../words/en.ts";
import { texts as home } from "../words/home.ts";
import { texts as settings } from "../words/settings.ts";
import { texts as sharing } from "../words/sharing.ts";
import { loadSpecWords, specWords } from "../words/specs.ts";
import { zh } from "../words/zh.ts";

/** terms maps an English term to its Chinese word and to words that must not be used for it. */
const terms: Record<string, [word: string, ...others: string[]]> = {
  agent: ["智能体", "代理"],
  approval: ["批准", "审批"],
  branch: ["分支", "岔路"],
  canvas: ["画布"],
  chat: ["聊天|对话"],
  chunk: ["片段", "切片", "分块"],
  component: ["组件", "部件"],
  dataset: ["数据集", "知识库"],
  document: ["文档"],
  draft: ["草稿"],
  file: ["文件", "档案"],
  form: ["表单", "表格"],
  group: ["分组|组"],
  host: ["主机", "本站", "宿主"],
  image: ["图片|图像"],
  input: ["输入"],
  iteration: ["迭代"],
  key: ["密钥|键", "钥匙"],
  knowledge: ["知识"],
  limit: ["限制|上限|限额"],
  loop: ["循环"],
  memory: ["记忆|内存"],
  message: ["消息", "讯息"],
  model: ["模型"],
  node: ["节点", "结点"],
  output: ["输出"],
  permission: ["权限"],
  pipeline: ["流水线", "管道"],
  plugin: ["插件", "外挂"],
  prompt: ["提示"],
  provider: ["供应商", "提供商", "服务商"],
  reference: ["引用"],
  run: ["运行"],
  schedule: ["定时", "日程"],
  secret: ["机密", "秘密"],
  session: ["会话"],
  setting: ["设置"],
  step: ["步骤|步"],
  template: ["模板"],
  tenant: ["租户"],
  timeline: ["时间线", "时间轴"],
  token: ["词元|令牌"],
  tool: ["工具"],
  usage: ["用量"],
  user: ["用户", "使用者"],
  variable: ["变量"],
  vector: ["向量", "矢量"],
  version: ["版本"],
  webhook: ["网络钩子", "Webhook", "回调"],
};

describe("Chinese terms", () => {
  const pairs: [english: string, chinese: string][] = [];
  before(async () => {
    await loadSpecWords();
    pairs.push(...Object.entries(specWords.get()));
    const sets: [Record<string, string>, Record<string, string>][] = [
      [en, zh], [areas, areasZh], [home.en, home.zh], [settings.en, settings.zh],
      [sharing.en, sharing.zh],
    ];
    for (const [english, chinese] of sets)
      for (const [key, text] of Object.entries(english)) pairs.push([text, chinese[key] ?? ""]);
  });

  for (const [term, [word, ...others]] of Object.entries(terms)) {
    test(`${term} is ${word}`, () => {
      const english = new RegExp(`\\b${term.replace(/y$/, "(?:y|ie)")}(?:e?s)?\\b`, "i");
      const named = pairs.filter(([text]) => english.test(text));
      assert.ok(named.some(([, chinese]) => new RegExp(word).test(chinese)), "the word is not used");
      assert.deepEqual(named.filter(([, chinese]) => others.some((other) => chinese.includes(other))), []);
    });
  }
});
