// Texts of the microphone and the loudspeaker of a chat. Both languages have the same keys.

const en = {
  dictate: "Speak your message",
  asking: "Waiting for the microphone",
  recording: "Stop and write down (Esc discards)",
  writing: "Writing down…",
  nothing_said: "Nothing was heard. Try again closer to the microphone.",
  not_written: "Not written down: {0}",
  microphone_refused: "The browser blocks the microphone for this page. Allow it in the settings of the address bar.",
  microphone_missing: "No microphone was found.",
  microphone_busy: "Another program uses the microphone.",
  microphone_insecure: "Browsers record on pages with https only.",
  microphone_failed: "The recording failed. Try again.",
  read_aloud: "Read aloud",
  hush: "Stop reading aloud",
  not_spoken: "Not read aloud: {0}",
};

const zh: typeof en = {
  dictate: "语音输入",
  asking: "正在等待麦克风",
  recording: "停止并转成文字（Esc 放弃）",
  writing: "正在转成文字…",
  nothing_said: "没有听到声音。请靠近麦克风再试一次。",
  not_written: "未能转成文字：{0}",
  microphone_refused: "浏览器禁止此页面使用麦克风。请在地址栏的设置中允许。",
  microphone_missing: "没有找到麦克风。",
  microphone_busy: "麦克风正被其他程序使用。",
  microphone_insecure: "浏览器只在 https 页面上录音。",
  microphone_failed: "录音失败，请再试一次。",
  read_aloud: "朗读",
  hush: "停止朗读",
  not_spoken: "未能朗读：{0}",
};

/** VoiceKey names a text of the voice of a chat. */
export type VoiceKey = keyof typeof en;

/** texts by language. */
export const texts = { en, zh };
