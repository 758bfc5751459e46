// Texts of the home view; they are loaded with it. Both languages have the same keys.

const en = {
  title: "Your canvases",
  find: "Find a canvas",
  import: "Import",
  new: "New canvas",
  new_hint: "Start empty and add steps",
  untitled: "Untitled canvas",
  here: "In this browser",
  here_none: "Canvases that you create or open are kept in this browser. Start with “New canvas” or a template below.",
  unsaved: "changes not on the host",
  browser_only: "in this browser only",
  changed: "changed {0}",
  delete: "Delete the draft {0}",
  matches_none: "No matches.",
  published: "published",

  templates: "Start from a template",
  templates_hint: "Complete canvases that run without a model or a server. Replace the texts with your own.",
  use_all: "All",
  use_label: "Use case",
  use_support: "Support",
  use_research: "Research",
  use_data: "Data",
  use_documents: "Documents",
  examples: "Examples of every component",
  examples_hint: "Small canvases that show together what steps there are.",
  steps: "{0} steps",

  import_title: "Import “{0}”",
  import_reading: "Checking what this canvas needs…",
  import_steps: "{0} steps: {1}",
  import_runs: "{0} of {1} steps run in this page",
  import_all: "All {0} steps run in this page",
  import_mock: "Run on a host; mock tools answer in this page",
  import_broken: "Will not run until it is repaired",
  import_notes: "Runs, with a remark",
  import_host: "On this host",
  import_host_ready: "Everything that the canvas needs is on this host.",
  import_host_unknown: "Sign in to this host to see what it has of what the canvas needs.",
  import_document: "The canvas",
  import_open: "Open canvas",
  import_cancel: "Cancel",
  import_other: "Choose another file",
  import_failed: "Couldn't import “{0}”",
  import_next_foreign:
    "Its steps have no exact counterpart here, so it is not converted. Start from the nearest template and copy " +
    "your prompts.",
  import_templates: "Show templates",
  need_no_model: "No model is set up on this host: an offline stand-in answers",
  need_secret: "Secret {0} is not on this host",
};

/** HomeKey names a text. */
export type HomeKey = keyof typeof en;

const zh: Record<HomeKey, string> = {
  title: "我的画布",
  find: "查找画布",
  import: "导入",
  new: "新建画布",
  new_hint: "从空白开始，逐步添加步骤",
  untitled: "未命名画布",
  here: "此浏览器中",
  here_none: "您新建或打开的画布都保存在此浏览器中。请点击“新建画布”或选择下方模板开始。",
  unsaved: "有未保存到主机的修改",
  browser_only: "仅在此浏览器中",
  changed: "修改于 {0}",
  delete: "删除草稿 {0}",
  matches_none: "没有匹配项。",
  published: "已发布",

  templates: "从模板开始",
  templates_hint: "无需模型或服务器即可运行的完整画布。把文字换成您自己的即可。",
  use_all: "全部",
  use_label: "使用场景",
  use_support: "客服",
  use_research: "研究",
  use_data: "数据",
  use_documents: "文档",
  examples: "组件示例",
  examples_hint: "小型画布，合起来展示了所有步骤类型。",
  steps: "{0} 个步骤",

  import_title: "导入“{0}”",
  import_reading: "正在检查此画布的需求…",
  import_steps: "{0} 个步骤：{1}",
  import_runs: "{1} 个步骤中有 {0} 个可在此页面运行",
  import_all: "全部 {0} 个步骤均可在此页面运行",
  import_mock: "需在主机上运行；此页面由模拟工具代答",
  import_broken: "修复前无法运行",
  import_notes: "可以运行，但请注意",
  import_host: "在此主机上",
  import_host_ready: "画布所需的一切在此主机上均已具备。",
  import_host_unknown: "登录此主机后，可查看它是否具备画布所需的内容。",
  import_document: "画布",
  import_open: "打开画布",
  import_cancel: "取消",
  import_other: "选择其他文件",
  import_failed: "无法导入“{0}”",
  import_next_foreign: "其中的步骤在此没有完全对应项，因此不作转换。请从最接近的模板开始，并复制您的提示词。",
  import_templates: "查看模板",
  need_no_model: "此主机未配置模型：由离线替身回答",
  need_secret: "此主机没有密钥 {0}",
};

/** texts are those of both languages, for the test that compares them. */
export const texts = { en, zh };

/** HomeText gives a text with values in its places {0}, {1}. */
export type HomeText = (key: HomeKey, ...values: (string | number)[]) => string;
