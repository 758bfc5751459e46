// Several people on one canvas of the host: receives what others save, saves in the order of the
// host's revisions, and lists who else has the canvas open.

import { same } from "../canvas/patch.ts";
import { HostError, type Host, type Origin } from "./host.ts";
import type { Base } from "./document.ts";
import { serverEvents } from "./sse.ts";
import { Store } from "./store.ts";

/** Person is another person with the canvas open. */
export interface Person {
  name: string;
  /** Pages of the person, this one not counted. */
  pages: number;
}

/** Shared is the interface of the session to others. */
export interface Shared {
  readonly origin: Store<Origin | undefined>;
  readonly document: { get(): { dsl: Base["dsl"] } | undefined };
  readonly sharing: { receive(text: string, origin: Origin): boolean };
  text(): Promise<string>;
  stored(origin: Origin, base: Base): void;
}

/** Saved is the result of a save: changes of others may require a choice first. */
export type Saved = "saved" | "choice";

const shortest = 1_000; // between two connections, milliseconds
const longest = 30_000;
const tries = 8; // saves that others may overtake

/** Together follows the open canvas on the host. */
export class Together {
  /** Other people with the canvas open. */
  readonly people = new Store<readonly Person[]>([]);
  /** Counts the changes of others that were merged. */
  readonly merged = new Store<number>(0);
  /** Author of the newest of them; "" if unknown. */
  readonly author = new Store<string>("");
  readonly #host: Host;
  readonly #session: Shared;
  readonly #page = crypto.randomUUID();
  #turn: Promise<unknown> = Promise.resolve();
  #followed: { id: string; stop: AbortController } | undefined;

  constructor(host: Host, session: Shared) {
    this.#host = host;
    this.#session = session;
    session.origin.subscribe(() => this.#attend());
    host.state.subscribe(() => this.#attend());
  }

  /**
   * save stores the open canvas over the revision that it is based on. If others have saved since,
   * their changes are merged first. It throws a HostError.
   */
  save(): Promise<Saved> {
    return this.#inTurn(async () => {
      for (let left = tries; ; left--) {
        const origin = this.#session.origin.get();
        const dsl = this.#session.document.get()?.dsl;
        if (!origin || !dsl) throw new HostError(0, "the canvas is not one of this host");
        const text = await this.#session.text();
        try {
          const saved = await this.#host.save(origin, text);
          if (this.#session.origin.get() === origin) this.#session.stored(saved, { dsl, text });
          return "saved";
        } catch (err) {
          if (!(err instanceof HostError) || err.status !== 409 || left <= 1) throw err;
        }
        if (!(await this.#pull(origin.id))) return "choice";
      }
    });
  }

  /**
   * publish publishes the revision that the open canvas is based on; `give` sends the request and
   * returns the new revision.
   */
  publish(give: (rev: number) => Promise<{ rev: number }>): Promise<void> {
    return this.#inTurn(async () => {
      const origin = this.#session.origin.get();
      if (!origin) throw new HostError(0, "the canvas is not one of this host");
      const { rev } = await give(origin.rev);
      if (this.#session.origin.get() === origin) this.#session.origin.set({ ...origin, rev });
    });
  }

  // attend follows the open canvas while the person is signed in.
  #attend(): void {
    const open = this.#host.state.get().status === "open";
    const id = open ? this.#session.origin.get()?.id : undefined;
    if (id === this.#followed?.id) return;
    this.#followed?.stop.abort();
    this.people.set([]);
    this.#followed = undefined;
    if (id === undefined) return;
    const stop = new AbortController();
    this.#followed = { id, stop };
    void this.#follow(id, stop.signal);
  }

  async #follow(id: string, signal: AbortSignal): Promise<void> {
    for (let wait = shortest; !signal.aborted; wait = Math.min(2 * wait, longest)) {
      try {
        const path = `/api/v2/canvases/${encodeURIComponent(id)}/events?page=${this.#page}`;
        const response = await this.#host.ask("GET", path, undefined, { accept: "text/event-stream", signal });
        for await (const { name, data } of serverEvents(response)) {
          wait = shortest;
          if (name === "revision") await this.#revision(id, (JSON.parse(data) as { rev: number }).rev);
          else if (name === "people") this.people.set((JSON.parse(data) as { items: Person[] }).items);
        }
      } catch (err) {
        // Without a login, or without the canvas, there is nothing to follow.
        if (err instanceof HostError && [401, 403, 404].includes(err.status)) return this.people.set([]);
      }
      if (!signal.aborted) this.people.set([]);
      await pause(wait * (0.5 + Math.random() / 2), signal);
    }
  }

  async #revision(id: string, rev: number): Promise<void> {
    await this.#inTurn(async () => {
      const origin = this.#session.origin.get();
      if (origin?.id === id && rev > origin.rev) await this.#pull(id);
    });
  }

  async #pull(id: string): Promise<boolean> {
    const [{ text, origin }, author] = await Promise.all([this.#host.canvas(id), this.#authorOf(id)]);
    this.author.set(author);
    const before = this.#session.document.get()?.dsl;
    const merged = this.#session.sharing.receive(text, origin);
    const now = this.#session.document.get()?.dsl;
    // A revision may change nothing here: it was published, or this tab shares the draft of the one
    // that saved it.
    if (merged && before && now && !same(before, now)) this.merged.set(this.merged.get() + 1);
    return merged;
  }

  // authorOf returns the author of the newest version. Only a line of text depends on the answer.
  async #authorOf(id: string): Promise<string> {
    try {
      const response = await this.#host.ask("GET", `/api/v2/canvases/${encodeURIComponent(id)}/versions`);
      const { items } = (await response.json()) as { items: { author: string }[] };
      return items[0]?.author ?? "";
    } catch (err) {
      if (err instanceof HostError) return "";
      throw err;
    }
  }

  // inTurn serializes saves and merges.
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const made = this.#turn.then(work, work);
    this.#turn = made.catch(() => undefined);
    return made;
  }
}

function pause(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
