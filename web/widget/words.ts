// Texts of the chat page and of the widget; both languages have the same keys.

/** Language is a language of the chat. */
export type Language = "en" | "zh";

const en = {
  open: "Open the chat",
  close: "Close the chat",
  title: "Chat",
  transcript: "Conversation",
  you: "You",
  placeholder: "Write a message",
  send: "Send",
  stop: "Stop",
  attach: "Attach files",
  remove: "Remove {0}",
  uploading: "Uploading {0}…",
  notUploaded: "{0} was not uploaded: {1}",
  restart: "New conversation",
  working: "Working on it…",
  thinking: "Thinking…",
  thought: "Thoughts",
  sources: "Sources",
  source: "Source {0}",
  file: "A file",
  submit: "Continue",
  start: "Start",
  optional: "optional",
  yes: "Approve",
  no: "Reject",
  asks: "{0} asks to run:",
  canceled: "Stopped.",
  reconnecting: "Connection lost. Reconnecting…",
  lost: "The connection was lost before the answer was complete.",
  again: "Try again",
  unreachable: "The message could not be sent. Check your connection.",
  refused: "This chat is not available. Its token is unknown or was revoked.",
  unsigned: "This chat does not recognise you. Reload the page.",
  over: "This conversation has ended. Try again to begin a new one.",
  unpublished: "This chat has not been published yet.",
  busy: "Too many requests. Try again in a moment.",
  failed: "Something went wrong. Try again.",
  notChat: "This agent is started by other programs, not by a chat.",
  incomplete: "This address is incomplete: it needs agent and token.",
};

/** Word names a text. */
export type Word = keyof typeof en;

const zh: Record<Word, string> = {
  open: "打开聊天",
  close: "关闭聊天",
  title: "聊天",
  transcript: "对话",
  you: "你",
  placeholder: "输入消息",
  send: "发送",
  stop: "停止",
  attach: "添加附件",
  remove: "移除 {0}",
  uploading: "正在上传 {0}…",
  notUploaded: "{0} 未能上传：{1}",
  restart: "新对话",
  working: "正在处理…",
  thinking: "正在思考…",
  thought: "思考过程",
  sources: "来源",
  source: "来源 {0}",
  file: "文件",
  submit: "继续",
  start: "开始",
  optional: "可选",
  yes: "同意",
  no: "拒绝",
  asks: "{0} 请求运行：",
  canceled: "已停止。",
  reconnecting: "连接中断，正在重新连接…",
  lost: "连接在回答完成之前中断。",
  again: "重试",
  unreachable: "消息未能发送，请检查网络连接。",
  refused: "此聊天不可用：令牌无效或已被撤销。",
  unsigned: "此聊天无法确认你的身份。请重新加载页面。",
  over: "此对话已结束。请重试以开始新的对话。",
  unpublished: "此聊天尚未发布。",
  busy: "请求过多，请稍后再试。",
  failed: "出了点问题，请重试。",
  notChat: "此智能体由其他程序启动，不支持聊天。",
  incomplete: "地址不完整：需要 agent 和 token。",
};

/** Say returns a text with values for its placeholders {0}, {1}. */
export type Say = (word: Word, ...values: string[]) => string;

/** speaker returns the texts of one language. */
export function speaker(language: Language): Say {
  const texts = language === "zh" ? zh : en;
  return (word, ...values) => texts[word].replace(/\{(\d)\}/g, (_, at: string) => values[Number(at)] ?? "");
}

/** languageOf reads a language tag, such as zh-CN. */
export function languageOf(tag: string | null | undefined): Language | undefined {
  if (!tag) return undefined;
  return /^zh\b/i.test(tag) ? "zh" : "en";
}
