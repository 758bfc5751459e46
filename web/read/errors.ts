// Errors of reading documents. Codes select the message.

/** ReadCode names a reason. */
export type ReadCode =
  | "too_large" | "too_long" | "old_office" | "archive" | "encrypted" | "damaged" | "no_text" | "not_text"
  | "unknown_font" | "timeout" | "no_reader";

/** ReadError is the reason why a document is not read. */
export class ReadError extends Error {
  readonly code: ReadCode;

  constructor(code: ReadCode, detail = "") {
    super(detail ? `${code}: ${detail}` : code);
    this.code = code;
  }
}

/** mostText is the longest text of a document, in characters. */
export const mostText = 8_000_000;

/** within returns the text, or throws if it is too long. */
export function within(text: string): string {
  if (text.length > mostText) throw new ReadError("too_long");
  return text;
}
