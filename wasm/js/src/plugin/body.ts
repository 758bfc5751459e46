// Bodies of responses: read completely or in pieces, with secrets redacted, also across the
// borders of pieces.

import { toBase64 } from "../fetch.ts";
import { PluginError } from "./error.ts";
import { Sink } from "./kernel/sink.ts";
import type { Hidden } from "./secret.ts";

/** Body is a response that is read in pieces. */
export class Body {
  readonly hidden: Hidden;
  readonly #aborter: AbortController;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #count: (n: number) => void;
  #pending = new Uint8Array(0);
  #ended: boolean;

  constructor(response: Response, hidden: Hidden, aborter: AbortController, count: (n: number) => void) {
    this.hidden = hidden;
    this.#aborter = aborter;
    this.#count = count;
    this.#reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
    this.#ended = !this.#reader;
  }

  get done(): boolean {
    return this.#ended && this.#pending.length === 0;
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  close(): void {
    this.#aborter.abort();
    this.#reader?.cancel().catch(() => undefined); // the rest is not read
  }

  /** all reads the whole body, at most this number of bytes. */
  async all(limit: number): Promise<Uint8Array> {
    const body = new Sink();
    while (!this.#ended) {
      const piece = await this.#more();
      if (piece) body.add(piece);
      if (body.length > limit) {
        this.close();
        throw new PluginError(
          "upstream",
          `http.fetch: response of more than ${limit} bytes; read it in pieces with stream and http.read`,
        );
      }
    }
    return this.hidden.bytes(body.take());
  }

  /** next returns 1 to limit bytes, or none at the end. */
  async next(limit: number, time: number): Promise<Uint8Array> {
    for (;;) {
      const n = this.#ready(limit);
      if (n > 0 || this.#ended) {
        const out = this.#pending.slice(0, n);
        this.#pending = this.#pending.slice(n);
        return out;
      }
      const timer = setTimeout(() => this.#aborter.abort(), time);
      try {
        await this.#fill();
      } finally {
        clearTimeout(timer);
      }
    }
  }

  // It does not end within a possible secret or within a character.
  #ready(limit: number): number {
    let n = this.#pending.length - (this.#ended ? 0 : this.hidden.longest - 1);
    n = Math.min(n, limit);
    if (n <= 0) return 0;
    const begun = partial(this.#pending.subarray(0, n));
    if (begun > 0 && (!this.#ended || n < this.#pending.length) && isText(this.#pending.subarray(0, n - begun)))
      n -= begun;
    return n;
  }

  async #fill(): Promise<void> {
    const piece = await this.#more();
    if (!piece) return;
    this.#count(piece.length);
    const joined = new Uint8Array(this.#pending.length + piece.length);
    joined.set(this.#pending);
    joined.set(piece, this.#pending.length);
    this.#pending = this.hidden.bytes(joined) as Uint8Array<ArrayBuffer>;
  }

  async #more(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#reader!.read();
    this.#ended = done;
    return value;
  }
}

// partial counts the bytes of an incomplete character at the end.
function partial(bytes: Uint8Array): number {
  for (let n = 1; n <= Math.min(bytes.length, 3); n++) {
    const byte = bytes[bytes.length - n]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > n ? n : 0;
  }
  return 0;
}

/** isText reports whether bytes are UTF-8. */
export function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** carried encodes bytes for a response: as text if they are UTF-8, else in base64. */
export function carried(bytes: Uint8Array): { body: string } | { body_base64: string } {
  return isText(bytes)
    ? { body: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) }
    : { body_base64: toBase64(bytes) };
}
