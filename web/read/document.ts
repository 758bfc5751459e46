// The text of documents that a person attaches. The type of a file follows from its content, not
// its name; the bytes are untrusted. A page reads documents in a Worker, see worker.ts.

import { ReadError, within } from "./errors.ts";

/**
 * readDocument returns the text of a file. It throws a ReadError for one that has none or cannot be
 * read.
 */
export async function readDocument(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  if (head.startsWith("PK\x03\x04")) return within(await (await import("./office.ts")).officeText(bytes));
  if (head.startsWith("\xD0\xCF\x11\xE0")) throw new ReadError("old_office");
  if (head.includes("%PDF-")) return within(await (await import("./pdf.ts")).pdfText(bytes));
  return within(plainText(bytes));
}

// plainText decodes a text file in the encoding that it seems to have.
function plainText(bytes: Uint8Array<ArrayBuffer>): string {
  const [first, second] = bytes;
  const marked =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : undefined;
  for (const encoding of marked ? [marked] : ["utf-8", "gb18030", "windows-1252"]) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      if (controls.test(text)) break;
      return text.replace(/\r\n?/g, "\n");
    } catch { /* then another encoding */ }
  }
  throw new ReadError("not_text");
}

const controls = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;
