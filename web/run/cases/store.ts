// The storage of test cases in this browser, by canvas. It is a database of its own, which is
// opened when it is first needed.

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
    this.#database = factory ? opened(factory) : Promise.reject(new Error("no IndexedDB"));
    this.#database.catch(() => undefined); // each use reports it
    this.#channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(name);
  }

  /** watch calls back with the key of a canvas after another tab changed its cases. */
  watch(changed: (canvas: string) => void): void {
    if (this.#channel) this.#channel.onmessage = ({ data }: MessageEvent<string>) => changed(data);
  }

  /** list returns the cases of a canvas, the oldest first. */
  async list(canvas: string): Promise<KeptCase[]> {
    const found = await done<KeptCase[]>((await this.#cases("readonly")).index("canvas").getAll(canvas));
    return found.sort((a, b) => a.added - b.added);
  }

  async put(kept: KeptCase): Promise<void> {
    await done((await this.#cases("readwrite")).put(kept));
    this.#tell(kept.canvas);
  }

  async drop({ id, canvas }: Pick<KeptCase, "id" | "canvas">): Promise<void> {
    await done((await this.#cases("readwrite")).delete(id));
    this.#tell(canvas);
  }

  /**
   * move gives the cases of one canvas to another; undefined deletes them. Those of a canvas of the
   * host stay: the other one is a copy.
   */
  async move(from: string, to: string | undefined): Promise<void> {
    const all = await this.list(from);
    if (all.length === 0) return;
    const cases = await this.#cases("readwrite");
    const last = all.map((kept) => {
      if (to === undefined) return cases.delete(kept.id);
      return cases.put({ ...kept, canvas: to, id: from.startsWith("host:") ? crypto.randomUUID() : kept.id });
    }).at(-1);
    if (last) await done(last as IDBRequest<unknown>);
    this.#tell(to ?? from);
  }

  /** close ends the connection to other tabs. */
  close(): void {
    this.#channel?.close();
    void this.#database.then((database) => database.close(), () => undefined);
  }

  async #cases(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    return (await this.#database).transaction("cases", mode).objectStore("cases");
  }

  #tell(canvas: string): void {
    this.#channel?.postMessage(canvas);
  }
}

function opened(factory: IDBFactory): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = factory.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("cases", { keyPath: "id" }).createIndex("canvas", "canvas");
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
