// The memory of the Extism kernel: blocks that a plugin allocates outside its own memory
// to exchange bytes with the host. Addresses start at 8, because 0 means no block.
// Reads outside of it return 0 and writes do nothing. It is cleared between calls.

import { caps } from "../abi.ts";

const base = 8;

export class Arena {
  #bytes = new Uint8Array(0);
  #used = 0;
  readonly #blocks = new Map<number, number>(); // start -> length of live blocks
  #spare: { at: number; size: number }[] = []; // freed, for reuse

  reset(): void {
    this.#blocks.clear();
    this.#spare = [];
    this.#used = 0;
    if (this.#bytes.length > 1 << 20) this.#bytes = new Uint8Array(0);
  }

  /** used returns the number of allocated bytes. */
  get used(): number {
    return this.#used;
  }

  /** alloc returns a zeroed block, or 0 when the arena is full. */
  alloc(length: number): number {
    if (length <= 0 || length > caps.kernel) return 0;
    const size = Math.ceil(length / 8) * 8;
    const spare = this.#spare.findIndex((free) => free.size >= size && free.size <= 2 * size);
    if (spare >= 0) {
      const [{ at, size: whole }] = this.#spare.splice(spare, 1) as [{ at: number; size: number }];
      this.#bytes.fill(0, at - base, at - base + whole);
      this.#blocks.set(at, length);
      return at;
    }
    if (this.#used + size > caps.kernel) return 0;
    const at = this.#used + base;
    this.#used += size;
    if (this.#used > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#used, Math.min(2 * this.#bytes.length, caps.kernel), 1 << 12));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.fill(0, at - base, this.#used);
    this.#blocks.set(at, length);
    return at;
  }

  free(at: number): void {
    const length = this.#blocks.get(at);
    if (length === undefined) return;
    this.#blocks.delete(at);
    const size = Math.ceil(length / 8) * 8;
    if (at - base + size === this.#used) this.#used = at - base;
    else if (this.#spare.length < 64) this.#spare.push({ at, size });
  }

  length(at: number): number {
    return this.#blocks.get(at) ?? 0;
  }

  /** block returns the bytes of the live block at at; they are not copied. */
  block(at: number): Uint8Array {
    return this.span(at, this.length(at)) ?? new Uint8Array(0);
  }

  /** span returns bytes inside the arena, or undefined outside of it. */
  span(at: number, length: number): Uint8Array | undefined {
    if (at < base || at - base + length > this.#used) return undefined;
    return this.#bytes.subarray(at - base, at - base + length);
  }

  view(at: number, length: number): DataView | undefined {
    const bytes = this.span(at, length);
    return bytes && new DataView(bytes.buffer, bytes.byteOffset, length);
  }
}
