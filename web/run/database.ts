// The browser's database, with promises.

/** openDatabase opens a database; `create` makes its stores the first time. */
export function openDatabase(
  factory: IDBFactory | undefined, name: string, create: (database: IDBDatabase) => void,
): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    if (!factory) return reject(new Error("no IndexedDB"));
    const request = factory.open(name, 1);
    request.onupgradeneeded = () => create(request.result);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB"));
    request.onblocked = () => reject(new Error("IndexedDB is blocked"));
  });
}

/** done waits for the result of a request. */
export function done<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB"));
  });
}

/** committed waits until the writes of a transaction are durable. */
export function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("IndexedDB"));
    transaction.commit();
  });
}
