// Texts of the guides and of the help on a step; they are loaded with them.

const en = {
  title: "Guides",
  search: "Search the guides",
  none: "Nothing found. Try another word.",
  found: "{0} found",
  group_use: "Use the page",
  group_call: "Call a host",
  group_operate: "Run a host",
  group_plugins: "Write plugins",
  language: "",
  searched: "Searched for: {0}",
  openapi: "OpenAPI document of this host",
  failed: "The guides could not be loaded: {0}",
  back: "Back",
  help: "Help",
  help_of: "Help: {0}",
  stored: "In files and in RAGFlow it is called {0}.",
  example: "Example",
  try: "Open an example that has this step",
  settings: "Settings",
  outputs: "What it gives",
  branches: "Where it may lead",
  as_tool: "An agent can use it as a tool.",
  more: "Reference of this component",
  guides: "Guides",
  api: "API reference",
  keys: "Keys",
  pick: "Select a step and press ? to read what it does.",
};

const zh: typeof en = {
  title: "指南",
  search: "搜索指南",
  none: "没有找到。指南为英文，请换个词或使用英文词。",
  found: "找到 {0} 处",
  group_use: "使用页面",
  group_call: "调用主机",
  group_operate: "运行主机",
  group_plugins: "编写插件",
  language: "本指南目前只有英文版。",
  searched: "指南为英文，已按英文搜索：{0}",
  openapi: "此主机的 OpenAPI 文档",
  failed: "无法加载指南：{0}",
  back: "返回",
  help: "帮助",
  help_of: "帮助：{0}",
  stored: "在文件和 RAGFlow 中，它的名称是 {0}。",
  example: "示例",
  try: "打开包含此步骤的示例",
  settings: "设置",
  outputs: "它给出什么",
  branches: "它可能通向哪里",
  as_tool: "智能体可以把它当作工具使用。",
  more: "此组件的参考",
  guides: "指南",
  api: "API 参考",
  keys: "按键",
  pick: "选择一个步骤并按 ?，即可了解它的作用。",
};

// What people who read Chinese look for, by the words of the guides; longer words come first.
const glossary: readonly (readonly [zh: string, en: string])[] = [
  ["环境变量", "environment"], ["网络钩子", "webhook"], ["知识库", "dataset"],
  ["数据集", "dataset"], ["智能体", "agent"], ["定时任务", "schedule"],
  ["命令行", "command"], ["数据库", "database"], ["兼容性", "compatibility"], ["服务器", "server"], ["升级", "upgrade"],
  ["画布", "canvas"], ["组件", "component"], ["节点", "node"], ["模型", "model"], ["插件", "plugin"], ["运行", "run"],
  ["会话", "session"], ["记忆", "memory"], ["文档", "document"], ["分块", "chunk"], ["检索", "retrieval"], ["机密", "secret"],
  ["密钥", "key"], ["权限", "permission"], ["用户", "user"], ["租户", "tenant"], ["登录", "sign"], ["备份", "backup"],
  ["部署", "serve"], ["发布", "publish"], ["嵌入", "embed"], ["测试", "test"], ["日志", "log"], ["监控", "metrics"],
  ["费用", "cost"], ["价格", "price"], ["限额", "limit"], ["错误", "error"], ["变量", "variable"], ["导入", "import"],
  ["导出", "export"], ["流水线", "pipeline"], ["接口", "API"], ["主机", "host"], ["模板", "template"], ["循环", "loop"],
];

/** inEnglish writes a search in the words of the guides; a text without Chinese stays the same. */
export function inEnglish(query: string): string {
  if (!/\p{Script=Han}/u.test(query)) return query;
  const words = [...glossary].sort(([a], [b]) => b.length - a.length)
    .reduce((text, [zh, en]) => text.replaceAll(zh, ` ${en} `), query);
  return words.replaceAll(/\s+/g, " ").trim();
}

/** DocsKey names a text. */
export type DocsKey = keyof typeof en;

/** texts holds the tables of both languages. */
export const texts = { en, zh };
