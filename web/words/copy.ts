// Texts of buttons that copy.

const en = {
  copy: "Copy",
  copied: "Copied",
  refused: "This page was not loaded over HTTPS, so the browser did not copy. The text is selected: press Ctrl+C or ⌘C.",
};

const zh: Record<keyof typeof en, string> = {
  copy: "复制",
  copied: "已复制",
  refused: "此页面不是通过 HTTPS 加载的，浏览器未能复制。文本已选中，请按 Ctrl+C 或 ⌘C。",
};

/** texts are those of both languages. */
export const texts = { en, zh };
