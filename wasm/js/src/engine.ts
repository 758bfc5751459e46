// The engine as its users hold it. What differs between a page and Node stands in
// Platform; browser.ts and node.ts are the two.

import { Client } from "./client.ts";
import { EngineError } from "./errors.ts";
import { Run, type Inputs, type RunOptions } from "./run.ts";
import {
  ABI, type ComponentSpec, type Host, type Info, type Layout, type Module, type Problem, type Request,
} from "./protocol.ts";

/** DSL is a canvas: its JSON text, or the parsed object. Text keeps numbers and the order of keys as written. */
export type DSL = string | Record<string, unknown>;

/** WasmSource is where the engine module comes from. */
export type WasmSource = URL | string | Response | ArrayBuffer | Uint8Array<ArrayBuffer> | WebAssembly.Module;

/** EngineOptions say how to start; all are optional. */
export interface EngineOptions {
  wasm?: WasmSource;
  /** Address of Go's wasm_exec.js that belongs to the module. */
  runtime?: URL | string;
  /** false: run in this thread. A URL: another worker script. Default true. */
  worker?: boolean | URL | string;
  /** Ends an engine that gives no sign of life for so many milliseconds; 0 never. Default 10,000. Needs the worker. */
  watchdog?: number;
  /** Largest canvas accepted, in characters. Default 20,000,000. */
  maxCanvas?: number;
  /** Another way to reach a module, instead of all of the above. */
  connect?: Connect;
}

/** Connection is a started module and the way to end it. */
export interface Connection {
  module: Module;
  end(): void;
}

/** Connect starts a module for a host. `lost` is called when it dies later. */
export type Connect = (host: Host, lost: (error: EngineError) => void) => Promise<Connection>;

/** Platform starts modules in one kind of place. */
export type Platform = (options: EngineOptions) => Connect;

/** Engine runs canvases. */
export class Engine {
  readonly info: Info;
  readonly #connect: Connect;
  readonly #maxCanvas: number;
  #link: Promise<Link> | undefined;
  #generation = 0;
  #closed = false;

  private constructor(info: Info, connect: Connect, link: Link, maxCanvas: number) {
    this.info = info;
    this.#connect = connect;
    this.#link = Promise.resolve(link);
    this.#maxCanvas = maxCanvas;
  }

  /** start is what createEngine does once the platform is known. */
  static async start(platform: Platform, options: EngineOptions): Promise<Engine> {
    const connect = options.connect ?? platform(options);
    const { link, info } = await open(connect);
    return new Engine(info, connect, link, options.maxCanvas ?? 20_000_000);
  }

  /** validate lists what is wrong with a canvas; an empty list means it loads and runs. */
  async validate(dsl: DSL): Promise<Problem[]> {
    return JSON.parse(await this.#ask({ op: "validate" }, this.#text(dsl))) as Problem[];
  }

  /** components describes every component the engine knows. */
  async components(): Promise<ComponentSpec[]> {
    return JSON.parse(await this.#ask({ op: "components" })) as ComponentSpec[];
  }

  /** layout gives every node a place. */
  async layout(dsl: DSL): Promise<Layout> {
    return JSON.parse(await this.#ask({ op: "layout" }, this.#text(dsl))) as Layout;
  }

  /** load parses a canvas once and keeps it, with its conversation, until it is closed. */
  async load(dsl: DSL): Promise<Canvas> {
    const canvas = new Canvas(this.#text(dsl), () => this.#current());
    await canvas.ready();
    return canvas;
  }

  /** run loads a canvas, runs it once and forgets it. */
  run(dsl: DSL, inputs: Inputs = {}, options: RunOptions = {}): Run {
    let text: string;
    try {
      text = this.#text(dsl);
    } catch (err) {
      return new Run(() => Promise.reject(err as Error), inputs, options, () => { throw err; });
    }
    const canvas = new Canvas(text, () => this.#current());
    const run = canvas.run(inputs, options);
    run.result.then((result) => { if (result.status !== "paused") canvas.close(); }, () => canvas.close());
    return run;
  }

  /** close ends the engine; whatever runs fails with code `closed`. */
  close(): void {
    this.#closed = true;
    const link = this.#link;
    this.#link = undefined;
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

  // After a death (watchdog, crash) the next use starts a fresh module; canvases
  // notice by the generation and load themselves again.
  async #current(): Promise<Link> {
    if (this.#closed) throw new EngineError("closed", "the engine was closed");
    const held = this.#link;
    const link = await held?.catch(() => undefined);
    if (link && !link.client.broken) return link;
    if (this.#closed) throw new EngineError("closed", "the engine was closed");
    if (this.#link === held) {
      const generation = ++this.#generation;
      this.#link = open(this.#connect).then((opened) => ({ ...opened.link, generation }));
    }
    return this.#link as Promise<Link>;
  }

  #text(dsl: DSL): string {
    const text = typeof dsl === "string" ? dsl : JSON.stringify(dsl);
    if (text.length > this.#maxCanvas) {
      throw new EngineError("too_large", `the canvas has ${text.length} characters, the limit is ${this.#maxCanvas}`);
    }
    return text;
  }
}

/** Canvas is a loaded canvas: each run is the next turn of its conversation. */
export class Canvas {
  readonly #current: () => Promise<Link>;
  #text: string;
  #held: { handle: Promise<number>; generation: number } | undefined;
  #closed = false;

  /** Made by Engine.load. */
  constructor(text: string, current: () => Promise<Link>) {
    this.#text = text;
    this.#current = current;
  }

  /** ready waits until the canvas is parsed; its error says why it was refused. */
  async ready(): Promise<void> {
    await this.#open();
  }

  /** run starts a run. */
  run(inputs: Inputs = {}, options: RunOptions = {}): Run {
    return new Run(() => this.#open(), inputs, options, (next, more) => this.run(next, more));
  }

  /** patch replaces parameters of one node; nothing else is parsed again. */
  async patch(node: string, params: Record<string, unknown>): Promise<void> {
    const { client, canvas } = await this.#open();
    await client.request({ op: "patch", canvas, node, params });
    this.#text = await client.request({ op: "save", canvas });
  }

  /** save gives the canvas with its present state, as JSON text. */
  async save(): Promise<string> {
    const { client, canvas } = await this.#open();
    this.#text = await client.request({ op: "save", canvas });
    return this.#text;
  }

  /** reset forgets the conversation. */
  async reset(): Promise<void> {
    const { client, canvas } = await this.#open();
    await client.request({ op: "reset", canvas });
  }

  /** close forgets the canvas. */
  close(): void {
    this.#closed = true;
    const held = this.#held;
    if (!held) return;
    Promise.all([this.#current(), held.handle]).then(([link, handle]) => {
      if (link.generation === held.generation) link.client.release(handle);
    }, () => undefined); // an engine that is gone has forgotten it anyway
  }

  async #open(): Promise<{ client: Client; canvas: number }> {
    if (this.#closed) throw new EngineError("closed", "the canvas was closed");
    const { client, generation } = await this.#current();
    if (this.#held?.generation !== generation) {
      const handle = client.request({ op: "load" }, this.#text).then((answer) => (JSON.parse(answer) as { canvas: number }).canvas);
      this.#held = { handle, generation };
    }
    return { client, canvas: await this.#held.handle };
  }
}

interface Link {
  client: Client;
  generation: number;
  end(): void;
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
      throw new EngineError("version", `this engine module speaks version ${info.abi} of the contract, this package version ${ABI}; use files of one release`);
    }
    return { link: { client, generation: 0, end }, info };
  } catch (err) {
    end();
    throw EngineError.from(err, "init");
  }
}
