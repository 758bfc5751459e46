// The storage of test cases in this browser, by canvas: a separate database, which is opened at its
// first use.

import { committed, done, openDatabase } from "../database.ts";

/** KeptCase is a stored case. */
export interface KeptCase {
  id: string;
  /** Key of the canvas, that of its draft. */
  canvas: string;
  /** When it was added, milliseconds; cases are listed in this order. */
  added: number;
  /** The case file. */
  text: string;
}

const name = "easel.cases";

/** CaseStore reads and writes cases. */
export class CaseStore {
  readonly #database: Promise<IDBDatabase>;
  readonly #channel: BroadcastChannel | undefined;

  constructor(factory: IDBFactory | undefined) {
    this.#database = openDatabase(factory, name, (database) => {
      database.createObjectStore("cases", { keyPath: "id" }).createIndex("canvas", "canvas");
    });
    this.#database.catch(() => undefined); // each use reports it
    this.#channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(name);
  }

  /** watch calls back with the key of a canvas after another tab changed its cases. */
  watch(changed: (canvas: string) => void): void {
    if (this.#channel) this.#channel.onmessage = ({ data }: MessageEvent<string>) => changed(data);
  }

  /** list returns the cases of a canvas, the oldest first. */
  async list(canvas: string): Promise<KeptCase[]> {
    const found = await done<KeptCase[]>(
      (await this.#database).transaction("cases").objectStore("cases").index("canvas").getAll(canvas),
    );
    return found.sort((a, b) => a.added - b.added);
  }

  async put(kept: KeptCase): Promise<void> {
    await this.#change(kept.canvas, (cases) => cases.put(kept));
  }

  async drop({ id, canvas }: Pick<KeptCase, "id" | "canvas">): Promise<void> {
    await this.#change(canvas, (cases) => cases.delete(id));
  }

  /**
   * move moves the cases of one canvas to another; undefined deletes them. Cases of a canvas of the
   * host are copied: the other canvas is a copy.
   */
  async move(from: string, to: string | undefined): Promise<void> {
    const all = await this.list(from);
    if (all.length === 0) return;
    await this.#change(to ?? from, (cases) => {
      for (const kept of all) {
        if (to === undefined) cases.delete(kept.id);
        else cases.put({ ...kept, canvas: to, id: from.startsWith("host:") ? crypto.randomUUID() : kept.id });
      }
    });
  }

  /** close ends the connection to other tabs. */
  close(): void {
    this.#channel?.close();
    void this.#database.then((database) => database.close(), () => undefined);
  }

  // change writes cases of a canvas and notifies the other tabs.
  async #change(canvas: string, write: (cases: IDBObjectStore) => void): Promise<void> {
    const transaction = (await this.#database).transaction("cases", "readwrite");
    write(transaction.objectStore("cases"));
    await committed(transaction);
    this.#channel?.postMessage(canvas);
  }
}
