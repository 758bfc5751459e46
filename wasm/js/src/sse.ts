import { isWire, type RunEvent } from "./events.ts";

/** SSEOptions choose the dialect of a stream. */
export interface SSEOptions {
  /** `ragflow`: only its seven events, framed as its server does. `easel` (default): all, with ids. */
  dialect?: "easel" | "ragflow";
}

/** toSSE turns events into the bytes a server would send. */
export function toSSE(events: AsyncIterable<RunEvent>, options: SSEOptions = {}): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const plain = options.dialect === "ragflow";
  const source = events[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await source.next();
        if (done) {
          if (plain) controller.enqueue(encoder.encode("data:[DONE]\n\n"));
          controller.close();
          return;
        }
        if (plain && !isWire(value)) continue;
        controller.enqueue(encoder.encode(frame(value, plain)));
        return;
      }
    },
    async cancel() {
      await source.return?.();
    },
  });
}

function frame(event: RunEvent, plain: boolean): string {
  const { seq, ...rest } = event;
  if (plain) return `data:${JSON.stringify(rest)}\n\n`;
  return (seq === undefined ? "" : `id: ${seq}\n`) + `data: ${JSON.stringify(rest)}\n\n`;
}
