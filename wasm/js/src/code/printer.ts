// What a script prints, up to a limit.

/** Printer collects bytes, of which a code point may come in two writes. */
export class Printer {
  readonly #decoder = new TextDecoder();
  #left: number;
  #text = "";
  #cut = false;

  /** @param limit most bytes that are collected */
  constructor(limit: number) {
    this.#left = limit;
  }

  write(bytes: Uint8Array): void {
    const taken = bytes.subarray(0, this.#left);
    this.#left -= taken.length;
    this.#cut ||= taken.length < bytes.length;
    this.#text += this.#decoder.decode(taken, { stream: true });
  }

  text(): string {
    return this.#text + this.#decoder.decode() + (this.#cut ? "\n[output cut]\n" : "");
  }
}
