// Events as a server sends them. The frames equal those of the host byte for byte, so the
// text of an event is passed on as the engine wrote it.

import { isWire, type RunEvent } from "./events.ts";

/** SSEOptions select the dialect of a stream. */
export interface SSEOptions {
  /**
   * `easel` (default): the events of easel's own API, which are the numbered ones, with ids to
   * continue from. `ragflow`: the seven events that its clients support, spaced as Python writes
   * JSON.
   */
  dialect?: "easel" | "ragflow";
  /**
   * Dialect `ragflow`: end with `[DONE]`, as all its endpoints but the editor's do. Default true.
   */
  done?: boolean;
  /** Dialect `ragflow`: added to every frame, as the endpoints of sessions do. */
  session?: string;
}

/**
 * toSSE converts events to the bytes that a server would send; a string is an event as the engine
 * wrote it.
 */
export function toSSE(events: AsyncIterable<RunEvent | string>, options: SSEOptions = {}): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const plain = options.dialect === "ragflow";
  const source = events[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await source.next();
        if (done) {
          if (plain && options.done !== false) controller.enqueue(encoder.encode("data:[DONE]\n\n"));
          controller.close();
          return;
        }
        const text = frame(told(value), plain, options.session);
        if (text === "") continue;
        controller.enqueue(encoder.encode(text));
        return;
      }
    },
    async cancel() {
      await source.return?.();
    },
  });
}

interface Told {
  event: RunEvent["event"];
  seq?: number;
  /** The event without its number. */
  data: string;
}

function told(given: RunEvent | string): Told {
  if (typeof given === "string") {
    const { event, seq } = JSON.parse(given) as RunEvent;
    return { event, seq, data: seq === undefined ? given : given.replace(/,"seq":\d+\}$/, "}") };
  }
  const { seq, ...rest } = given;
  return { event: given.event, seq, data: JSON.stringify(rest) };
}

// frame returns one event of the stream, or "" if this dialect does not send it.
function frame(event: Told, plain: boolean, session: string | undefined): string {
  if (!plain) return event.seq === undefined ? "" : `id: ${event.seq}\nevent: ${event.event}\ndata: ${event.data}\n\n`;
  return isWire(event) ? `data:${within(spaced(event.data), session)}\n\n` : "";
}

// within adds the session as the last member.
function within(text: string, session: string | undefined): string {
  return session === undefined ? text : `${text.slice(0, -1)}, "session_id": ${JSON.stringify(session)}}`;
}

// spaced adds spaces to compact JSON after commas and colons, as Python does.
function spaced(text: string): string {
  let out = "";
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('"', at);
    out += text.slice(at, open < 0 ? undefined : open).replace(/[,:]/g, "$& ");
    if (open < 0) break;
    at = endOfText(text, open);
    out += text.slice(open, at);
  }
  return out;
}

// endOfText returns the position after the string that starts at a quote.
function endOfText(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    at = text.indexOf('"', at);
    if (at < 0) break;
    let backslashes = 0;
    while (text[at - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}
