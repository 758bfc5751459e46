// One node that runs alone on the host; loaded when the first one does.

import type { RunEvent } from "@easel/engine";
import type { Host } from "./host.ts";
import type { Running } from "./remote.ts";

/** AloneNode is the node of an AloneRun, as people call it. */
export interface AloneNode {
  id: string;
  name: string;
  kind: string;
}

interface AloneAnswer {
  outputs: Record<string, unknown> | null;
  error?: string;
  elapsed: number;
}

/** AloneRun is the run of one node on the host, with the events of the same run in the page. */
export class AloneRun implements Running {
  readonly result: Running["result"];
  readonly #host: Pick<Host, "ask">;
  readonly #path: string;
  readonly #document: Promise<string>;
  readonly #node: AloneNode;
  readonly #params: Record<string, unknown>;
  readonly #stopped = new AbortController();
  #end!: (result: Awaited<Running["result"]>) => void;

  constructor(
    host: Pick<Host, "ask">, canvas: string, document: Promise<string>, node: AloneNode,
    params: Record<string, unknown>,
  ) {
    this.#host = host;
    this.#path = `/api/v2/canvases/${encodeURIComponent(canvas)}/debug`;
    this.#document = document;
    this.#node = node;
    this.#params = params;
    this.result = new Promise((resolve) => { this.#end = resolve; });
  }

  cancel(): void {
    this.#stopped.abort();
  }

  resume(): Running {
    throw new Error("a node that runs alone does not wait");
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
    const { id, name, kind } = this.#node;
    const envelope = { message_id: "", task_id: "" };
    const about = { component_id: id, component_name: name, component_type: kind };
    const at = (): number => Date.now() / 1000;
    yield { ...envelope, created_at: at(), event: "workflow_started", data: { inputs: null } } as RunEvent;
    yield {
      ...envelope, created_at: at(), event: "node_started",
      data: { ...about, inputs: null, created_at: at(), thoughts: "" },
    } as RunEvent;
    const done = await this.#ask();
    if (!done) return this.#end({ status: "canceled" });
    const { outputs, error, elapsed } = done;
    const shown = Object.fromEntries(Object.entries(outputs ?? {}).filter(([key]) => !key.startsWith("_")));
    yield {
      ...envelope, created_at: at(), event: "node_finished",
      data: {
        ...about, inputs: this.#params, outputs: shown, error: error ?? null, elapsed_time: elapsed, created_at: at(),
      },
    } as RunEvent;
    if (error === undefined) {
      yield {
        ...envelope, created_at: at(), event: "workflow_finished",
        data: { inputs: null, outputs: shown, elapsed_time: elapsed, created_at: at() },
      } as RunEvent;
    }
    if (error === undefined) this.#end({ status: "succeeded" });
    else this.#end({ status: "failed", error: { code: "", message: error } });
  }

  // ask returns the answer; undefined when the person stopped it.
  async #ask(): Promise<AloneAnswer | undefined> {
    const body = { node: this.#node.id, params: this.#params, dsl: JSON.parse(await this.#document) as unknown };
    try {
      const answer = await this.#host.ask("POST", this.#path, body, { signal: this.#stopped.signal });
      return (await answer.json()) as AloneAnswer;
    } catch (err) {
      if (this.#stopped.signal.aborted) return undefined;
      throw err;
    }
  }
}
