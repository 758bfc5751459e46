/**
 * Queue is an async iterable of pushed items. Many readers may iterate;
 * each sees every item from the first on, so a late `for await` misses nothing.
 */
export class Queue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #waiting: (() => void)[] = [];
  #ended = false;
  #error: unknown;

  /** push adds items at the end. Items after the end are dropped. */
  push(items: readonly T[]): void {
    if (this.#ended) return;
    for (const item of items) this.#items.push(item);
    this.#wake();
  }

  /** end finishes the iteration, with an error if one is given. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let at = 0; ;) {
      if (at < this.#items.length) {
        yield this.#items[at++] as T;
        continue;
      }
      if (this.#ended) {
        if (this.#error !== undefined) throw this.#error;
        return;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
