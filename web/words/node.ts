// Texts of the panel of a node; they are loaded with it. Both languages have the same keys.

const en = {
  parts: "Parts of the step",
  in: "In",
  settings: "Settings",
  out: "Out",
  dot_succeeded: "has results of the last run",
  dot_failed: "failed in the last run",
  dot_running: "is running",
  in_none: "No run yet. What this step is given is shown here.",
  in_empty: "This step was given nothing in this run.",
  in_insert: "Insert {0}",
  in_inserted: "Inserted",
  in_copied: "Copied, ready to paste into a field",
  in_hint: "Drag a value into a field, or press it to insert it.",
  out_none: "No run yet. This step will give:",
  out_nothing: "This step gives no outputs.",
  rendered: "As formatted text",
  copy: "Copy {0}",
  copied: "Copied",
  size: "{0} characters",
  turn: "Run {0} of {1}",
  copy_id: "Copy id",
  help: "Help",
  search: "Search the settings",
  search_none: "No setting is called that.",
  wide: "Wide panel",
  grip: "Width of the panel",
  grip_sheet: "Height of the panel",
};

const zh: typeof en = {
  parts: "步骤的各部分",
  in: "输入",
  settings: "设置",
  out: "输出",
  dot_succeeded: "有上次运行的结果",
  dot_failed: "上次运行失败",
  dot_running: "正在运行",
  in_none: "尚未运行。此步骤收到的内容会显示在这里。",
  in_empty: "此步骤在这次运行中没有收到任何内容。",
  in_insert: "插入 {0}",
  in_inserted: "已插入",
  in_copied: "已复制，可以粘贴到字段中",
  in_hint: "把值拖到字段中，或点按来插入。",
  out_none: "尚未运行。此步骤会给出：",
  out_nothing: "此步骤没有输出。",
  rendered: "显示为带格式的文字",
  copy: "复制 {0}",
  copied: "已复制",
  size: "{0} 个字符",
  turn: "第 {0} 次运行，共 {1} 次",
  copy_id: "复制 ID",
  help: "帮助",
  search: "搜索设置",
  search_none: "没有这样的设置。",
  wide: "宽面板",
  grip: "面板宽度",
  grip_sheet: "面板高度",
};

/** NodeKey names a text. */
export type NodeKey = keyof typeof en;

/** texts holds the tables of both languages. */
export const texts = { en, zh };
