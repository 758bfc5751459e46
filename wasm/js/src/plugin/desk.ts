// Handles the requests of a plugin to its host in one call, after checking them against the
// grant. A denied or unknown request gets an error and does not end the call.

import { unmarked } from "../fetch.ts";
import { failureOf, PluginError, type Failure } from "./error.ts";
import { FileDesk, type Files } from "./file.ts";
import { readRequest, Web, type Carrier } from "./http.ts";
import { encode } from "./kernel/guest.ts";
import type { ReadSection } from "./manifest.ts";
import type { Permissions } from "./permission.ts";

/** Emission is one piece that a plugin emits before it has finished. */
export interface Emission {
  /** 1 a piece of the answer, 2 of the reasoning, 3 progress, 4 a piece of output `key`. */
  kind: number;
  text?: string;
  key?: string;
  pct?: number;
  note?: string;
}

/**
 * RunSide is the run of a plugin: it receives emissions and handles llm.chat and var.*. Null:
 * cancelled.
 */
export type RunSide = (op: string, args: unknown) => Promise<{ ok: unknown } | { error: Failure } | null>;

/** Storage stores keys and values of one plugin. */
export interface Storage {
  get(key: string): string | undefined | Promise<string | undefined>;
  set(key: string, value: string): unknown;
  delete(key: string): unknown;
  keys(): Iterable<string> | Promise<Iterable<string>>;
}

/** Services are the services of the host besides the run. */
export interface Services extends Carrier {
  kv?: Storage;
  embed?(texts: string[]): number[][] | Promise<number[][]>;
  files?: Files;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const maxKey = 256; // bytes

/** Desk handles the requests of one call. */
export class Desk {
  readonly #granted: Permissions;
  readonly #services: Services;
  readonly #run: RunSide;
  readonly #web: Web;
  readonly #files: FileDesk;
  readonly #signal: AbortSignal;
  /** section reads the plugin's own file. */
  section: ReadSection = () => undefined;
  readonly #mark: string; // of the placeholders of secrets that count
  readonly #used: Record<"llm" | "embed", number> = { llm: 0, embed: 0 };

  constructor(plugin: { name: string; version: string }, granted: Permissions, services: Services, run: RunSide,
    signal: AbortSignal, mark = "") {
    this.#mark = mark;
    this.#granted = granted;
    this.#services = services;
    this.#run = run;
    this.#signal = signal;
    this.#web = new Web(plugin, granted, services, signal, mark);
    this.#files = new FileDesk(granted.files, services.files, (bytes) => this.#web.stream(bytes));
  }

  /** stored are the descriptions of the files that the plugin stored. */
  get stored(): Record<string, unknown>[] {
    return this.#files.stored;
  }

  /**
   * emit passes a piece on and returns false when the receiver has ended. Unknown kinds and invalid
   * JSON are dropped.
   */
  async emit(kind: number, data: Uint8Array): Promise<boolean> {
    const piece = this.#mark
      ? readEmission(kind, encoder.encode(unmarked(decoder.decode(data), this.#mark)))
      : readEmission(kind, data);
    return !piece || (await this.#run("emit", piece)) !== null;
  }

  /** answer returns the response to a request of call; null: cancelled. */
  async answer(request: Uint8Array): Promise<Uint8Array | null> {
    try {
      let { op, args } = readCall(request);
      // Models, keys and variables must not receive the mark.
      if (this.#mark && op !== "http.fetch")
        args = JSON.parse(unmarked(JSON.stringify(args), this.#mark)) as Record<string, unknown>;
      const answer = await this.#ask(op, args);
      return answer && encode(answer);
    } catch (err) {
      return encode({ error: failureOf(err, "upstream") });
    }
  }

  /**
   * http sends a request and responds in Extism's form: status, length of the headers, headers,
   * body.
   */
  async http(request: Uint8Array): Promise<Uint8Array> {
    const length = new DataView(request.buffer, request.byteOffset).getUint32(0, true);
    let head: Uint8Array = new Uint8Array(0);
    let body: Uint8Array;
    let status = 0;
    try {
      const args = parse(request.subarray(4, 4 + length), "http_request: ") as Record<string, unknown>;
      const wanted = readRequest({
        url: args["url"],
        method: String(args["method"] ?? "").toUpperCase(),
        headers: args["headers"] ?? undefined,
      });
      const got = await this.#web.fetch({ ...wanted, body: request.subarray(4 + length) });
      status = got.status;
      head = encoder.encode(JSON.stringify(got.headers));
      body = got.bytes ?? new Uint8Array(0);
    } catch (err) {
      body = encode({ error: failureOf(err, "upstream") });
    }
    const out = new Uint8Array(8 + head.length + body.length);
    const view = new DataView(out.buffer);
    view.setUint32(0, status, true);
    view.setUint32(4, head.length, true);
    out.set(head, 8);
    out.set(body, 8 + head.length);
    return out;
  }

  async #ask(op: string, args: Record<string, unknown>): Promise<{ ok: unknown } | { error: Failure } | null> {
    const [area] = op.split(".");
    switch (op) {
      case "http.fetch": case "http.read": case "http.close": return { ok: await this.#web.op(op, args) };
      case "llm.chat":
        if (!Array.isArray(args["messages"]) || args["messages"].length === 0)
          throw new PluginError("invalid_argument", "llm.chat: messages are missing");
        this.#count("llm", "llm.chat");
        return this.#run(op, args);
      case "embed": {
        this.#count("embed", "embed");
        if (!this.#services.embed) throw new PluginError("unsupported", "this host offers no embeddings");
        return { ok: { vectors: await this.#services.embed((args["texts"] ?? []) as string[]) } };
      }
      case "file.read": return { ok: await this.#files.read(args) };
      case "file.put": return { ok: await this.#files.put(args) };
      case "var.get": case "var.set": return this.#run(op, this.#variable(op, args));
      case "self.section": {
        const name = args["name"];
        if (typeof name !== "string") throw new PluginError("invalid_argument", "self.section: name is missing");
        const text = this.section(name);
        return { ok: { found: text !== undefined, text: text ?? "" } };
      }
      case "sleep": return { ok: await this.#sleep(Number(args["ms"] ?? 0)) };
    }
    if (area === "kv" && ["kv.get", "kv.set", "kv.delete", "kv.list"].includes(op))
      return { ok: await this.#keep(op, args) };
    throw new PluginError("unsupported", `no operation ${JSON.stringify(op)} on this host`);
  }

  #count(kind: "llm" | "embed", name: string): void {
    const granted = this.#granted[kind];
    if (!granted) throw new PluginError("denied", `${name} is not granted`);
    if (++this.#used[kind] > granted.max_calls)
      throw new PluginError("denied", `${name} is granted ${granted.max_calls} times in a call`);
  }

  #variable(op: string, args: Record<string, unknown>): Record<string, unknown> {
    const [verb, list] =
      op === "var.get" ? ["reading", this.#granted.variables?.read] : ["writing", this.#granted.variables?.write];
    const name = String(args["name"] ?? "");
    if (op === "var.set" && !("value" in args)) throw new PluginError("invalid_argument", "var.set: value is missing");
    if (!list?.includes(name) && !list?.includes("*"))
      throw new PluginError("denied", `${verb} variable ${JSON.stringify(name)} is not granted`);
    return args;
  }

  async #keep(op: string, args: Record<string, unknown>): Promise<unknown> {
    const { kv } = this.#services;
    const granted = this.#granted.kv;
    const key = String((op === "kv.list" ? args["prefix"] : args["key"]) ?? "");
    const size = encoder.encode(key).length;
    if (op === "kv.set" && typeof args["value"] !== "string")
      throw new PluginError("invalid_argument", "kv.set: value is missing");
    if (!granted) throw new PluginError("denied", "kv is not granted");
    if (!kv) throw new PluginError("unsupported", "this host keeps nothing for plugins");
    if (op !== "kv.list" && (size === 0 || size > maxKey))
      throw new PluginError("invalid_argument", `key of ${size} bytes, want 1 to ${maxKey}`);
    switch (op) {
      case "kv.get": {
        const value = await kv.get(key);
        return { found: value !== undefined, value: value ?? "" };
      }
      case "kv.set": {
        const value = args["value"] as string;
        let all = 0;
        for (const name of await kv.keys()) if (name !== key) all += bytes(name) + bytes((await kv.get(name)) ?? "");
        if (all + size + bytes(value) > granted.bytes)
          throw new PluginError("denied", `kv: more than the ${granted.bytes} bytes granted`);
        await kv.set(key, value);
        return {};
      }
      case "kv.delete": await kv.delete(key); return {};
      default: return { keys: [...(await kv.keys())].filter((name) => name.startsWith(key)).sort() };
    }
  }

  #sleep(ms: number): Promise<object> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve({}), Math.min(Math.max(ms || 0, 0), 2 ** 31 - 1));
      this.#signal.addEventListener("abort", () => { clearTimeout(timer); resolve({}); }, { once: true });
    });
  }
}

function readCall(request: Uint8Array): { op: string; args: Record<string, unknown> } {
  const call = parse(request, "request is not readable: ") as { op?: unknown; args?: unknown } | null;
  if (typeof call !== "object" || call === null || typeof (call.op ?? "") !== "string")
    throw new PluginError("invalid_argument", "request is not readable: no operation");
  const args = call.args ?? {};
  if (typeof args !== "object" || Array.isArray(args))
    throw new PluginError("invalid_argument", "arguments are not readable: no object");
  return { op: (call.op ?? "") as string, args: args as Record<string, unknown> };
}

function parse(raw: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(decoder.decode(raw));
  } catch (err) {
    throw new PluginError("invalid_argument", what + (err as Error).message);
  }
}

function bytes(text: string): number {
  return encoder.encode(text).length;
}

/** readEmission decodes a piece; unknown ones are undefined. */
export function readEmission(kind: number, data: Uint8Array): Emission | undefined {
  const text = decoder.decode(data);
  if (kind === 1 || kind === 2) return { kind, text };
  let piece: { pct?: unknown; note?: unknown; key?: unknown; delta?: unknown } | null;
  try {
    piece = JSON.parse(text) as typeof piece;
  } catch {
    return undefined;
  }
  if (typeof piece !== "object" || piece === null) return undefined;
  if (kind === 3 && typeof (piece.pct ?? 0) === "number" && typeof (piece.note ?? "") === "string") {
    return { kind, pct: Math.min(Math.max(Number(piece.pct ?? 0), 0), 100), note: String(piece.note ?? "") };
  }
  if (kind === 4 && piece.key && typeof piece.key === "string" && typeof (piece.delta ?? "") === "string")
    return { kind, key: piece.key, text: String(piece.delta ?? "") };
  return undefined;
}

/** memory returns a Storage that exists as long as the page. */
export function memory(): Storage {
  const values = new Map<string, string>();
  return {
    get: (key) => values.get(key),
    set: (key, value) => values.set(key, value),
    delete: (key) => values.delete(key),
    keys: () => values.keys(),
  };
}
