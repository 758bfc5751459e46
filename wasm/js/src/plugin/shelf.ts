// The plugins of one engine: loads them, tells the engine module what they are, and
// runs them when it asks.

import type { Code } from "../generated.ts";
import { EngineError } from "../errors.ts";
import { fromBase64, toBase64 } from "../fetch.ts";
import type { CallContext, Request } from "../protocol.ts";
import type { RunSide } from "./desk.ts";
import { PluginError, type Failure } from "./error.ts";
import { plain } from "./manifest.ts";
import { Plugin, type LoadOptions, type Meter, type Metered } from "./plugin.ts";
import type { Spawn } from "./runner.ts";

/** PluginBytes is where a plugin file comes from. */
export type PluginBytes = Uint8Array | ArrayBuffer | Response | URL | string;

/** PluginSource is a plugin to load. Without a grant it may compute and emit, and nothing else. */
export type PluginSource = PluginBytes | ({ source: PluginBytes } & LoadOptions);

/** Ask sends one request to the engine module. */
export type Ask = (request: Request, body?: string) => Promise<string>;

/** ShelfOptions are those of an engine. */
export interface ShelfOptions {
  spawn: Spawn;
  /** read gives the bytes behind an address. */
  read(source: PluginBytes): Promise<Uint8Array<ArrayBuffer>>;
  /** This is a server, where plugins may run that do not run in a page. */
  server?: boolean;
  /** Locale told to plugins, such as en. */
  locale?: string;
  /** Defaults for all of them, such as the platform's way to send requests. */
  services?(options: LoadOptions): LoadOptions;
}

/** Question is a call of the engine module. */
interface Question {
  plugin: string;
  version: string;
  export: string;
  input: string;
  timeout_ms?: number;
  secret_mark?: string;
}

type Reply = (ok: boolean, more: boolean, payload: unknown) => void;

export class Shelf {
  readonly #options: ShelfOptions;
  readonly #plugins = new Map<string, Plugin>();
  readonly #sources = new Map<PluginSource, Promise<Plugin>>();

  constructor(options: ShelfOptions) {
    this.#options = options;
  }

  /** add loads plugins and makes them known; one that is there already is left alone. */
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

  /** introduce tells a fresh engine module about every plugin. */
  async introduce(ask: Ask): Promise<void> {
    for (const plugin of this.#plugins.values()) await this.#tell(plugin, ask);
  }

  /** serve opens the plugins to one run. */
  serve(): Session {
    return new Session((name) => this.#plugins.get(name));
  }

  close(): void {
    for (const plugin of this.#plugins.values()) plugin.close();
    this.#plugins.clear();
    this.#sources.clear();
  }

  async #load(source: PluginSource, ask: Ask): Promise<Plugin> {
    const { source: from, ...options } = isOptions(source) ? source : { source };
    try {
      const plugin = await Plugin.load(await this.#options.read(from), meterOf(ask), this.#options.spawn, this.#options.services?.(options) ?? options);
      await this.#tell(plugin, ask);
      this.#plugins.get(plugin.manifest.name)?.close();
      this.#plugins.set(plugin.manifest.name, plugin);
      return plugin;
    } catch (err) {
      const where = typeof from === "string" ? `plugin ${from.slice(0, 100)}: ` : "plugin: ";
      throw err instanceof PluginError ? new EngineError(err.code as Code, where + err.message, { cause: err }) : EngineError.from(err, "plugin", where);
    }
  }

  async #tell(plugin: Plugin, ask: Ask): Promise<void> {
    const { params, arguments: args, outputs, ...rest } = plugin.manifest;
    const manifest = { ...rest, params: plain(params), arguments: plain(args), outputs: plain(outputs) };
    await ask({
      op: "plugin", timeout_ms: plugin.limits.timeout_ms, checks: plugin.has("easel_check"), locale: this.#options.locale, server: this.#options.server,
    }, JSON.stringify(manifest));
  }
}

/** Session runs plugins for one run of a canvas and forgets with it what they kept. */
export class Session {
  readonly #find: (name: string) => Plugin | undefined;
  readonly #used = new Set<Plugin>();
  readonly #talks = new Map<number, Talk>();
  readonly #run = crypto.randomUUID();

  constructor(find: (name: string) => Plugin | undefined) {
    this.#find = find;
  }

  /** answer runs a plugin for the call with this number. Its questions are pieces of the answer; see take. */
  async answer(id: number, payload: Record<string, unknown>, context: CallContext, reply: Reply): Promise<void> {
    const question = payload as unknown as Question;
    const plugin = this.#find(question.plugin);
    if (plugin?.manifest.version !== question.version) throw new EngineError("closed", `plugin ${question.plugin} was replaced; run the canvas again`, { retry: true });
    this.#used.add(plugin);
    const talk = new Talk(reply);
    this.#talks.set(id, talk);
    try {
      const outcome = await plugin.call({
        export: question.export, input: question.input, timeout: question.timeout_ms, run: this.#run, signal: context.signal,
        ...(question.export === "easel_invoke" && { side: talk.ask }), ...(question.secret_mark && { secretMark: question.secret_mark }),
      });
      if (outcome.error) {
        const { retryable, ...error } = outcome.error;
        return reply(false, false, { ...error, retry: retryable });
      }
      reply(true, false, { output: new TextDecoder().decode(outcome.output), fuel: outcome.fuel, logs: outcome.logs });
    } finally {
      talk.end();
      this.#talks.delete(id);
    }
  }

  /** take hands the engine's reply to a question of a plugin on. */
  take(id: number, reply: { ask?: unknown; answer?: unknown; canceled?: unknown }): void {
    this.#talks.get(id)?.take(reply);
  }

  end(): void {
    for (const plugin of this.#used) plugin.endRun(this.#run);
  }
}

/** Talk carries the questions of one call to the engine module. */
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

/** meterOf is the meter inside the engine module, so that a page counts exactly as a server does. */
export function meterOf(ask: Ask): Meter {
  return async (wasm, pages) => {
    let text: string;
    try {
      text = await ask({ op: "meter", pages }, toBase64(wasm));
    } catch (err) {
      if (err instanceof EngineError && ["malformed", "forged", "unsupported", "over_limit"].includes(err.code)) throw new PluginError(err.code, err.message);
      throw err;
    }
    const cut = text.indexOf("\n");
    return { ...(JSON.parse(text.slice(0, cut)) as Omit<Metered, "wasm">), wasm: fromBase64(text.slice(cut + 1)) };
  };
}

function isOptions(source: PluginSource): source is { source: PluginBytes } & LoadOptions {
  return typeof source === "object" && "source" in source;
}
