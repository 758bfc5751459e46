// The plugins of one engine: loads them, registers them with the engine module, and
// runs them on its request.

import type { Code } from "../generated.ts";
import { EngineError } from "../errors.ts";
import { fromBase64, toBase64 } from "../fetch.ts";
import type { CallContext, Request } from "../protocol.ts";
import type { RunSide } from "./desk.ts";
import { isText } from "./body.ts";
import { PluginError, type Failure } from "./error.ts";
import { fileComponents, type Manifest } from "./manifest.ts";
import { Plugin, type Examine, type Examined, type LoadOptions } from "./plugin.ts";
import type { Spawn } from "./runner.ts";
import { ToolModule, type Ask } from "./tool.ts";

/** PluginBytes is the source of a plugin file. */
export type PluginBytes = Uint8Array | ArrayBuffer | Response | URL | string;

/** PluginSource is a plugin to load. Without a grant it may compute and emit, and nothing else. */
export type PluginSource = PluginBytes | ({ source: PluginBytes } & LoadOptions);

/** ShelfOptions are the plugin options of an engine. */
export interface ShelfOptions {
  spawn: Spawn;
  /** read returns the bytes behind an address. */
  read(source: PluginBytes): Promise<Uint8Array<ArrayBuffer>>;
  /** This is a server, which also runs plugins that do not run in a page. */
  server?: boolean;
  /** Locale passed to plugins, such as en. */
  locale?: string;
  /** Defaults for all of them, such as the platform's way to send requests. */
  services?(options: LoadOptions): LoadOptions;
}

/** Question is a call of a plugin by the engine module. */
interface Question {
  plugin: string;
  version: string;
  export: string;
  input?: string;
  input_base64?: string;
  timeout_ms?: number;
  secret_mark?: string;
}

// bytesOf returns the input of a call; bytes that are not text are in base64.
function bytesOf(question: Question): Uint8Array | string {
  return question.input_base64 === undefined ? question.input ?? "" : fromBase64(question.input_base64);
}

// written returns the output of a plugin in the form for the engine module.
function written(output: Uint8Array | undefined): { output: string } | { output_base64: string } {
  const bytes = output ?? new Uint8Array();
  if (!isText(bytes)) return { output_base64: toBase64(bytes) };
  return { output: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
}

type Reply = (ok: boolean, more: boolean, payload: unknown) => void;

export class Shelf {
  readonly #options: ShelfOptions;
  readonly #plugins = new Map<string, Plugin>();
  readonly #sources = new Map<PluginSource, Promise<Plugin>>();
  readonly #tools: Plugin[] = [];

  constructor(options: ShelfOptions) {
    this.#options = options;
  }

  /** add loads and registers plugins; one that exists already is skipped. */
  async add(sources: readonly PluginSource[], ask: Ask): Promise<void> {
    await Promise.all(sources.map((source) => {
      let loading = this.#sources.get(source);
      if (!loading) {
        loading = this.#load(source, ask);
        this.#sources.set(source, loading);
        loading.catch(() => this.#sources.delete(source));
      }
      return loading;
    }));
  }

  /** introduce registers every plugin with a new engine module. */
  async introduce(ask: Ask): Promise<void> {
    for (const plugin of this.#plugins.values()) await this.#tell(plugin, ask);
  }

  /** serve makes the plugins available to one run. */
  serve(): Session {
    return new Session((name) => this.#plugins.get(name));
  }

  /**
   * tool loads a plugin that implements a component: no canvas can name it. It is closed with the
   * others.
   */
  async tool(source: PluginBytes, ask: Ask): Promise<ToolModule> {
    return this.#failing(source, async () => {
      const bytes = await this.#options.read(source);
      const plugin = await Plugin.load(bytes, examineWith(ask), this.#options.spawn, { grant: "asked" });
      this.#tools.push(plugin);
      return new ToolModule(plugin, ask);
    });
  }

  /** manifest reads the manifest of a plugin, without loading it. */
  async manifest(source: PluginBytes, ask: Ask, version: string): Promise<Manifest> {
    return this.#failing(source, async () => manifestIn(await this.#options.read(source), ask, version));
  }

  close(): void {
    for (const plugin of [...this.#plugins.values(), ...this.#tools.splice(0)]) plugin.close();
    this.#plugins.clear();
    this.#sources.clear();
  }

  async #load(source: PluginSource, ask: Ask): Promise<Plugin> {
    const { source: from, ...options } = isOptions(source) ? source : { source };
    return this.#failing(from, async () => {
      const bytes = await this.#options.read(from);
      const all = this.#options.services?.(options) ?? options;
      const plugin = await Plugin.load(bytes, examineWith(ask), this.#options.spawn, all);
      await this.#tell(plugin, ask);
      this.#plugins.get(plugin.manifest.name)?.close();
      this.#plugins.set(plugin.manifest.name, plugin);
      return plugin;
    });
  }

  // failing names the source of a plugin in errors.
  async #failing<T>(from: PluginBytes, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (err) {
      const where = typeof from === "string" ? `plugin ${from.slice(0, 100)}: ` : "plugin: ";
      throw err instanceof PluginError
        ? new EngineError(err.code as Code, where + err.message, { cause: err })
        : EngineError.from(err, "plugin", where);
    }
  }

  async #tell(plugin: Plugin, ask: Ask): Promise<void> {
    await ask(
      {
        op: "plugin",
        timeout_ms: plugin.limits.timeout_ms,
        checks: plugin.has("easel_check"),
        locale: this.#options.locale,
        server: this.#options.server,
        settings: plugin.settings,
      },
      plugin.text,
    );
  }
}

/** Session runs plugins for one run of a canvas and drops their state with it. */
export class Session {
  readonly #find: (name: string) => Plugin | undefined;
  readonly #used = new Set<Plugin>();
  readonly #talks = new Map<number, Talk>();
  readonly #run = crypto.randomUUID();

  constructor(find: (name: string) => Plugin | undefined) {
    this.#find = find;
  }

  /**
   * answer runs a plugin for the call with this number. Its requests are pieces of the response;
   * see take.
   */
  async answer(id: number, payload: Record<string, unknown>, context: CallContext, reply: Reply): Promise<void> {
    const question = payload as unknown as Question;
    const plugin = this.#find(question.plugin);
    if (plugin?.manifest.version !== question.version)
      throw new EngineError("closed", `plugin ${question.plugin} was replaced; run the canvas again`, { retry: true });
    this.#used.add(plugin);
    const talk = new Talk(reply);
    this.#talks.set(id, talk);
    try {
      const outcome = await plugin.call({
        export: question.export,
        input: bytesOf(question),
        timeout: question.timeout_ms,
        run: this.#run,
        signal: context.signal,
        ...(question.export !== "easel_check" && { side: talk.ask }),
        ...(question.secret_mark && { secretMark: question.secret_mark }),
      });
      if (outcome.error) {
        const { retryable, ...error } = outcome.error;
        return reply(false, false, { ...error, retry: retryable });
      }
      const { fuel, logs, files } = outcome;
      reply(true, false, { ...written(outcome.output), fuel, logs, ...(files && { files }) });
    } finally {
      talk.end();
      this.#talks.delete(id);
    }
  }

  /** take passes the engine's reply on to the plugin. */
  take(id: number, reply: { ask?: unknown; answer?: unknown; canceled?: unknown }): void {
    this.#talks.get(id)?.take(reply);
  }

  end(): void {
    for (const plugin of this.#used) plugin.endRun(this.#run);
  }
}

/** Talk sends the requests of one call to the engine module. */
class Talk {
  readonly #reply: Reply;
  readonly #open = new Map<number, (answer: { ok: unknown } | { error: Failure } | null) => void>();
  #last = 0;

  constructor(reply: Reply) {
    this.#reply = reply;
  }

  readonly ask: RunSide = (op, args) => new Promise((resolve) => {
    const n = ++this.#last;
    this.#open.set(n, resolve);
    this.#reply(true, true, { ask: n, op, args });
  });

  take(reply: { ask?: unknown; answer?: unknown; canceled?: unknown }): void {
    const resolve = this.#open.get(Number(reply.ask));
    this.#open.delete(Number(reply.ask));
    resolve?.(reply.canceled ? null : (reply.answer as { ok: unknown }));
  }

  end(): void {
    for (const resolve of this.#open.values()) resolve(null);
    this.#open.clear();
  }
}

const refusals = ["malformed", "bad_manifest", "abi_mismatch", "forged", "unsupported", "over_limit"];

/**
 * examineWith lets the engine module read plugin files, so that a page accepts and meters like a
 * server does.
 */
export function examineWith(ask: Ask): Examine {
  return async (wasm, { grant, limits, version }) => {
    const request: Request = { op: "examine", meter: true, grant, limits, version };
    const [about = "", text = "", metered = ""] = await examined(request, wasm, ask);
    const module = JSON.parse(about) as Omit<Examined, "manifest" | "text" | "wasm">;
    return { ...module, manifest: checked(text), text, wasm: fromBase64(metered) };
  };
}

/** manifestIn reads the manifest of a plugin file. */
export async function manifestIn(wasm: Uint8Array<ArrayBuffer>, ask: Ask, version?: string): Promise<Manifest> {
  const [, text = ""] = await examined({ op: "examine", version }, wasm, ask);
  return checked(text);
}

// checked reads a manifest whose components the engine module does not check.
function checked(text: string): Manifest {
  const manifest = JSON.parse(text) as Manifest;
  fileComponents(manifest);
  return manifest;
}

async function examined(request: Request, wasm: Uint8Array<ArrayBuffer>, ask: Ask): Promise<string[]> {
  try {
    return (await ask(request, toBase64(wasm))).split("\n");
  } catch (err) {
    if (err instanceof EngineError && refusals.includes(err.code)) throw new PluginError(err.code, err.message);
    throw err;
  }
}

function isOptions(source: PluginSource): source is { source: PluginBytes } & LoadOptions {
  return typeof source === "object" && "source" in source;
}
