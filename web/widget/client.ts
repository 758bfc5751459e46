// Requests of a chat to its host, only those that an embed token allows. They carry no cookie and
// follow no redirect, so that the token stays with the host.

import type { FormField, Reference, RunEvent } from "@easel/engine";
import type { Options } from "./options.ts";
import type { Word } from "./words.ts";

/** ChatError is an error with a translated message; detail is the host's. */
export class ChatError extends Error {
  readonly word: Word;
  /** A network failure: the request may work later. */
  readonly transient: boolean;

  constructor(word: Word, detail = "", transient = false) {
    super(detail || word);
    this.word = word;
    this.transient = transient;
  }
}

/** Greeting is the content that an agent shows before the first message. */
export interface Greeting {
  title: string;
  prologue: string;
  inputs: Record<string, FormField>;
  mode: string;
}

/** Uploaded is a file on the host, as runs take it. */
export interface Uploaded {
  id: string;
  name: string;
  [member: string]: unknown;
}

/** Question is a message of a visitor. */
export interface Question {
  query: string;
  inputs?: Record<string, unknown> | undefined;
  files?: Uploaded[] | undefined;
  session?: string | undefined;
}

/** Frame is an event of a run as a chat gets it. */
export type Frame = RunEvent & { session_id?: string; code?: number; message?: string };

/** Stream is the answer to a question: the ids of the run and its conversation, and the events. */
export interface Stream {
  run: string;
  session: string;
  frames: AsyncIterable<Frame>;
}

/** Said is a stored conversation of a signed visitor. */
export interface Said {
  id: string;
  messages: { role: string; content: string; reference?: Reference | null }[];
}

/** Client makes the requests of one chat: of a conversation, or of a user that the site signed. */
export class Client {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** greeting returns the start of a conversation. */
  async greeting(): Promise<Greeting> {
    const answer = await this.#send(this.#bot("inputs") + this.#release());
    const data = await dataOf<Partial<Greeting>>(answer);
    return {
      title: textOf(data.title),
      prologue: textOf(data.prologue),
      inputs: data.inputs ?? {},
      mode: textOf(data.mode),
    };
  }

  /** ask starts a run. */
  async ask(question: Question, signal: AbortSignal): Promise<Stream> {
    const { user, signature, published } = this.#options;
    const { query, inputs = {}, files = [], session } = question;
    const body = {
      query,
      inputs,
      files,
      stream: true,
      release: published,
      ...(session ? { session_id: session } : {}),
      ...(user ? { user_id: user } : {}),
      ...(signature ? { user_signature: signature } : {}),
    };
    return this.#stream(this.#bot("completions"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
  }

  /** follow reads a run of a conversation again from its first event. */
  follow(run: string, session: string, signal: AbortSignal): Promise<Stream> {
    return this.#stream(this.#bot(`events/${encodeURIComponent(run)}`) + this.#proof(session), { signal });
  }

  /** cancel stops a run of a conversation. */
  async cancel(run: string, session: string): Promise<void> {
    await this.#send(`0.27/api/v1/tasks/${encodeURIComponent(run)}/cancel${this.#proof(session)}`, { method: "POST" });
  }

  /** latest returns the last conversation of a signed visitor, from any device. */
  async latest(): Promise<Said | undefined> {
    if (!this.#options.signature) return undefined;
    const list = await this.#send(this.#bot("sessions") + this.#proof("") + "&page_size=1");
    const [last] = (await dataOf<{ sessions: { id: string }[] }>(list)).sessions;
    return last && dataOf<Said>(await this.#send(this.#bot(`sessions/${last.id}`) + this.#proof("")));
  }

  /** upload stores a file for the next question. */
  async upload(file: File): Promise<Uploaded> {
    const form = new FormData();
    form.append("file", file, file.name);
    const path = `0.27/api/v1/agents/${encodeURIComponent(this.#options.agent)}/upload${this.#proof("")}`;
    const data = await dataOf<Uploaded | Uploaded[]>(await this.#send(path, { method: "POST", body: form }));
    const [stored] = Array.isArray(data) ? data : [data];
    if (!stored) throw new ChatError("failed");
    return stored;
  }

  #bot(rest: string): string {
    return `0.27/api/v1/agentbots/${encodeURIComponent(this.#options.agent)}/${rest}`;
  }

  // proof returns the query that authenticates a request.
  #proof(session: string): string {
    const { user, signature } = this.#options;
    const proof = signature ? [["user_id", user], ["user_signature", signature]] : [["session_id", session]];
    return `?${new URLSearchParams(proof)}`;
  }

  #release(): string {
    return this.#options.published ? "?release=true" : "";
  }

  async #stream(path: string, init: RequestInit): Promise<Stream> {
    const answer = await this.#send(path, init);
    const kind = answer.headers.get("content-type") ?? "";
    if (!kind.startsWith("text/event-stream") || !answer.body) {
      await dataOf(answer);
      throw new ChatError("failed", `the host answered ${kind}`);
    }
    const [run, session] = ["x-easel-run", "x-easel-session"].map((name) => answer.headers.get(name) ?? "");
    return { run: run ?? "", session: session ?? "", frames: framesOf(answer.body) };
  }

  async #send(path: string, init: RequestInit = {}): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(new URL(path, this.#options.host), {
        ...init,
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
        cache: "no-store",
        headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${this.#options.token}` },
      });
    } catch (err) {
      if (init.signal?.aborted) throw err;
      throw new ChatError("unreachable", String(err), true);
    }
    if (answer.status === 403) return (await dataOf(answer)) as never;
    if (answer.status === 401) throw new ChatError("refused");
    if (answer.status === 429) throw new ChatError("busy");
    if (answer.status >= 500) throw new ChatError("failed", `HTTP ${answer.status}`, true);
    return answer;
  }
}

// dataOf reads an envelope {code, message, data}.
async function dataOf<T>(answer: Response): Promise<T> {
  const { code, message, data } = (await answer.json().catch(() => ({ code: answer.status }))) as Envelope<T>;
  if (code === 0) return data as T;
  const says = (pattern: RegExp): boolean => pattern.test(message ?? "");
  if (says(/user_signature/)) throw new ChatError("unsigned", message);
  // An unknown token is refused with different codes by the versions of the dialect.
  if (code === 403 || says(/authoriz|authentication/i)) throw new ChatError("refused", message);
  if (says(/^session not found/i)) throw new ChatError("over", message);
  throw new ChatError(says(/publish/i) ? "unpublished" : "failed", message);
}

interface Envelope<T> {
  code?: number;
  message?: string;
  data?: T;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** framesOf reads server-sent events: each is one line of JSON behind "data:". */
export async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data:")) yield JSON.parse(line.slice(5)) as Frame;
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined); // the connection may be gone already
  }
}
