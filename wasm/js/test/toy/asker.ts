// Calls of a toy run to its host, and waits that a cancel ends immediately.

import type { Usage } from "../../src/generated.ts";
import type { CallKind } from "../../src/protocol.ts";

/** Canceled is thrown by every wait of a cancelled run. */
export class Canceled extends Error {}

type Piece = { ok: boolean; more: boolean; payload: Record<string, unknown> };

/** Asker sends calls to the host. */
export class Asker {
  readonly usage: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  readonly #call: (text: string, given?: number) => number;
  readonly #ports: Set<CallKind>;
  readonly #open = new Map<number, (piece: Piece) => void>();
  readonly #stops = new Set<(err: Error) => void>();
  #canceled = false;

  constructor(call: (text: string, given?: number) => number, ports: CallKind[]) {
    this.#call = call;
    this.#ports = new Set(ports);
  }

  /** answers reports whether the host handles a kind of call. */
  answers(kind: CallKind): boolean {
    return this.#ports.has(kind);
  }

  /** ask sends a call and returns its whole response. */
  async ask(kind: CallKind, node: string, payload: unknown): Promise<Record<string, unknown>> {
    let last: Record<string, unknown> = {};
    for await (const piece of this.stream(kind, node, payload)) last = piece;
    return last;
  }

  /** stream sends a call and yields the pieces of its response. */
  async *stream(kind: CallKind, node: string, payload: unknown): AsyncGenerator<Record<string, unknown>> {
    if (this.#canceled) throw new Canceled();
    const pieces: Piece[] = [];
    let wake: () => void = () => undefined;
    const id = this.#call(JSON.stringify({ kind, node, payload }));
    this.#open.set(id, (piece) => { pieces.push(piece); wake(); });
    for (;;) {
      const piece = pieces.shift();
      if (!piece) {
        await this.#orCancel(new Promise<void>((resolve) => { wake = resolve; }));
        continue;
      }
      if (!piece.ok) throw new Error(String(piece.payload["message"]));
      const usage = piece.payload["usage"] as Usage | undefined;
      if (usage) {
        this.usage.prompt_tokens += usage.prompt_tokens;
        this.usage.completion_tokens += usage.completion_tokens;
        this.usage.total_tokens += usage.total_tokens;
      }
      yield piece.payload;
      if (!piece.more) return;
    }
  }

  /** wait waits for some milliseconds. */
  wait(ms: number): Promise<void> {
    return this.#orCancel(ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : Promise.resolve());
  }

  deliver(id: number, ok: boolean, more: boolean, payload: Record<string, unknown>): void {
    this.#open.get(id)?.({ ok, more, payload });
    if (!more) this.#open.delete(id);
  }

  cancel(): void {
    this.#canceled = true;
    for (const stop of this.#stops) stop(new Canceled());
  }

  #orCancel(promise: Promise<void>): Promise<void> {
    if (this.#canceled) return Promise.reject(new Canceled());
    return new Promise((resolve, reject) => {
      this.#stops.add(reject);
      void promise.then(() => { this.#stops.delete(reject); resolve(); });
    });
  }
}
