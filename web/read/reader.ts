// The page's side of reading: each document has a separate Worker, which is terminated when it
// takes too long.

import { ReadError } from "./errors.ts";
import type { ReadReply, ReadRequest } from "./worker.ts";

/** Read returns the text of a document, or throws a ReadError. */
export type Read = (bytes: Uint8Array<ArrayBuffer>) => Promise<string>;

const longest = 60_000; // milliseconds

/** reader reads documents by a Worker with this script. */
export function reader(script: URL): Read {
  return async (bytes) => {
    const worker = new Worker(script, { type: "module" });
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const reply = await new Promise<ReadReply>((resolve, reject) => {
        timer = setTimeout(() => reject(new ReadError("timeout")), longest);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }: MessageEvent<ReadReply>) => resolve(data);
        worker.onerror = (event) => reject(new ReadError("no_reader", event.message));
        worker.postMessage({ bytes, port: port2 } satisfies ReadRequest, [bytes.buffer, port2]);
      });
      if ("text" in reply) return reply.text;
      throw new ReadError(reply.code, reply.detail);
    } finally {
      clearTimeout(timer);
      worker.terminate();
    }
  };
}
