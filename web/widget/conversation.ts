// A conversation of a visitor: its turns, and the run that answers the last one. It survives a
// reload of the embedding page and a lost connection: the run continues on the host and is read
// again from its first event.

import { emptyState, reduce, type RunState } from "@easel/engine/state";
import { ChatError, type Client, type Question, type Said, type Stream, type Uploaded } from "./client.ts";
import type { Word } from "./words.ts";

/** Turn is one question with its answer. */
export interface Turn {
  query: string;
  /** Values of a form, as they were filled in. */
  inputs?: Record<string, unknown> | undefined;
  files: Uploaded[];
  state: RunState;
  /** Id of the run; "" until the host has accepted it. */
  run: string;
  phase: "sending" | "running" | "reconnecting" | "done" | "failed";
  fault?: Word | undefined;
}

/** Place stores strings in the tab, such as sessionStorage. */
export type Place = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Wait resolves at the time of the next attempt; it may throw when the signal aborts. */
export type Wait = (tries: number, signal: AbortSignal) => Promise<void>;

const mostTurns = 50; // that are kept in the tab
const mostTries = 8;

/** Requests are made for a conversation. */
export type Requests = Pick<Client, "ask" | "follow" | "cancel" | "latest">;

/** Conversation calls `changed` after each change. */
export class Conversation {
  turns: readonly Turn[] = [];
  readonly #client: Requests;
  readonly #changed: () => void;
  readonly #place: Place | undefined;
  readonly #key: string;
  readonly #wait: Wait;
  #session = "";
  #abort = new AbortController();

  constructor(
    client: Requests,
    key: string,
    changed: () => void,
    place?: Place,
    wait: Wait = online,
  ) {
    this.#client = client;
    this.#changed = changed;
    this.#place = place;
    this.#key = `easel-chat:${key}`;
    this.#wait = wait;
  }

  /** busy reports whether a run answers. */
  get busy(): boolean {
    return isOpen(this.turns.at(-1));
  }

  /**
   * restore continues the conversation of an earlier page of the tab, with an unfinished run. A
   * signed visitor without one in this tab continues the last one, from any device.
   */
  async restore(): Promise<void> {
    const saved = this.#saved();
    if (this.turns.length > 0) return;
    if (!saved) return this.#recall();
    this.#session = saved.session;
    this.turns = saved.turns;
    const last = saved.turns.at(-1);
    if (!isOpen(last)) return this.#changed();
    if (last?.run) await this.#resume();
    else this.#update({ phase: "failed", fault: "lost" });
  }

  /** ask sends a question, or the values of the form of the last turn. */
  async ask({ query, inputs, files = [] }: Omit<Question, "session">): Promise<void> {
    if (this.busy) return;
    this.turns = [...this.turns, { query, inputs, files, state: emptyState, run: "", phase: "sending" }];
    await this.#send();
  }

  /** again repeats the failed request: the question, or reading its answer. */
  async again(): Promise<void> {
    const last = this.turns.at(-1);
    if (last?.phase !== "failed") return;
    if (last.run && last.fault === "lost") await this.#resume();
    else await this.#send();
  }

  /** stop ends the run. */
  stop(): void {
    const last = this.turns.at(-1);
    if (!isOpen(last)) return;
    // The stream reports the end of the run, also if this request fails.
    if (last?.run) void this.#client.cancel(last.run, this.#session).catch(() => undefined);
    else this.#abort.abort();
  }

  /** restart drops the conversation. */
  restart(): void {
    this.stop();
    this.#abort.abort();
    this.#session = "";
    this.turns = [];
    this.#save(); // a reload must not restore the dropped one
    this.#changed();
  }

  async #recall(): Promise<void> {
    const last = await this.#client.latest();
    if (!last || this.turns.length > 0) return;
    this.#session = last.id;
    this.turns = turnsOf(last).slice(-mostTurns);
    this.#save();
    this.#changed();
  }

  async #send(): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    this.#update({ state: emptyState, run: "", phase: "sending", fault: undefined });
    const { query, inputs, files } = this.turns.at(-1) as Turn;
    try {
      const stream = await this.#client.ask({ query, inputs, files, session: this.#session }, signal);
      if (stream.session) this.#session = stream.session;
      this.#update({ run: stream.run, phase: "running" });
      if (await this.#take(stream, signal)) return;
    } catch (err) {
      if (signal.aborted) return this.#aborted(signal);
      const { run } = this.turns.at(-1) as Turn;
      if (!run || (err instanceof ChatError && !err.transient)) return this.#fail(err);
    }
    await this.#resume();
  }

  // resume reads the run of the last turn again until it has ended.
  async #resume(): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    this.#update({ phase: "reconnecting", fault: undefined });
    const { run } = this.turns.at(-1) as Turn;
    for (let tries = 0; tries < mostTries; tries++) {
      try {
        await this.#wait(tries, signal);
        if (await this.#take(await this.#client.follow(run, this.#session, signal), signal)) return;
      } catch (err) {
        if (signal.aborted) return this.#aborted(signal);
        if (err instanceof ChatError && !err.transient) return this.#fail(err);
      }
    }
    this.#update({ phase: "failed", fault: "lost" });
  }

  // take reads a stream and reports whether it came to the end of the run.
  async #take({ frames }: Stream, signal: AbortSignal): Promise<boolean> {
    let state = emptyState;
    for await (const frame of frames) {
      if (signal.aborted) throw new ChatError("canceled");
      if (frame.session_id) this.#session = frame.session_id;
      if (frame.code) {
        this.#update({ state, phase: "failed", fault: "failed" });
        return true;
      }
      state = reduce(state, frame);
      this.#update({ state, phase: "running" });
    }
    const over = state.form !== undefined || state.status === "succeeded" || state.status === "canceled";
    if (over) this.#update({ phase: "done" });
    return over;
  }

  #fail(err: unknown): void {
    if (err instanceof ChatError && err.word === "over") this.#session = ""; // another try begins a new one
    this.#update({ phase: "failed", fault: err instanceof ChatError ? err.word : "failed" });
  }

  // aborted ends a turn that was stopped before the host had accepted it.
  #aborted(signal: AbortSignal): void {
    if (signal === this.#abort.signal && isOpen(this.turns.at(-1)))
      this.#update({ phase: "failed", fault: "canceled" });
  }

  #update(part: Partial<Turn>): void {
    const last = this.turns.at(-1);
    if (!last) return;
    this.turns = [...this.turns.slice(0, -1), { ...last, ...part }];
    if (part.phase !== "running" || part.run) this.#save();
    this.#changed();
  }

  #save(): void {
    const saved: Saved = { session: this.#session, turns: this.turns.slice(-mostTurns) };
    try {
      this.#place?.setItem(this.#key, JSON.stringify(saved));
    } catch {
      this.#place?.removeItem(this.#key); // it is full: then a reload starts a new conversation
    }
  }

  #saved(): Saved | undefined {
    try {
      const saved = JSON.parse(this.#place?.getItem(this.#key) ?? "null") as Saved | null;
      return Array.isArray(saved?.turns) ? saved : undefined;
    } catch {
      return undefined; // another program's text under our key
    }
  }
}

// turnsOf returns the turns of a stored conversation.
function turnsOf({ messages }: Said): Turn[] {
  const turns: Turn[] = [];
  for (const { role, content: text, reference } of messages) {
    const turn = turns.at(-1); // none before the greeting
    if (role === "user") turns.push({ query: text, files: [], state: emptyState, run: "", phase: "done" });
    else if (turn) {
      const answer = { parts: [{ kind: "text" as const, text }], done: true, ...(reference && { reference }) };
      turn.state = { ...emptyState, status: "succeeded", answers: [answer] };
    }
  }
  return turns;
}

interface Saved {
  session: string;
  turns: Turn[];
}

function isOpen(turn: Turn | undefined): boolean {
  return turn?.phase === "sending" || turn?.phase === "running" || turn?.phase === "reconnecting";
}

// online waits longer with each attempt, at most until the browser is online again.
function online(tries: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const done = (): void => {
      clearTimeout(timer);
      over.abort();
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(done, tries === 0 ? 0 : Math.min(30_000, 500 * 2 ** tries));
    addEventListener("online", done, { signal: over.signal });
    signal.addEventListener("abort", done, { signal: over.signal });
  });
}
