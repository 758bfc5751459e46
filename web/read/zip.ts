// Parts of a ZIP archive, unpacked one by one within a total limit.

import { ReadError } from "./errors.ts";

const mostUnpacked = 64 << 20; // bytes of one archive

/** Zip reads parts of an archive. */
export class Zip {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #entries: Map<string, Entry>;
  #left = mostUnpacked;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
    try {
      this.#entries = directory(bytes);
    } catch (err) {
      throw err instanceof ReadError ? err : new ReadError("damaged", "no ZIP directory");
    }
  }

  /** has reports whether the archive has a part. */
  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** text returns a part as text; "" if it is missing. */
  async text(name: string): Promise<string> {
    const entry = this.#entries.get(name);
    if (!entry) return "";
    const packed = this.#bytes.subarray(entry.at, entry.at + entry.size);
    if (entry.method === 0) return this.#join([packed]);
    if (entry.method !== 8) throw new ReadError("damaged", `${name}: compression ${entry.method}`);
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts: Uint8Array[] = [];
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        this.#left -= next.value.length;
        if (this.#left < 0) throw new ReadError("too_long", "unpacked");
        parts.push(next.value);
      }
    } catch (err) {
      await reader.cancel().catch(() => undefined); // it has failed already
      throw err instanceof ReadError ? err : new ReadError("damaged", name);
    }
    return this.#join(parts);
  }

  #join(parts: Uint8Array[]): string {
    const decoder = new TextDecoder();
    return parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  }
}

/** Entry is the location of a packed part. */
interface Entry {
  method: number;
  at: number;
  size: number;
}

const short = (view: DataView, at: number): number => view.getUint16(at, true);

// directory reads the list at the end of an archive.
function directory(bytes: Uint8Array<ArrayBuffer>): Map<string, Entry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = bytes.length - 22;
  while (view.getUint32(end, true) !== 0x06054b50) {
    if (--end < bytes.length - 22 - 0xffff) throw new ReadError("damaged", "no ZIP directory");
  }
  const entries = new Map<string, Entry>();
  let at = view.getUint32(end + 16, true);
  for (let count = view.getUint16(end + 10, true); count > 0; count--) {
    const [nameLength, extra, comment] = [short(view, at + 28), short(view, at + 30), short(view, at + 32)];
    if (view.getUint16(at + 8, true) & 1) throw new ReadError("encrypted");
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength));
    const local = view.getUint32(at + 42, true);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    entries.set(name, { method: view.getUint16(at + 10, true), at: start, size: view.getUint32(at + 20, true) });
    at += 46 + nameLength + extra + comment;
  }
  return entries;
}
