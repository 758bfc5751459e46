// Why a document is not read. Codes select the words for the person.

/** ReadCode names a reason. */
export type ReadCode =
  | "too_large" | "too_long" | "old_office" | "archive" | "encrypted" | "damaged" | "no_text" | "not_text"
  | "unknown_font" | "timeout" | "no_reader";

/** ReadError says why a document is not read. */
export class ReadError extends Error {
  readonly code: ReadCode;

  constructor(code: ReadCode, detail = "") {
    super(detail ? `${code}: ${detail}` : code);
    this.code = code;
  }
}

/** mostText is the longest text of a document, in characters. */
export const mostText = 8_000_000;

/** within gives a text that is not too long. */
export function within(text: string): string {
  if (text.length > mostText) throw new ReadError("too_long");
  return text;
}
