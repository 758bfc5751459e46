// Texts of drafts by a model. Both languages have the same keys.

const en = {
  title: "Describe a change",
  wish: "What should this canvas do?",
  example: "Add a form that asks for the order number",
  bounds: "{0} gets the steps of this canvas, without secrets, and answers at most {1} times.",
  draft: "Make a draft",
  again: "Draft again",
  busy: "Answer {0} of at most {1}: {2} characters",
  cancel: "Cancel",
  close: "Close",
  add: "Add these changes",
  add_anyway: "Add them with these problems",
  discard: "Discard",
  changes: "Proposed changes",
  ready: "Nothing is changed yet. Undo takes an added draft back.",
  problems: "The answer was corrected once and still has problems:",
  unusable: "The answer cannot be used:",
  used: "Answers: {0}, tokens: {1}",
  moved: "The canvas was changed since this draft was made. Draft again.",
  no_model: "A draft needs a language model.",
  from_template: "This canvas was made from the nearest template. With a model it can be changed to your wish.",
};

const zh: Record<keyof typeof en, string> = {
  title: "描述修改",
  wish: "此画布应做什么？",
  example: "添加一个询问订单号的表单",
  bounds: "{0} 会收到此画布的步骤（不含机密），最多回答 {1} 次。",
  draft: "生成草稿",
  again: "重新生成草稿",
  busy: "第 {0} 次回答（最多 {1} 次）：{2} 个字符",
  cancel: "取消",
  close: "关闭",
  add: "添加这些修改",
  add_anyway: "连同这些问题一并添加",
  discard: "放弃",
  changes: "建议的修改",
  ready: "尚未更改任何内容。添加后的草稿可以撤销。",
  problems: "回答已更正一次，但仍有问题：",
  unusable: "此回答无法使用：",
  used: "回答次数：{0}，词元：{1}",
  moved: "生成草稿之后画布已被修改，请重新生成草稿。",
  no_model: "生成草稿需要语言模型。",
  from_template: "此画布由最接近的模板创建。配置模型后，可按您的要求修改。",
};

/** texts holds the tables of both languages. */
export const texts = { en, zh };
