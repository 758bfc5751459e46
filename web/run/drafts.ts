// Drafts: every canvas that is edited is kept in this browser until its owner discards it, so that
// a reload, a crash or a closed tab loses nothing. A draft is the text that was opened or saved
// last, and the acts since. Tabs with the same canvas share one draft: each write is based on a
// version, and writes of other tabs since then are merged first.

import { open, type Dsl, type Words } from "../canvas/dsl.ts";
import { diff } from "../canvas/diff.ts";
import { History, type Act } from "../canvas/history.ts";
import { PatchError, same } from "../canvas/patch.ts";
import type { CaseStore } from "./cases/store.ts";
import { DraftStore, Journal, type Draft, type Kept } from "./draft-store.ts";
import type { Origin } from "./host.ts";
import type { Base, Source } from "./document.ts";
import type { Copy } from "./sharing.ts";
import { Store } from "./store.ts";

export type { Draft, Kept } from "./draft-store.ts";

/** The edited canvas, as seen by drafts. */
interface Edited {
  number: number;
  source: Source;
  opened: { title: Words };
  base: Base;
  history: History;
}

/** Peer is the interface of a session to other tabs with the same draft. */
export interface Peer {
  /** edited returns the open canvas. */
  edited(): Edited | undefined;
  /** join merges the draft of another tab, see Sharing.join. */
  join(copy: Copy, synced: Dsl): { merged: boolean; theirs: Dsl };
  /** moved is called when another tab stored the canvas on the host. */
  moved(origin: Origin): void;
}

/** Place is the storage of drafts; a storage that the browser does not allow is undefined. */
export interface Place {
  database: IDBFactory | undefined;
  storage?: Storage | undefined;
  channel?: Pick<BroadcastChannel, "postMessage" | "onmessage"> | undefined;
  /** estimate returns how much the browser stores for the page, and how much it allows. */
  estimate?: (() => Promise<StorageEstimate>) | undefined;
}

/** Room is the space for drafts: "low" before a write is refused, "full" when one was. */
export type Room = "enough" | "low" | "full";

/** Open is the canvas that is followed. */
interface Open {
  key: string;
  number: number;
  always: boolean;
  /** Version that this tab has read or written, and the document of it. */
  version: number;
  synced: Dsl;
  /** Document that is being written; undefined between writes. */
  writing?: Dsl | undefined;
  /** Text in the database. */
  text: string | undefined;
  /** The draft of other tabs, while a choice between theirs and ours is pending. */
  shared?: { key: string; version: number; synced: Dsl };
}

/** News is a message between tabs. */
interface News {
  key: string;
  version: number;
  moved?: { key: string; origin: Origin };
}

const most = 20; // texts that were opened and not edited, for a reload; the oldest go first

// The page warns when less space is left: enough for the changes of a day, less in a small storage.
const reserve = (quota: number): number => Math.min(20_000_000, quota / 10);

/** Drafts keeps canvases in IndexedDB. */
export class Drafts {
  /** Drafts to continue with, the latest first. */
  readonly list = new Store<readonly Draft[]>([]);
  /** Key of the open canvas. */
  readonly key = new Store<string | undefined>(undefined);
  /** This browser keeps drafts. */
  readonly working = new Store<boolean>(true);
  readonly room = new Store<Room>("enough");
  readonly #database: IDBFactory | undefined;
  readonly #store: DraftStore;
  readonly #journal: Journal;
  readonly #channel: Place["channel"];
  readonly #peer: Peer;
  readonly #estimate: Place["estimate"];
  readonly #tab = crypto.randomUUID();
  #open: Open | undefined;
  #next: Edited | undefined;
  #writing: Promise<void> | undefined;
  #joining = false;

  constructor({ database, storage, channel, estimate }: Place, peer: Peer) {
    this.#database = database;
    this.#store = new DraftStore(database);
    this.#journal = new Journal(storage);
    this.#channel = channel;
    this.#peer = peer;
    this.#estimate = estimate;
    if (channel) channel.onmessage = ({ data }: MessageEvent<News>) => void this.#receive(data);
    void this.#refresh();
  }

  /**
   * find returns the draft with a key, and writes the rest of a killed tab's journal; `begun` is
   * the text that the tab had opened.
   */
  async find(key: string, begun?: Pick<Kept, "text" | "title" | "source">): Promise<Kept | undefined> {
    try {
      if (this.#journal.entries(key).length > 0) await this.#recover(key, begun);
      return await this.#store.find(key);
    } catch {
      this.working.set(false);
      return undefined;
    }
  }

  /**
   * begin follows the canvas with a number from now on; `always` keeps it also before it is edited.
   * `version` is the version of the opened draft.
   */
  begin(key: string, document: Edited, always: boolean, version = 0): void {
    const { number, history, base } = document;
    const text = version > 0 ? base.text : undefined;
    this.#open = { key, number, always, version, synced: history.dsl, text };
    this.key.set(key);
    if (always && version === 0) this.#schedule(document);
  }

  /**
   * changed writes the draft of the open canvas. Changes made while it is written are written after
   * it.
   */
  changed(document: Edited | undefined): void {
    const now = this.#open;
    if (!document || document.number !== now?.number || this.#joining) return;
    if (!this.#writing && isStored(now, document)) return; // a write may be of another document
    this.#writeJournal(now, document.history.dsl);
    this.#schedule(document);
  }

  #schedule(document: Edited): void {
    this.#next = document;
    this.#writing ??= this.#write();
  }

  /** moved keeps later changes under the key of a canvas of the host, which is stored now. */
  async moved(origin: Origin): Promise<void> {
    const now = this.#open;
    if (!now) return;
    await this.settled();
    const before = now.key;
    const key = draftKey("", { kind: "host", origin });
    Object.assign(now, { key, version: 0, text: undefined });
    // A draft of another canvas of the host stays: the stored canvas is a copy.
    if (!before.startsWith("host:")) this.#broadcast({ key: before, version: 0, moved: { key, origin } });
    await this.#cases((store) => store.move(before, key));
    const document = this.#peer.edited();
    if (document && document.history.dsl !== document.base.dsl) this.#schedule(document); // edited during the save
    await this.settled();
    await this.drop(before);
    if (this.#open === now) this.key.set(key);
  }

  /** add stores a new canvas without opening it, and returns its key. It throws without storage. */
  async add(title: string, text: string): Promise<string> {
    const key = `new:${crypto.randomUUID()}`;
    const draft = { key, title, source: { kind: "new" as const }, acts: [], updated: Date.now(), version: 1 };
    await this.#store.change(key, () => ({ draft, text }));
    await this.#refresh();
    return key;
  }

  /** rejoin shares the draft of the other tabs again, after a choice. */
  rejoin(): void {
    const now = this.#open;
    if (!now?.shared) return;
    void this.drop(now.key);
    Object.assign(now, { ...now.shared, text: undefined, shared: undefined });
    this.changed(this.#peer.edited());
  }

  /** settled waits until everything is written. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** drop deletes a draft, and then writes a draft that did not fit before. */
  async drop(key: string): Promise<void> {
    try {
      await this.#store.drop(key);
    } catch (err) {
      this.#failed(err);
    }
    if (key.startsWith("new:")) await this.#cases((store) => store.move(key, undefined)); // nothing else has it
    await this.#refresh();
    if (this.room.get() === "full") this.changed(this.#peer.edited());
    await this.settled();
  }

  /** size estimates the bytes of a draft. */
  size(draft: Draft): Promise<number> {
    return this.#store.size(draft);
  }

  #failed(err: unknown): void {
    if (err instanceof DOMException && err.name === "QuotaExceededError") this.room.set("full");
    this.working.set(false);
  }

  // cases changes the test cases of canvases.
  async #cases(act: (store: CaseStore) => Promise<void>): Promise<void> {
    if (!this.#database) return;
    const { CaseStore: Cases } = await import("./cases/store.ts");
    const store = new Cases(this.#database);
    await act(store).catch(() => undefined); // the canvas itself is stored
    store.close();
  }

  // write returns once nothing has changed since its last step, the refresh.
  async #write(): Promise<void> {
    do {
      const document = this.#next;
      this.#next = undefined;
      if (document) await this.#writeDocument(document);
      if (!this.#next) await this.#refresh();
    } while (this.#next);
    this.#writing = undefined;
  }

  async #writeDocument(document: Edited): Promise<void> {
    const now = this.#open;
    if (now?.number !== document.number) return;
    if (now.version > 0 && isStored(now, document)) {
      this.#journal.clear(now.key, this.#tab);
      return;
    }
    try {
      await this.#put(now, document);
      this.working.set(true);
      await this.#measure();
    } catch (err) {
      this.#failed(err);
    }
  }

  // measure warns before the browser refuses a write.
  async #measure(): Promise<void> {
    const { usage = 0, quota = 0 } = (await this.#estimate?.().catch(() => undefined)) ?? {};
    this.room.set(quota > 0 && quota - usage < reserve(quota) ? "low" : "enough");
  }

  async #put(now: Open, document: Edited): Promise<void> {
    let written = document;
    let key = now.key;
    const before = now.version;
    await this.#store.change(key, (there) => {
      if (there && (there.version ?? 0) !== now.version) this.#join(now, there);
      key = now.key;
      written = this.#current(now) ?? document;
      now.writing = written.history.dsl;
      const { title } = written.opened;
      const { source, base } = written;
      now.version++;
      const draft = { key, title, source, acts: actsOf(written), updated: Date.now(), version: now.version };
      return { draft, ...(there?.text === base.text && key === there.key ? {} : { text: base.text }) };
    }, now.text === undefined ? undefined : { version: now.version, text: now.text }).catch((err: unknown) => {
      if (now.version === before + 1) now.version = before; // nothing was written
      now.writing = undefined;
      throw err;
    });
    now.synced = written.history.dsl;
    now.writing = undefined;
    now.text = written.base.text;
    this.#settleJournal(now, key);
    this.#broadcast({ key, version: now.version });
  }

  // settleJournal keeps the changes made while the draft was written.
  #settleJournal(now: Open, key: string): void {
    const latest = this.#next?.history.dsl;
    if (!latest || latest === now.synced) this.#journal.clear(key, this.#tab);
    else this.#writeJournal(now, latest);
  }

  // writeJournal stores changes in the journal. Those that are being written are a separate act,
  // because a tab that is killed during the write has either written them or not.
  #writeJournal(now: Open, latest: Dsl): void {
    const steps = [now.synced, ...(now.writing ? [now.writing] : []), latest];
    const acts = steps.slice(1).map((dsl, i) => ({ changes: diff(steps[i] as Dsl, dsl) }));
    this.#journal.set(now.key, this.#tab, { acts: acts.filter(({ changes }) => changes.length > 0) });
  }

  #current(now: Open): Edited | undefined {
    const document = this.#peer.edited();
    return document?.number === now.number ? document : undefined;
  }

  // join merges the changes of another tab. If both changed the same setting, this tab writes a
  // separate draft until the person has chosen.
  #join(now: Open, there: Kept): void {
    const { source, text, acts, version = 0 } = there;
    this.#joining = true;
    try {
      const origin = source.kind === "host" ? source.origin : undefined;
      const { merged, theirs } = this.#peer.join({ text, acts, origin }, now.synced);
      if (!merged) {
        now.shared = { key: now.key, version, synced: theirs };
        Object.assign(now, { key: `${now.key}~${this.#tab}`, version: 0, text: undefined });
        return;
      }
      const latest = this.#current(now)?.history.dsl;
      Object.assign(now, { version, synced: latest && same(latest, theirs) ? latest : theirs, text });
    } finally {
      this.#joining = false;
    }
  }

  async #receive({ key, version, moved }: News): Promise<void> {
    const now = this.#open;
    if (now?.key !== key) return void this.#refresh();
    if (moved) {
      Object.assign(now, { key: moved.key, version: 0, text: undefined });
      this.#peer.moved(moved.origin);
      return;
    }
    await this.settled(); // each write checks for itself
    if (version <= now.version) return;
    const there = await this.#store.find(key).catch(() => undefined);
    if (this.#open !== now || !there || now.key !== key || (there.version ?? 0) <= now.version) return;
    this.#join(now, there);
    this.changed(this.#current(now));
  }

  // recover writes the changes of a killed tab that are only in the journal. The draft is read and
  // written in one transaction, because other tabs may write it at the same time.
  async #recover(key: string, begun: Pick<Kept, "text" | "title" | "source"> | undefined): Promise<void> {
    const entries = this.#journal.entries(key).filter(([tab]) => tab !== this.#tab);
    for (const [tab, { acts }] of entries) {
      let version = 0;
      await this.#store.change(key, (found) => {
        const there = found ?? (begun && { ...begun, key, acts: [], updated: 0 });
        const missing = there && missingOf(there, acts);
        if (!missing) return undefined;
        const { text, ...draft } = there;
        version = (there.version ?? 0) + 1;
        return { draft: { ...draft, acts: [...draft.acts, ...missing], updated: Date.now(), version }, text };
      });
      if (version > 0) this.#broadcast({ key, version });
      this.#journal.clear(key, tab);
    }
    await this.#refresh();
  }

  #broadcast(news: News): void {
    this.#channel?.postMessage(news);
  }

  async #refresh(): Promise<void> {
    try {
      const all = await this.#store.list();
      const isDraft = (draft: Draft): boolean => isWork(draft) || this.#journal.entries(draft.key).length > 0;
      this.list.set(all.filter(isDraft));
      const others = all.filter((draft) => !isDraft(draft));
      for (const old of others.slice(most)) await this.#store.drop(old.key, (there) => !isDraft(there));
    } catch (err) {
      this.#failed(err);
    }
  }
}

// isStored reports whether the last write was of this document; the text of one that was never
// written does not count.
function isStored({ synced, text }: Open, { history, base }: Edited): boolean {
  return history.dsl === synced && base.text === (text ?? base.text);
}

// actsOf returns the acts since the text that is stored with them.
function actsOf({ base, history }: Edited): readonly Act[] {
  const since = history.since(base.dsl);
  if (since) return since;
  const changes = diff(base.dsl, history.dsl);
  return changes.length > 0 ? [{ changes }] : [];
}

// missingOf returns the acts of a journal that a draft lacks; undefined if it has all. Changes that
// the tab had written do not apply again.
function missingOf(there: Kept, acts: readonly Act[]): readonly Act[] | undefined {
  return acts.map((_, i) => acts.slice(i)).find((rest) => applies(there, rest));
}

function applies({ text, acts }: Pick<Kept, "text" | "acts">, more: readonly Act[]): boolean {
  try {
    [...acts, ...more].reduce((before, act) => before.act(act), new History(open(text).dsl));
    return true;
  } catch (err) {
    if (err instanceof PatchError) return false;
    throw err;
  }
}

// isWork reports whether a draft has something that exists nowhere else.
function isWork({ source, acts }: Draft): boolean {
  return acts.length > 0 || source.kind === "file" || (source.kind === "new" && !source.copy);
}

/** draftKey names the draft of a text that is opened. */
export function draftKey(text: string, source: Source): string {
  return source.kind === "host" ? `host:${source.origin.id}` : `${source.kind}:${digest(text)}`;
}

// digest distinguishes texts; it does not resist intentional collisions.
function digest(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  return `${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}${text.length.toString(36)}`;
}
