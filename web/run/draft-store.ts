// The storage of drafts: the browser's database, and a journal of changes that are being written to
// it. The database takes several turns of the page to write; the journal is written within the act
// itself.

import type { Words } from "../canvas/dsl.ts";
import type { Act } from "../canvas/history.ts";
import { committed, done, openDatabase } from "./database.ts";
import type { Source } from "./document.ts";

/** Draft is a canvas in its last state. */
export interface Draft {
  key: string;
  title: Words;
  source: Source;
  acts: readonly Act[];
  /** When it was changed last, milliseconds. */
  updated: number;
  /** Increases by one with each write of any tab; drafts of earlier releases have none. */
  version?: number;
}

/** Kept is a draft with the text that its acts begin with. */
export interface Kept extends Draft {
  text: string;
}

/** Written is a draft to write, with its text if that changes. */
export interface Written {
  draft: Draft;
  text?: string;
}

/** Known is the text of a draft as this tab has read or written it with a version. */
export interface Known {
  version: number;
  text: string;
}

/** DraftStore reads and writes drafts. */
export class DraftStore {
  readonly #database: Promise<IDBDatabase>;

  constructor(factory: IDBFactory | undefined) {
    this.#database = openDatabase(factory, "easel", (database) => {
      database.createObjectStore("drafts", { keyPath: "key" });
      database.createObjectStore("texts");
    });
    this.#database.catch(() => undefined); // each use reports it
  }

  /** list returns all drafts, the latest first. */
  async list(): Promise<Draft[]> {
    const all = await done<Draft[]>((await this.#database).transaction("drafts").objectStore("drafts").getAll());
    return all.sort((a, b) => b.updated - a.updated);
  }

  async find(key: string): Promise<Kept | undefined> {
    return kept((await this.#database).transaction(["drafts", "texts"]), key);
  }

  /**
   * change returns `next` the draft with a key and writes what it returns, while no other tab can
   * write; undefined writes nothing. A text that is undefined stays as it was. `next` must not wait
   * for anything. The text is not read again while the draft has the version of `known`.
   */
  async change(
    key: string, next: (there: Kept | undefined) => Written | undefined, known?: Known,
  ): Promise<void> {
    const transaction = (await this.#database).transaction(["drafts", "texts"], "readwrite", { durability: "relaxed" });
    const written = next(await kept(transaction, key, known));
    if (!written) return;
    const { draft, text } = written;
    if (text !== undefined) transaction.objectStore("texts").put(text, draft.key);
    transaction.objectStore("drafts").put(draft);
    await committed(transaction);
  }

  /** drop deletes a draft, unless `may` refuses the one that other tabs have written since. */
  async drop(key: string, may: (there: Draft) => boolean = () => true): Promise<void> {
    const transaction = (await this.#database).transaction(["drafts", "texts"], "readwrite");
    const there = await done<Draft | undefined>(transaction.objectStore("drafts").get(key));
    if (there && !may(there)) return;
    transaction.objectStore("texts").delete(key);
    transaction.objectStore("drafts").delete(key);
    await committed(transaction);
  }

  /** size estimates the bytes of a draft. */
  async size({ key, acts }: Draft): Promise<number> {
    const texts = (await this.#database).transaction("texts").objectStore("texts");
    const text = await done<string | undefined>(texts.get(key));
    return (text?.length ?? 0) + JSON.stringify(acts).length;
  }
}

/** Entry holds changes that may not be in the database yet. */
export interface Entry {
  /** Changes that are being written, which the database may have, then those made since. */
  acts: readonly Act[];
}

const prefix = "easel.unwritten:";

/** Journal stores the changes that are being written, by draft and tab. */
export class Journal {
  readonly #storage: Storage | undefined;

  constructor(storage: Storage | undefined) {
    this.#storage = storage;
  }

  set(key: string, tab: string, entry: Entry): void {
    try {
      this.#storage?.setItem(prefix + JSON.stringify([key, tab]), JSON.stringify(entry));
    } catch {
      this.clear(key, tab); // full: an older entry would be wrong
    }
  }

  clear(key: string, tab: string): void {
    this.#storage?.removeItem(prefix + JSON.stringify([key, tab]));
  }

  /** entries returns unfinished writes, by tab. */
  entries(key: string): [tab: string, Entry][] {
    const storage = this.#storage;
    if (!storage) return [];
    return Object.keys(storage).flatMap((name): [string, Entry][] => {
      if (!name.startsWith(prefix)) return [];
      const [of, tab] = JSON.parse(name.slice(prefix.length)) as [string, string];
      return of === key ? [[tab, JSON.parse(storage.getItem(name) ?? "{}") as Entry]] : [];
    });
  }
}

async function kept(transaction: IDBTransaction, key: string, known?: Known): Promise<Kept | undefined> {
  const draft = await done<Draft | undefined>(transaction.objectStore("drafts").get(key));
  if (!draft) return undefined;
  const text = known !== undefined && draft.version === known.version
    ? known.text
    : await done<string | undefined>(transaction.objectStore("texts").get(key));
  return text === undefined ? undefined : { ...draft, text };
}
