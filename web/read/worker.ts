// Reads one document and is terminated afterwards.

import { readDocument } from "./document.ts";
import { ReadError, type ReadCode } from "./errors.ts";

/** ReadReply is the reply of a Worker. */
export type ReadReply = { text: string } | { code: ReadCode; detail: string };

/**
 * ReadRequest is the single message to a Worker. Replies use a separate port, because pdf.js uses
 * that of the Worker.
 */
export interface ReadRequest {
  bytes: Uint8Array<ArrayBuffer>;
  port: MessagePort;
}

addEventListener("message", ({ data: { bytes, port } }: MessageEvent<ReadRequest>) => {
  const reply = (message: ReadReply): void => port.postMessage(message);
  readDocument(bytes).then(
    (text) => reply({ text }),
    (err: unknown) => reply({ code: err instanceof ReadError ? err.code : "damaged", detail: String(err) }),
  );
}, { once: true });
