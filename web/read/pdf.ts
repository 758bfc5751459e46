// The text of PDF files, by pdf.js, page by page.

import { getDocument } from "unpdf/pdfjs";
import { mostText, ReadError, within } from "./errors.ts";

const mostPages = 2_000;

/** pdfText returns the text of all pages, with a blank line between them. */
export async function pdfText(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const lacking = new Set<string>();
  const task = getDocument({
    data: bytes, verbosity: 0, useSystemFonts: false, disableFontFace: true, useWasm: false, useWorkerFetch: false,
    BinaryDataFactory: class {
      // Some fonts name a character map that this page does not include.
      fetch({ kind, filename }: { kind: string; filename: string }): Promise<never> {
        if (kind === "cMapUrl") lacking.add(filename);
        return Promise.reject(new Error(`${filename} is not part of this page`));
      }
    },
  });
  try {
    const text = await textOf(await task.promise);
    if (lacking.size > 0) throw new ReadError("unknown_font", [...lacking].join(", "));
    if (text === "") throw new ReadError("no_text");
    return within(text);
  } catch (err) {
    if (err instanceof ReadError) throw err;
    throw new ReadError((err as Error).name === "PasswordException" ? "encrypted" : "damaged", (err as Error).message);
  } finally {
    await task.destroy();
  }
}

async function textOf(document: Awaited<ReturnType<typeof getDocument>["promise"]>): Promise<string> {
  if (document.numPages > mostPages) throw new ReadError("too_long", `${document.numPages} pages`);
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= document.numPages && length <= mostText; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("").trim();
    length += text.length;
    if (text) pages.push(text);
    page.cleanup();
  }
  return pages.join("\n\n");
}
