// The output of a script, up to a limit.

/** Printer collects bytes; a code point may be divided between two writes. */
export class Printer {
  readonly #decoder = new TextDecoder();
  #left: number;
  #text = "";
  #cut = false;

  /** @param limit maximum number of collected bytes */
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
