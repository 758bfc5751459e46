// Plugins added to the page: the same .wasm files that a host runs. A plugin may compute and write;
// further permissions of its manifest require consent.

import type { Engine, PluginFiles, PluginSource } from "@easel/engine";
import { messageOf } from "@easel/engine";
import { Store } from "./store.ts";

/** PluginEntry is a plugin in the list. */
export interface PluginEntry {
  name: string;
  version: string;
  description: string;
  /** Where it runs while a canvas is tried out; anything but local means not in this page. */
  preview: "local" | "server" | "none";
  /** What its manifest asks for, one line each. */
  asks: string[];
  /** All of that is allowed. */
  allowed: boolean;
}

/** Plugins keeps them for the life of the page. */
export class Plugins {
  readonly list = new Store<PluginEntry[]>([]);
  /** The error of the last file. */
  readonly fault = new Store<string | undefined>(undefined);
  readonly #engine: Promise<Engine>;
  readonly #files: PluginFiles;
  readonly #changed: () => void;
  readonly #bytes = new Map<string, Uint8Array<ArrayBuffer>>();

  /** `changed` is called when canvases may use other plugins than before. */
  constructor(engine: Promise<Engine>, files: PluginFiles, changed: () => void) {
    this.#engine = engine;
    this.#files = files;
    this.#changed = changed;
  }

  /** add adds a file. It never throws; fault holds the error. */
  async add(file: File): Promise<void> {
    this.fault.set(undefined);
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const manifest = await (await this.#engine).pluginManifest(bytes);
      const { name, version: own, description, preview, permissions = {} } = manifest;
      const asks = asksOf(permissions);
      const before = this.list.get().find((each) => each.name === name);
      // another build that asks for the same
      const allowed = before?.allowed === true && String(before.asks) === String(asks);
      await this.#use(bytes, allowed);
      this.#bytes.set(name, bytes);
      this.#put({ name, version: own, description, preview: preview || "local", asks, allowed });
    } catch (err) {
      this.fault.set(`${file.name}: ${messageOf(err)}`);
    }
  }

  /** allow grants a plugin the permissions of its manifest, or revokes them. */
  async allow(name: string, allowed: boolean): Promise<void> {
    const bytes = this.#bytes.get(name);
    const entry = this.list.get().find((each) => each.name === name);
    if (!bytes || !entry) return;
    try {
      await this.#use(bytes, allowed);
      this.#put({ ...entry, allowed });
    } catch (err) {
      this.fault.set(messageOf(err));
    }
  }

  async #use(bytes: Uint8Array<ArrayBuffer>, allowed: boolean): Promise<void> {
    const source: PluginSource = allowed ? { source: bytes, grant: "asked", files: this.#files } : { source: bytes };
    await (await this.#engine).use([source]);
  }

  #put(entry: PluginEntry): void {
    this.list.set([...this.list.get().filter((each) => each.name !== entry.name), entry]);
    this.#changed();
  }
}

// asksOf lists permissions in the words of a manifest; the reason is the author's.
function asksOf(permissions: object): string[] {
  return Object.entries(permissions).map(([kind, asked]: [string, unknown]) => {
    const { reason, ...rest } = (typeof asked === "object" && asked !== null ? asked : {}) as Record<string, unknown>;
    return `${kind}: ${JSON.stringify(rest)}${typeof reason === "string" ? ` (${reason})` : ""}`;
  });
}
