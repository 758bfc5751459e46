// The storage of test cases in this browser, by canvas. It is a database of its own, which is
// opened when it is first needed.

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
   * move gives the cases of one canvas to another; undefined deletes them. Those of a canvas of the
   * host stay: the other one is a copy.
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

  // change writes cases of a canvas and tells the other tabs.
  async #change(canvas: string, write: (cases: IDBObjectStore) => void): Promise<void> {
    const transaction = (await this.#database).transaction("cases", "readwrite");
    write(transaction.objectStore("cases"));
    await committed(transaction);
    this.#channel?.postMessage(canvas);
  }
}
