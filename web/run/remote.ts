// Runs on the host, with the same events as runs in the page: those started by the page, and stored
// ones.

import type { RunEvent, RunResult } from "@easel/engine";
import { messageOf } from "@easel/engine";
import { isObject } from "../canvas/dsl.ts";
import type { Descriptor, Files } from "./files.ts";
import type { Host, Origin } from "./host.ts";
import { serverEvents } from "./sse.ts";

/** HostRun is a run in the history of the host. */
export interface HostRun {
  id: string;
  canvas: string;
  session?: string;
  /** The source of the run, such as v2, editor, webhook or schedule. */
  source: string;
  status: "queued" | "running" | "paused" | "succeeded" | "failed" | "canceled";
  error?: string;
  tokens: number;
  /** 0 without prices. */
  cost: number;
  created: string;
  ended?: string;
  /** The beginning of what was asked and answered; in lists. */
  question?: string;
  answer?: string;
  kept?: Kept;
}

/** Kept is whether the events of an ended run can be read, or why not. */
export type Kept = "kept" | "pending" | "deleted" | "expired" | "too_large" | "disk_full" | "off" | "missing";

/** RunQuery chooses runs; `after` is the `next` of the page before. */
export interface RunQuery {
  canvas?: string;
  status?: string;
  source?: string;
  user?: string;
  /** Times of creation; to is exclusive. */
  from?: string;
  to?: string;
  after?: string;
  page_size?: number;
}

/** Takeover means that another host continues a run: events after the first `keep` are void. */
export interface Takeover {
  event: "takeover";
  keep: number;
}

/** Running is an active run, here or on the host. */
export interface Running extends AsyncIterable<RunEvent | Takeover> {
  readonly result: Promise<Pick<RunResult, "status" | "error" | "waiting">>;
  cancel(reason?: string): void;
  /** leave stops following a run that continues elsewhere; absent for runs of the page. */
  leave?(): void;
  resume(inputs: Record<string, unknown>, options?: object): Running;
}

/** Question is the input of a run on the host. */
export interface Question {
  query?: string;
  inputs?: Record<string, unknown>;
  files?: unknown[];
  pins?: Record<string, unknown>;
  /** The run stops after this node, and is not a turn of the conversation. */
  until?: string;
}

const root = "/api/v2/runs";

/** A page of runs. A long list has no total. */
export interface HostRuns {
  items: HostRun[];
  total?: number;
  next?: string;
  currency?: string;
  /** Whether runs that end now are kept, or why not. */
  keeps?: Kept;
}

/** Runs makes the requests for runs. */
export class Runs {
  readonly #host: Pick<Host, "ask">;
  readonly #upload: Host["upload"] | undefined;
  readonly #uploaded = new Map<string, Promise<Descriptor>>();
  #session: { canvas: string; rev: number; id: string } | undefined;

  /** `upload` stores files of questions. */
  constructor(host: Pick<Host, "ask">, upload?: Host["upload"]) {
    this.#host = host;
    this.#upload = upload;
  }

  list(query: RunQuery): Promise<HostRuns> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
    return this.#json("GET", `${root}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`);
  }

  /** stored returns a run as the host keeps it, and follows it while it runs. */
  stored(id: string): RemoteRun {
    return new RemoteRun(this.#host, Promise.resolve(id));
  }

  /** case returns a run that has ended as a case file of `easel test`. */
  async case(id: string): Promise<string> {
    return (await this.#host.ask("GET", `${root}/${encodeURIComponent(id)}/case`)).text();
  }

  /**
   * start runs a saved canvas with the next question of a conversation. Files of the page that the
   * question names are stored on the host before.
   */
  start({ id, rev }: Origin, question: Question, files?: Files): RemoteRun {
    const path = `/api/v2/canvases/${encodeURIComponent(id)}/runs`;
    const begin = async (session: object): Promise<string> => {
      const asked = files ? (await this.#stored(id, question, files)) as Question : question;
      return this.#begin(path, { query: "", ...asked, ...session });
    };
    if (question.until !== undefined) return new RemoteRun(this.#host, begin({}));
    return new RemoteRun(this.#host, this.#conversation(id, rev).then((session) => begin({ session })));
  }

  /** resume answers the form of a run, like start. */
  resume(run: RemoteRun, canvas: string, inputs: Record<string, unknown>, files: Files): RemoteRun {
    return run.resume(this.#stored(canvas, inputs, files) as Promise<Record<string, unknown>>);
  }

  // stored returns a value whose files of the page are replaced by those on the host.
  async #stored(canvas: string, value: unknown, files: Files): Promise<unknown> {
    if (Array.isArray(value)) return Promise.all(value.map((each) => this.#stored(canvas, each, files)));
    if (!isObject(value)) return value;
    const here = typeof value["id"] === "string" ? files.blob(value["id"]) : undefined;
    if (!here || !this.#upload) {
      const members = Object.entries(value).map(async ([name, each]) =>
        [name, await this.#stored(canvas, each, files)] as const);
      return Object.fromEntries(await Promise.all(members));
    }
    const key = `${canvas} ${value["id"] as string}`;
    const stored = this.#uploaded.get(key) ?? this.#upload(canvas, here.name, here.blob);
    this.#uploaded.set(key, stored);
    stored.catch(() => this.#uploaded.delete(key)); // the next question tries again
    return stored;
  }

  /** rerun repeats a run from an execution of a node; the first run stays as it is. */
  rerun(run: string, node: string, nth: number, pins: Record<string, unknown> = {}): RemoteRun {
    return new RemoteRun(this.#host, this.#begin(`${root}/${encodeURIComponent(run)}/rerun`, { node, nth, pins }));
  }

  /** host makes the requests. */
  get host(): Pick<Host, "ask"> {
    return this.#host;
  }

  /** forget ends the conversation. */
  forget(): void {
    this.#session = undefined;
  }

  // A session has a copy of the canvas: another revision needs another one.
  async #conversation(canvas: string, rev: number): Promise<string> {
    if (this.#session?.canvas !== canvas || this.#session.rev !== rev) {
      const { id } = await this.#json<{ id: string }>(
        "POST",
        `/api/v2/canvases/${encodeURIComponent(canvas)}/sessions`,
        {},
      );
      this.#session = { canvas, rev, id };
    }
    return this.#session.id;
  }

  async #begin(path: string, body: object): Promise<string> {
    return (await this.#json<{ id: string }>("POST", path, body)).id;
  }

  async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await (await this.#host.ask(method, path, body)).json()) as T;
  }
}

/** RemoteRun is one run on the host. */
export class RemoteRun implements Running {
  readonly result: Running["result"];
  /** Id of the run, once the host has accepted it. */
  readonly id: Promise<string>;
  readonly #host: Pick<Host, "ask">;
  readonly #followed = new AbortController();
  #end!: (result: Awaited<Running["result"]>) => void;
  #fail!: (err: unknown) => void;

  constructor(host: Pick<Host, "ask">, id: Promise<string>) {
    this.#host = host;
    this.id = id;
    this.result = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    this.result.catch(() => undefined); // a caller that iterates gets the error there
  }

  cancel(): void {
    void this.id
      .then((id) => this.#host.ask("POST", `${root}/${encodeURIComponent(id)}/cancel`))
      .catch(() => undefined); // its last event has the result
  }

  leave(): void {
    this.#followed.abort();
  }

  resume(inputs: Record<string, unknown> | Promise<Record<string, unknown>>): RemoteRun {
    const next = Promise.all([this.id, inputs]).then(async ([id, given]) => {
      const answer = await this.#host.ask("POST", `${root}/${encodeURIComponent(id)}/resume`, { inputs: given });
      return ((await answer.json()) as { id: string }).id;
    });
    return new RemoteRun(this.#host, next);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent | Takeover> {
    try {
      const id = await this.id;
      const response = await this.#host.ask("GET", `${root}/${encodeURIComponent(id)}/events`, undefined, {
        accept: "text/event-stream",
        signal: this.#followed.signal,
      });
      const numbers: number[] = []; // of the events that count
      for await (const { id: place, name, data } of serverEvents(response)) {
        const number = Number.parseInt(place, 10);
        if (name === "end") return this.#end(ending(data));
        if (name === "takeover") {
          const keep = numbers.findIndex((each) => each >= number);
          if (keep >= 0) numbers.length = keep;
          yield { event: "takeover", keep: numbers.length };
          continue;
        }
        numbers.push(number);
        yield JSON.parse(data) as RunEvent;
      }
      throw new Error("the host ended the stream of events before the run ended");
    } catch (err) {
      this.#fail(err);
      throw err;
    }
  }
}

function ending(data: string): Awaited<Running["result"]> {
  const { status, error } = JSON.parse(data) as { status: RunResult["status"]; error?: unknown };
  return {
    status,
    ...(error ? { error: { code: "", message: typeof error === "string" ? error : messageOf(error) } } : {}),
  };
}
