/// <reference lib="esnext.disposable" preserve="true" />
// The engine as its users see it. The differences between a page and Node are in
// Platform; browser.ts and node.ts implement it.

import { Client } from "./client.ts";
import { EngineError } from "./errors.ts";
import type { FormField } from "./events.ts";
import type { Diagnostic } from "./generated.ts";
import type { Manifest as PluginManifest } from "./plugin/manifest.ts";
import type { PluginBytes, PluginSource, Session, Shelf } from "./plugin/shelf.ts";
import type { ToolModule } from "./plugin/tool.ts";
import type { Connect } from "./link.ts";
import { Switchboard } from "./ports.ts";
import { Run, type Inputs, type Opened, type RunOptions } from "./run.ts";
import {
  ABI, type ComponentSpec, type Info, type Layout, type Request, type Scheduling, type StandIn,
} from "./protocol.ts";

/**
 * DSL is a canvas: its JSON text, or the parsed object. Text keeps numbers and the order of keys as
 * written.
 */
export type DSL = string | Record<string, unknown>;

/** WasmSource is where the engine module comes from. */
export type WasmSource = URL | string | Response | ArrayBuffer | Uint8Array<ArrayBuffer> | WebAssembly.Module;

/** EngineOptions are options of the start; all are optional. */
export interface EngineOptions {
  /**
   * Compiled once, also for starts after a crash. A string is an address relative to the page, in
   * Node also a path.
   */
  wasm?: WasmSource;
  /** Address of Go's wasm_exec.js that belongs to the module. */
  runtime?: URL | string;
  /** false: run in this thread. A URL: another worker script. Default true. */
  worker?: boolean | URL | string;
  /**
   * Terminates an engine that does not respond for this number of milliseconds; 0 never. Default
   * 10,000. Requires the worker.
   */
  watchdog?: number;
  /** Largest canvas accepted, in characters. Default 20,000,000. */
  maxCanvas?: number;
  /** Another way to reach a module, instead of all of the above. */
  connect?: Connect;
  /** Plugins that canvases may use. */
  plugins?: readonly PluginSource[];
  /**
   * false: plugins run in this thread, which they may block until their deadline. A URL: another
   * worker script. Default true.
   */
  pluginWorker?: boolean | URL | string;
  /** Language passed to plugins, such as en. */
  locale?: string;
}

/** Platform starts modules in one kind of environment. */
export type Platform = (options: EngineOptions) => Connect;

/** Plugins creates the shelf of plugins in one kind of environment. */
export type Plugins = (options: EngineOptions) => Promise<Shelf>;

/** Engine runs canvases. */
export class Engine {
  readonly info: Info;
  readonly #connect: Connect;
  readonly #maxCanvas: number;
  readonly #makeShelf: () => Promise<Shelf>;
  #shelf: Promise<Shelf> | undefined; // made for the first plugin
  #link: Promise<Link> | undefined;
  #generation = 0;
  #closed = false;

  private constructor(info: Info, connect: Connect, makeShelf: () => Promise<Shelf>, link: Link, maxCanvas: number) {
    this.info = info;
    this.#connect = connect;
    this.#makeShelf = makeShelf;
    this.#link = Promise.resolve(link);
    this.#maxCanvas = maxCanvas;
  }

  /** start implements createEngine for a platform. */
  static async start(platform: Platform, options: EngineOptions, plugins: Plugins = noPlugins): Promise<Engine> {
    const connect = options.connect ?? platform(options);
    const { link, info } = await open(connect);
    const engine = new Engine(info, connect, () => plugins(options), link, options.maxCanvas ?? 20_000_000);
    try {
      await engine.#plugins(options.plugins);
    } catch (err) {
      engine.close();
      throw err;
    }
    return engine;
  }

  /** use adds plugins; one with a known name replaces the former one. */
  async use(plugins: readonly PluginSource[]): Promise<void> {
    await this.#plugins(plugins);
  }

  /** pluginManifest reads and checks the manifest of a plugin, without using it. */
  async pluginManifest(source: PluginBytes): Promise<PluginManifest> {
    const { client } = await this.#current();
    const shelf = await this.#theShelf();
    return shelf.manifest(source, (request, body) => client.request(request, body), this.info.version);
  }

  /**
   * tool loads a plugin that implements a component, such as a web search, for programs that handle
   * the engine's calls of tools. It is granted what its manifest requests.
   */
  async tool(source: PluginBytes): Promise<ToolModule> {
    const shelf = await this.#theShelf();
    return shelf.tool(source, (request, body) => this.#ask(request, body));
  }

  /** validate returns the diagnostics of a canvas; an empty list means that it loads and runs. */
  async validate(dsl: DSL): Promise<Diagnostic[]> {
    return JSON.parse(await this.#ask({ op: "validate" }, this.#text(dsl))) as Diagnostic[];
  }

  /**
   * order returns when the nodes of a canvas start in runs with the scheduling "auto": as its
   * settings ask for, else eagerly if that is proved to change nothing but the duration.
   */
  async order(dsl: DSL): Promise<Exclude<Scheduling, "auto">> {
    return JSON.parse(await this.#ask({ op: "order" }, this.#text(dsl))) as Exclude<Scheduling, "auto">;
  }

  /**
   * complete returns a file whose canvas has components. RAGFlow's editor exported only a graph up
   * to version 0.26.0; they are made of it as the editor does.
   */
  complete(dsl: DSL): Promise<string> {
    return this.#ask({ op: "complete" }, this.#text(dsl));
  }

  /** components describes every component of the engine. */
  async components(): Promise<ComponentSpec[]> {
    return JSON.parse(await this.#ask({ op: "components" })) as ComponentSpec[];
  }

  /** standIn returns the answer of a component with outside effects in a preview. */
  async standIn(component: string, args: Record<string, unknown>, params: Record<string, unknown>): Promise<StandIn> {
    return JSON.parse(await this.#ask({ op: "stand_in", component, args, params })) as StandIn;
  }

  /**
   * layout returns a position for every node; `sizes` are the sizes of drawn nodes, as [width,
   * height].
   */
  async layout(dsl: DSL, { sizes }: { sizes?: Record<string, [width: number, height: number]> } = {}): Promise<Layout> {
    return JSON.parse(await this.#ask({ op: "layout", sizes }, this.#text(dsl))) as Layout;
  }

  /** load parses a canvas once and keeps it, with its conversation, until it is closed. */
  async load(dsl: DSL): Promise<Canvas> {
    const canvas = new Canvas(this.#text(dsl), this.#world());
    await canvas.ready();
    return canvas;
  }

  /** run loads a canvas, runs it once and closes it. */
  run(dsl: DSL, inputs: Inputs = {}, options: RunOptions = {}): Run {
    let text: string;
    try {
      text = this.#text(dsl);
    } catch (err) {
      return new Run(() => Promise.reject(err as Error), inputs, options, () => { throw err; });
    }
    return Canvas.once(text, this.#world(), inputs, options);
  }

  /** close stops the engine; active runs fail with code `closed`. */
  close(): void {
    this.#closed = true;
    const link = this.#link;
    this.#link = undefined;
    void this.#shelf?.then((shelf) => shelf.close(), () => undefined);
    void link?.then(({ client, end }) => {
      client.fail(new EngineError("closed", "the engine was closed"));
      end();
    }, () => undefined);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #ask(request: Request, body?: string): Promise<string> {
    return (await this.#current()).client.request(request, body);
  }

  // After a crash, or when the watchdog ended the module, the next use starts a new one; canvases
  // detect it by the generation and load themselves again.
  async #current(): Promise<Link> {
    if (this.#closed) throw new EngineError("closed", "the engine was closed");
    const held = this.#link;
    const link = await held?.catch(() => undefined);
    if (link && !link.client.broken) return link;
    if (this.#closed) throw new EngineError("closed", "the engine was closed");
    if (this.#link === held) {
      const generation = ++this.#generation;
      this.#link = open(this.#connect).then(async ({ link: fresh }) => {
        await this.#introduce(fresh.client);
        return { ...fresh, generation };
      });
    }
    return this.#link as Promise<Link>;
  }

  // plugins adds plugins and makes all of them available to one run.
  async #plugins(sources: readonly PluginSource[] = []): Promise<Session | undefined> {
    if (sources.length > 0) {
      const shelf = await this.#theShelf();
      const { client } = await this.#current();
      await this.#introduce(client);
      await shelf.add(sources, (request, body) => client.request(request, body));
    }
    return (await this.#shelf)?.serve();
  }

  #theShelf(): Promise<Shelf> {
    return (this.#shelf ??= this.#makeShelf().catch((err: unknown) => {
      this.#shelf = undefined; // the engine continues without plugins
      throw err;
    }));
  }

  // introduce registers the plugins with a module, and handles its calls of them outside of runs.
  async #introduce(client: Client): Promise<void> {
    const shelf = await this.#shelf;
    if (!shelf || client.asked) return;
    const board = new Switchboard({}, 20_000);
    board.session = shelf.serve();
    client.asked = (call, text) => board.take(call, text, (id, ok, more, said) => client.deliver(id, ok, more, said));
    await shelf.introduce((request, body) => client.request(request, body));
  }

  #world(): World {
    return {
      link: () => this.#current(),
      text: (dsl) => this.#text(dsl),
      plugins: (sources) => this.#plugins(sources),
    };
  }

  #text(dsl: DSL): string {
    const text = typeof dsl === "string" ? dsl : asText(dsl);
    if (text.length > this.#maxCanvas) {
      throw new EngineError("too_large", `the canvas has ${text.length} characters, the limit is ${this.#maxCanvas}`);
    }
    return text;
  }
}

/**
 * Canvas is a loaded canvas: each run is the next turn of its conversation. When the
 * engine ends (watchdog, crash), the canvas continues in the next one as it was last
 * loaded or saved, with the changes made to it since, without the turns since.
 */
export class Canvas {
  readonly #world: World;
  #text: string;
  #changes: Change[] = []; // since #text was written
  #held: { handle: Promise<number>; generation: number } | undefined;
  #parking: Promise<void> | undefined;
  #closed = false;

  /** Created by Engine.load. */
  constructor(text: string, world: World) {
    this.#text = text;
    this.#world = world;
  }

  /**
   * once runs a canvas without a handle. The module releases it when the run ends; a paused one is
   * kept as text.
   */
  static once(text: string, world: World, inputs: Inputs, options: RunOptions): Run {
    const canvas = new Canvas(text, world);
    const begin = (next: Inputs, more: RunOptions): Run => {
      const run = new Run(() => canvas.#ready(more), next, more, begin);
      run.result.then(
        (result) => (result.status === "paused" ? canvas.#park() : canvas.#release()),
        () => canvas.#release(),
      );
      return run;
    };
    return begin(inputs, options);
  }

  /** ready waits until the canvas is parsed, and fails if it was refused. */
  async ready(): Promise<void> {
    await this.#open();
  }

  /** run starts a run. */
  run(inputs: Inputs = {}, options: RunOptions = {}): Run {
    return new Run(() => this.#ready(options), inputs, options, (next, more) => this.run(next, more));
  }

  /** patch replaces params of one node; nothing else is parsed again. */
  async patch(node: string, params: Record<string, unknown>): Promise<void> {
    await this.#change({ request: { op: "patch", node, params } });
  }

  /** save returns the canvas with its current state, as JSON text. */
  async save(): Promise<string> {
    const { client, canvas } = await this.#open();
    const changes = this.#changes.length;
    this.#text = await client.request({ op: "save", canvas });
    this.#changes.splice(0, changes);
    return this.#text;
  }

  /**
   * restore replaces the conversation by that of a saved document of the same canvas; the nodes do
   * not change.
   */
  async restore(saved: DSL): Promise<void> {
    await this.#change({ request: { op: "restore" }, body: this.#world.text(saved) });
  }

  /** reset deletes the conversation, or only the state of its runs if the history is kept. */
  async reset({ keepHistory = false } = {}): Promise<void> {
    await this.#change({ request: keepHistory ? { op: "reset", keep_history: true } : { op: "reset" } });
  }

  /** form returns the inputs required to run one node alone, by the names that `debug` accepts. */
  async form(node: string): Promise<Record<string, FormField>> {
    const { client, canvas } = await this.#open();
    return JSON.parse(await client.request({ op: "form", canvas, node })) as Record<string, FormField>;
  }

  /** close releases the canvas. */
  close(): void {
    this.#closed = true;
    this.#release();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #change(change: Change): Promise<void> {
    const { client, canvas } = await this.#open();
    await apply(client, canvas, change);
    this.#changes.push(change);
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    if (!held) return;
    Promise.all([this.#world.link(), held.handle]).then(([link, handle]) => {
      if (link.generation === held.generation) link.client.release(handle);
    }, () => undefined); // the handle ended with a failed engine
  }

  // park keeps the canvas as text; the next call that opens it waits for that.
  #park(): void {
    this.#parking = this.save().then(() => this.#release(), () => undefined);
  }

  // ready opens the canvas for a run, after the plugins that it names were added.
  async #ready({ plugins }: RunOptions): Promise<Opened> {
    const session = await this.#world.plugins(plugins);
    const opened = await this.#open();
    return session ? { ...opened, session } : opened;
  }

  async #open(): Promise<Opened> {
    await this.#parking;
    if (this.#closed) throw new EngineError("closed", "the canvas was closed");
    const { client, generation } = await this.#world.link();
    if (this.#held?.generation !== generation) this.#held = { handle: this.#load(client), generation };
    return { client, canvas: await this.#held.handle };
  }

  async #load(client: Client): Promise<number> {
    const changes = this.#changes.slice();
    const { canvas } = JSON.parse(await client.request({ op: "load" }, this.#text)) as { canvas: number };
    for (const change of changes) await apply(client, canvas, change);
    return canvas;
  }
}

/** World is the part of an engine that a canvas uses. */
interface World {
  /** link returns the connection to the current module. */
  link(): Promise<Link>;
  /** text returns a canvas as text, if it is not too large. */
  text(dsl: DSL): string;
  /** plugins adds these and makes all available to one run; undefined without plugins. */
  plugins(sources?: readonly PluginSource[]): Promise<Session | undefined>;
}

/** Change is a request that alters a canvas; it is repeated when the canvas is loaded again. */
interface Change {
  request:
    | { op: "patch"; node: string; params: Record<string, unknown> }
    | { op: "restore" }
    | { op: "reset"; keep_history?: boolean };
  body?: string;
}

async function apply(client: Client, canvas: number, { request: { op, ...more }, body }: Change): Promise<void> {
  await client.request({ op, canvas, ...more } as Request, body);
}

function asText(dsl: unknown): string {
  if (typeof dsl !== "object" || dsl === null)
    throw new EngineError("bad_canvas", `a canvas is text or an object, not ${dsl === null ? "null" : typeof dsl}`);
  try {
    return JSON.stringify(dsl);
  } catch (err) {
    throw EngineError.from(err, "bad_canvas", "the canvas does not become JSON: ");
  }
}

interface Link {
  client: Client;
  generation: number;
  end(): void;
}

async function noPlugins(): Promise<Shelf> {
  throw new EngineError("unsupported", "this engine was started without a place for plugins");
}

async function open(connect: Connect): Promise<{ link: Link; info: Info }> {
  const client = new Client();
  const connection = await connect(client, (error) => client.fail(error)).catch((err: unknown) => {
    throw EngineError.from(err, "init", "the engine did not start: ");
  });
  client.attach(connection.module);
  const end = (): void => connection.end();
  try {
    const info = JSON.parse(await client.request({ op: "info" })) as Info;
    if (info.abi !== ABI) {
      throw new EngineError(
        "version",
        `this engine module speaks version ${info.abi} of the contract, this package version ${ABI}; use files of ` +
        `one release`,
      );
    }
    return { link: { client, generation: 0, end }, info };
  } catch (err) {
    end();
    throw EngineError.from(err, "init");
  }
}
