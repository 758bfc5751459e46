// Names of others as they may be shown: no character of a name is invisible, and none changes the
// direction of the text around it.

// Marks and overrides of direction, spaces without width, fillers, tags and controls.
const hidden = new RegExp(`[${[
  "\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F",
  "\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFEFF\\uFFA0\\uFFF9-\\uFFFB",
  "\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E0FFF}",
].join("")}]`, "gu");
// Joiners belong to words of some scripts and to emoji; elsewhere they are hidden characters.
const before = "[\\p{Script=Arab}\\p{Script=Syrc}\\p{M}\\p{Extended_Pictographic}\\uFE0F]";
const after = "[\\p{L}\\p{M}\\p{Extended_Pictographic}]";
const joiners = new RegExp(`(?<!${before})[\\u200C\\u200D]|[\\u200C\\u200D](?!${after})`, "gu");
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const plain = /^[\n\t\x20-\x7E]*$/;

const named = (sign: string): string =>
  `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** shown returns a text with hidden characters written out, isolated if it runs leftwards. */
export function shown(text: string): string {
  if (plain.test(text)) return text;
  const visible = text.replace(hidden, named).replace(joiners, named);
  return rightToLeft.test(visible) ? `\u2068${visible}\u2069` : visible;
}
