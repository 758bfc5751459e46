// Drafts: every canvas that is opened or edited is kept in this browser, so that a reload, a crash
// or a closed tab loses nothing. A draft is the text that was opened and the acts since.

import type { Words } from "../canvas/dsl.ts";
import type { Act } from "../canvas/history.ts";
import { Store } from "./store.ts";
import type { Source } from "./session.ts";

/** Draft is a canvas as it was left. */
export interface Draft {
  key: string;
  title: Words;
  source: Source;
  acts: readonly Act[];
  /** When it was changed last, milliseconds. */
  updated: number;
  /** Tab that wrote it. */
  tab: string;
}

/** Kept is a draft with the text that was opened. */
export interface Kept extends Draft {
  text: string;
}

/** What is edited, as drafts see it. */
interface Edited {
  number: number;
  source: Source;
  opened: { title: Words };
  history: { acts: readonly Act[]; canUndo: boolean };
}

/** Open is the canvas that is followed. */
interface Open {
  key: string;
  number: number;
  text: string;
  since: number;
  /** Its text is in the database. */
  stored: boolean;
}

const most = 60; // drafts; the oldest go first

/** Drafts keeps canvases in IndexedDB. */
export class Drafts {
  /** Drafts to continue with, the latest first. */
  readonly list = new Store<readonly Draft[]>([]);
  /** This browser keeps drafts. */
  readonly working = new Store<boolean>(true);
  readonly #database: Promise<IDBDatabase>;
  readonly #tab = crypto.randomUUID();
  #open: Open | undefined;
  #next: Edited | undefined;
  #writing: Promise<void> | undefined;

  constructor(factory: IDBFactory | undefined) {
    this.#database = factory ? opened(factory) : Promise.reject(new Error("no IndexedDB"));
    this.#database.then(
      () => this.#refresh(),
      () => this.working.set(false),
    );
  }

  /** find gives the draft with a key, if there is one. */
  async find(key: string): Promise<Kept | undefined> {
    try {
      const store = (await this.#database).transaction(["drafts", "texts"]);
      const draft = await done<Draft | undefined>(store.objectStore("drafts").get(key));
      const text = await done<string | undefined>(store.objectStore("texts").get(key));
      return draft && text !== undefined ? { ...draft, text } : undefined;
    } catch {
      this.working.set(false);
      return undefined;
    }
  }

  /**
   * begin follows the canvas with a number from now on; `always` keeps it also before it is edited.
   */
  begin(key: string, text: string, document: Edited, always: boolean): void {
    this.#open = { key, number: document.number, text, since: Date.now(), stored: false };
    if (always || document.history.canUndo) this.changed(document);
  }

  /**
   * changed writes the draft of the open canvas. Changes made while it is written are written after
   * it.
   */
  changed(document: Edited | undefined): void {
    if (!document || document.number !== this.#open?.number) return;
    if (!document.history.canUndo && !this.#open.stored && !isKept(document.source)) return;
    this.#next = document;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /**
   * moved drops the draft of the open canvas, which is stored now, and keeps later changes under
   * another key.
   */
  async moved(key: string): Promise<void> {
    const open = this.#open;
    if (!open) return;
    await this.settled();
    const before = open.key;
    open.key = key;
    open.stored = false;
    await this.drop(before);
  }

  /** settled waits until everything is written. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** drop deletes a draft. */
  async drop(key: string): Promise<void> {
    if (this.#open?.key === key) this.#open.stored = false;
    try {
      const store = (await this.#database).transaction(["drafts", "texts"], "readwrite");
      store.objectStore("texts").delete(key);
      await done(store.objectStore("drafts").delete(key));
    } catch {
      this.working.set(false);
    }
    await this.#refresh();
  }

  async #write(): Promise<void> {
    while (this.#next) {
      const document = this.#next;
      const open = this.#open;
      this.#next = undefined;
      if (!open || open.number !== document.number) continue;
      try {
        await this.#put(open, document);
      } catch {
        this.working.set(false);
      }
    }
    await this.#refresh();
  }

  async #put(open: Open, { source, opened: { title }, history }: Edited): Promise<void> {
    const transaction = (await this.#database).transaction(["drafts", "texts"], "readwrite", { durability: "relaxed" });
    const drafts = transaction.objectStore("drafts");
    const there = await done<Draft | undefined>(drafts.get(open.key));
    // Another tab edits the same canvas: both are kept.
    if (there && there.tab !== this.#tab && there.updated > open.since) {
      open.key = `${open.key}~${this.#tab}`;
      open.stored = false;
    }
    if (!open.stored) await done(transaction.objectStore("texts").put(open.text, open.key));
    open.stored = true;
    const draft: Draft = { key: open.key, title, source, acts: history.acts, updated: Date.now(), tab: this.#tab };
    await done(drafts.put(draft));
  }

  async #refresh(): Promise<void> {
    try {
      const all = await done<Draft[]>((await this.#database).transaction("drafts").objectStore("drafts").getAll());
      all.sort((a, b) => b.updated - a.updated);
      this.list.set(all.slice(0, most));
      for (const old of all.slice(most)) await this.#forget(old.key);
    } catch {
      this.working.set(false);
    }
  }

  async #forget(key: string): Promise<void> {
    const transaction = (await this.#database).transaction(["drafts", "texts"], "readwrite");
    transaction.objectStore("texts").delete(key);
    await done(transaction.objectStore("drafts").delete(key));
  }
}

// isKept reports whether a canvas exists nowhere but here.
function isKept({ kind }: Source): boolean {
  return kind === "new" || kind === "file";
}

/** draftKey names the draft of a text that is opened. */
export function draftKey(text: string, source: Source): string {
  return source.kind === "host" ? `host:${source.origin.id}` : `${source.kind}:${digest(text)}`;
}

// digest tells texts apart; it is no protection against somebody who wants two to be alike.
function digest(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  return `${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}${text.length.toString(36)}`;
}

function opened(factory: IDBFactory): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = factory.open("easel", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("drafts", { keyPath: "key" });
      request.result.createObjectStore("texts");
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB"));
    request.onblocked = () => reject(new Error("IndexedDB is blocked"));
  });
}

function done<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB"));
  });
}
