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
  none: "没有找到。请换个词。",
  found: "找到 {0} 处",
  group_use: "使用页面",
  group_call: "调用主机",
  group_operate: "运行主机",
  group_plugins: "编写插件",
  language: "指南为英文。",
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

/** DocsKey names a text. */
export type DocsKey = keyof typeof en;

/** texts holds the tables of both languages. */
export const texts = { en, zh };
