// The memory of the Extism kernel: blocks that a plugin allocates outside its own memory
// to exchange bytes with the host. Addresses start at 8, because 0 means no block.
// Reads outside of it return 0 and writes do nothing. It is cleared between calls.

import { caps } from "../abi.ts";

const base = 8;
// The memory of a block of a server outside its arena, which counts towards the limit.
const blockCost = 64;
const align = 8;

export class Arena {
  #bytes = new Uint8Array(0);
  // Length of the live block at each address, divided by align; 0 without one. A Map of a million
  // blocks stalls its thread for up to a second when it is collected.
  #lengths = new Uint32Array(0);
  #live = 0; // blocks
  #used = 0;
  #spare: { at: number; size: number }[] = []; // freed, for reuse

  reset(): void {
    if (this.#bytes.length > 1 << 20) {
      this.#bytes = new Uint8Array(0);
      this.#lengths = new Uint32Array(0);
    }
    this.#lengths.fill(0, 0, (base + this.#used) / align);
    this.#spare = [];
    this.#used = this.#live = 0;
  }

  /** used returns the number of allocated bytes. */
  get used(): number {
    return this.#used;
  }

  /** alloc returns a zeroed block, or 0 when the arena is full. */
  alloc(length: number): number {
    if (length <= 0 || length > caps.kernel) return 0;
    const size = Math.ceil(length / align) * align;
    const spare = this.#spare.findIndex((free) => free.size >= size && free.size <= 2 * size);
    if (spare >= 0) {
      const [{ at, size: whole }] = this.#spare.splice(spare, 1) as [{ at: number; size: number }];
      this.#bytes.fill(0, at - base, at - base + whole);
      return this.#add(at, length);
    }
    if (this.#used + size + blockCost * this.#live > caps.kernel) return 0;
    const at = this.#used + base;
    this.#used += size;
    if (this.#used > this.#bytes.length) this.#grow();
    this.#bytes.fill(0, at - base, this.#used);
    return this.#add(at, length);
  }

  #grow(): void {
    const size = Math.max(this.#used, Math.min(2 * this.#bytes.length, caps.kernel), 1 << 12);
    const bytes = new Uint8Array(size);
    const lengths = new Uint32Array((base + size) / align);
    bytes.set(this.#bytes);
    lengths.set(this.#lengths);
    this.#bytes = bytes;
    this.#lengths = lengths;
  }

  #add(at: number, length: number): number {
    this.#lengths[at / align] = length;
    this.#live++;
    return at;
  }

  free(at: number): void {
    const length = this.length(at);
    if (length === 0) return;
    this.#lengths[at / align] = 0;
    this.#live--;
    const size = Math.ceil(length / align) * align;
    if (at - base + size === this.#used) this.#used = at - base;
    else if (this.#spare.length < 64) this.#spare.push({ at, size });
  }

  length(at: number): number {
    return this.#lengths[at / align] ?? 0; // no block begins at other addresses
  }

  /** block returns the bytes of the live block at at; they are not copied. */
  block(at: number): Uint8Array {
    return this.span(at, this.length(at)) ?? new Uint8Array(0);
  }

  /** span returns bytes inside the arena, or undefined outside of it. */
  span(at: number, length: number): Uint8Array | undefined {
    if (at < base || length < 0 || at - base + length > this.#used) return undefined;
    return this.#bytes.subarray(at - base, at - base + length);
  }

  view(at: number, length: number): DataView | undefined {
    const bytes = this.span(at, length);
    return bytes && new DataView(bytes.buffer, bytes.byteOffset, length);
  }
}
