// The canvases from links and files that the person has allowed to run. A canvas is identified by
// its content: another link with the same canvas needs no second question, and a changed one needs
// a new answer. The answers last as long as the tab.

const remembered = "easel.allowed";

/** Consents remembers answers for the tab. */
export class Consents {
  readonly #given: Set<string>;
  readonly #storage: Pick<Storage, "setItem"> | undefined;

  /** `storage` is the tab's; without it answers last as long as the page. */
  constructor(storage?: Pick<Storage, "getItem" | "setItem">) {
    this.#storage = storage;
    this.#given = new Set(read(storage));
  }

  /** has reports whether the canvas with this text may run. */
  async has(text: string): Promise<boolean> {
    return this.#given.has(await keyOf(text));
  }

  /** add remembers that it may. */
  async add(text: string): Promise<void> {
    const key = await keyOf(text);
    this.#given.add(key);
    if (key === text) return; // too long for the storage
    try {
      this.#storage?.setItem(remembered, JSON.stringify([...this.#given].filter(isDigest)));
    } catch { /* the answer lasts as long as the page */ }
  }
}

/** tabStorage returns the storage of this tab, if the browser allows one. */
export function tabStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

function read(storage: Pick<Storage, "getItem"> | undefined): string[] {
  try {
    const given: unknown = JSON.parse(storage?.getItem(remembered) ?? "[]");
    return Array.isArray(given) ? given.filter(isDigest) : [];
  } catch {
    return [];
  }
}

const isDigest = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

// keyOf returns the SHA-256 of a text, or the text itself where the browser has no digests: on
// pages without HTTPS.
async function keyOf(text: string): Promise<string> {
  const { subtle } = crypto as { subtle?: SubtleCrypto };
  if (!subtle) return text;
  const digest = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
