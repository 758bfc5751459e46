// Reads one document and is ended then.

import { readDocument } from "./document.ts";
import { ReadError, type ReadCode } from "./errors.ts";

/** ReadReply is what comes back. */
export type ReadReply = { text: string } | { code: ReadCode; detail: string };

const { postMessage } = globalThis as unknown as { postMessage(reply: ReadReply): void };

addEventListener("message", ({ data }: MessageEvent<Uint8Array<ArrayBuffer>>) => {
  readDocument(data).then(
    (text) => postMessage({ text }),
    (err: unknown) => postMessage(err instanceof ReadError ? { code: err.code, detail: err.message } : { code: "damaged", detail: String(err) }),
  );
});
