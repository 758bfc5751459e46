// Plugins added to the page: the same .wasm files that a host runs. A plugin may compute and write;
// further permissions of its manifest require consent.

import type { Engine, PluginFiles, PluginPermissions, PluginProxy, PluginSource } from "@easel/engine";
import type { Permissions } from "./admin.ts";
import { granted, partsAsked, type Part } from "./grants.ts";
import { pluginProxy, type AskHost } from "./plugin-proxy.ts";
import { Store } from "./store.ts";

/** PluginEntry is a plugin in the list. */
export interface PluginEntry {
  name: string;
  version: string;
  description: string;
  /** Where it runs while a canvas is tried out; anything but local means not in this page. */
  preview: "local" | "server" | "none";
  /** The permissions that its manifest requests. */
  asks: Ask[];
  /** The allowed parts of them. */
  allowed: Part[];
}

/** Ask is a requested permission with the reason that the plugin's author states. */
export interface Ask {
  part: Part;
  /** The bounds as the manifest has them. */
  text: string;
  /** The bounds in short, for people. */
  bounds: string;
  reason: string;
}

/** PluginFault is the reason why a plugin cannot be used. */
export interface PluginFault {
  /** Name of the file or the plugin; empty if the error has it. */
  name: string;
  error: unknown;
}

/** A plugin that was added. */
interface Added {
  bytes: Uint8Array<ArrayBuffer>;
  permissions: Permissions;
  /** Sends its requests, if it came from the host. */
  proxy: PluginProxy | undefined;
}

/** Plugins keeps them for the life of the page. */
export class Plugins {
  readonly list = new Store<PluginEntry[]>([]);
  /** The error of the last file. */
  readonly fault = new Store<PluginFault | undefined>(undefined);
  /** Names of plugins of the host whose permissions are shown for consent. */
  readonly asking = new Store<readonly string[]>([]);
  readonly #engine: Promise<Engine>;
  readonly #files: PluginFiles;
  readonly #changed: () => void;
  readonly #added = new Map<string, Added>();

  /** `changed` is called when canvases may use other plugins than before. */
  constructor(engine: Promise<Engine>, files: PluginFiles, changed: () => void) {
    this.#engine = engine;
    this.#files = files;
    this.#changed = changed;
  }

  /**
   * fetch adds plugins of the host, as NAME or NAME@VERSION. Their requests go through the host,
   * which has their secrets. The added ones are in `asking`. It never throws.
   */
  async fetch(references: readonly string[], ask: AskHost): Promise<void> {
    const before = new Map(this.list.get().map((entry) => [entry.name, entry]));
    for (const reference of references) {
      try {
        const answer = await ask("GET", `/api/v2/plugins/${encodeURIComponent(reference)}/file`);
        await this.add(new File([await answer.arrayBuffer()], reference), pluginProxy(ask));
      } catch (err) {
        this.fault.set({ name: reference, error: err });
      }
      if (this.fault.get()) break;
    }
    const added = this.list.get().filter((entry) => before.get(entry.name) !== entry).map(({ name }) => name);
    this.asking.set([...this.asking.get(), ...added]);
  }

  /** add adds a file. It never throws; fault holds the error. */
  async add(file: File, proxy?: PluginProxy): Promise<void> {
    this.fault.set(undefined);
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const manifest = await (await this.#engine).pluginManifest(bytes);
      const { name, version: own, description, preview, permissions = {} } = manifest;
      const asks = asksOf(permissions as Permissions);
      const before = this.list.get().find((each) => each.name === name);
      // Another build keeps the allowed parts that it requests with the same bounds.
      const same = asks.filter(({ part, text }) => before?.asks.some((ask) => ask.part === part && ask.text === text));
      const allowed = same.map(({ part }) => part).filter((part) => before?.allowed.includes(part));
      const added = { bytes, permissions: permissions as Permissions, proxy };
      await this.#use(added, allowed);
      this.#added.set(name, added);
      this.#put({ name, version: own, description, preview: preview || "local", asks, allowed });
    } catch (err) {
      this.fault.set({ name: file.name, error: err });
    }
  }

  /** allow grants a plugin these parts of its manifest's permissions, and no others. */
  async allow(name: string, allowed: Part[]): Promise<void> {
    const added = this.#added.get(name);
    const entry = this.list.get().find((each) => each.name === name);
    if (!added || !entry) return;
    try {
      await this.#use(added, allowed);
      this.#put({ ...entry, allowed });
    } catch (err) {
      this.fault.set({ name, error: err });
    }
  }

  async #use({ bytes, permissions, proxy }: Added, allowed: Part[]): Promise<void> {
    const grant = granted(permissions, allowed) as PluginPermissions;
    const source: PluginSource = { source: bytes };
    if (allowed.length > 0) Object.assign(source, { grant, files: this.#files }, proxy && { proxy });
    await (await this.#engine).use([source]);
  }

  #put(entry: PluginEntry): void {
    this.list.set([...this.list.get().filter((each) => each.name !== entry.name), entry]);
    this.#changed();
  }
}

/** absent lists the plugins of a canvas that are not in the list, as NAME or NAME@VERSION. */
export function absent(list: readonly Pick<PluginEntry, "name" | "version">[], used: readonly string[]): string[] {
  const references = used.map((reference) => {
    const [name = "", version = ""] = reference.split("@");
    return { file: fileOf(name), version };
  });
  const missing = references.filter(({ file, version }) => !list.some((entry) =>
    entry.name === file && (version === "" || `${entry.version}.`.startsWith(`${version}.`))));
  return [...new Set(missing.map(({ file, version }) => (version === "" ? file : `${file}@${version}`)))];
}

/** fileOf returns the file name of a reference: NAME or NAME.COMPONENT, both also with @VERSION. */
export function fileOf(reference: string): string {
  return reference.split(/[.@]/, 1)[0]!;
}

/** localHosts lists the hosts of the local network that those plugins of a canvas may reach. */
export function localHosts(list: readonly PluginEntry[], used: readonly string[]): string[] {
  const names = new Set(used.map(fileOf));
  return list.filter(({ name, allowed }) => names.has(name) && allowed.includes("http")).flatMap(({ asks }) => {
    const http = asks.find(({ part }) => part === "http");
    const { hosts, private: local } = JSON.parse(http?.text ?? "{}") as { hosts?: string[]; private?: boolean };
    return local === true ? hosts ?? [] : [];
  });
}

// asksOf lists permissions with their bounds as in the manifest.
function asksOf(permissions: Permissions): Ask[] {
  return partsAsked(permissions).map((part) => {
    const asked = Object.values(granted(permissions, [part]))[0] as object;
    const text = JSON.stringify(asked, (key, value: unknown) => (isReason(key, value) ? undefined : value));
    const reasons = part === "secrets" ? Object.values(asked) : [wholeOf(permissions, part)];
    return { part, text, bounds: inShort(JSON.parse(text)), reason: reasons.flatMap(reasonOf).join(" ") };
  });
}

// inShort returns names and amounts without the punctuation of JSON.
function inShort(bounds: unknown): string {
  if (Array.isArray(bounds)) return bounds.map(inShort).join(", ");
  if (typeof bounds !== "object" || bounds === null) return String(bounds);
  const members = Object.entries(bounds).map(([key, value]) => {
    if (value === true) return key;
    return key === "hosts" || key === "models" ? inShort(value) : `${key} ${inShort(value)}`.trim();
  });
  return members.join(" · ");
}

// wholeOf returns the permission to which a part belongs.
function wholeOf(permissions: Permissions, part: Part): unknown {
  return part === "files_read" || part === "files_store" ? permissions.files : permissions[part];
}

const isReason = (key: string, value: unknown): boolean => key === "reason" && typeof value === "string";

function reasonOf(asked: unknown): string[] {
  const { reason } = (asked ?? {}) as { reason?: unknown };
  return typeof reason === "string" && reason !== "" ? [reason] : [];
}
