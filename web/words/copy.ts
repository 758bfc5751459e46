// Texts of buttons that copy.

const en = {
  copy: "Copy",
  copied: "Copied",
  refused: "The browser copies only pages over HTTPS. The text is selected: press Ctrl+C or ⌘C.",
};

const zh: Record<keyof typeof en, string> = {
  copy: "复制",
  copied: "已复制",
  refused: "浏览器只能从 HTTPS 页面复制。文本已选中，请按 Ctrl+C 或 ⌘C。",
};

/** texts holds the tables of both languages. */
export const texts = { en, zh };
