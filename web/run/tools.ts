// The built-in tools in the page: the same modules as in the program, each loaded when a canvas
// calls it. Their requests come from the page, so a service answers only if it allows requests from
// other sites (CORS).

import type { Engine, ToolModule } from "@easel/engine";
import { Guard } from "@easel/engine/address";
import { own } from "../canvas/dsl.ts";
import type { Blocked, Local } from "./substitutes.ts";

/** ToolIndex lists the locations of the parts of the modules; the bundler writes it. */
export interface ToolIndex {
  /** The common start of every module. */
  interpreter: string;
  /** By component. */
  tools: Record<string, { sections: string; base: string; digest: string }>;
}

interface Loaded {
  module: ToolModule;
  base: string;
}

/** ToolOptions are the locations of the modules. */
export interface ToolOptions {
  /** Name of the index, for `at`. */
  index: string;
  /** Address of a file of the page. */
  at(name: string): URL;
  /** Sends the requests of tools and loads their files. */
  send?: typeof fetch;
}

/** Tools runs them. */
export class Tools {
  readonly #engine: Promise<Pick<Engine, "tool">>;
  readonly #at: (name: string) => URL;
  readonly #name: string;
  readonly #send: typeof fetch;
  readonly #files = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  readonly #loaded = new Map<string, Promise<Loaded | undefined>>();

  constructor(engine: Promise<Pick<Engine, "tool">>, { index, at, send }: ToolOptions) {
    this.#engine = engine;
    this.#name = index;
    this.#at = at;
    this.#send = send ?? ((input, init) => fetch(input, init));
  }

  /** call runs the module of a component; undefined without a module. */
  readonly call: Local = async (component, args, params, { origins, signal }) => {
    const tool = await this.#tool(component);
    if (!tool) return undefined;
    const { module, base } = tool;
    if (module.keys.some((name) => String(params[name] ?? "").includes("{{secret:"))) return { blocked: "secret" };
    const way = new Way(this.#send, new Guard({ origins }));
    try {
      return { outputs: await module.call({ params, args, base, fetch: way.fetch, signal }) };
    } catch (err) {
      if (way.blocked) return { blocked: way.blocked };
      // A tool refuses a call without its key before it sends anything.
      if (!way.used && (err as { code?: unknown }).code === "unauthorized") return { blocked: "key" };
      throw err;
    }
  };

  /** bytes returns the module of a component, or undefined. */
  async bytes(component: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { interpreter, tools } = await this.#index();
    const file = own(tools, component);
    if (!file) return undefined;
    const [head, tail] = await Promise.all([this.#file(interpreter), this.#file(file.sections)]);
    const all = new Uint8Array(head.length + tail.length);
    all.set(head);
    all.set(tail, head.length);
    return all;
  }

  #tool(component: string): Promise<Loaded | undefined> {
    return kept(this.#loaded, component, async () => {
      const bytes = await this.bytes(component);
      if (!bytes) return undefined;
      const { tools } = await this.#index();
      return { module: await (await this.#engine).tool(bytes), base: own(tools, component)?.base ?? "" };
    });
  }

  async #index(): Promise<ToolIndex> {
    return JSON.parse(new TextDecoder().decode(await this.#file(this.#name))) as ToolIndex;
  }

  #file(name: string): Promise<Uint8Array<ArrayBuffer>> {
    return kept(this.#files, name, async () => {
      const init = { credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" } as const;
      const response = await this.#send(this.#at(name), init);
      if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
      return new Uint8Array(await response.arrayBuffer());
    });
  }
}

// kept caches the value of make; a failure is not cached.
function kept<T>(values: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  let value = values.get(name);
  if (!value) {
    value = make();
    values.set(name, value);
    value.catch(() => values.delete(name));
  }
  return value;
}

// Browsers set User-Agent themselves, and most services allow no other from a page.
const browsers = /^user-agent$/i;

// Way sends the requests of one call and records why one failed.
class Way {
  blocked: Blocked | undefined;
  used = false;
  readonly #send: typeof fetch;
  readonly #guard: Guard;

  constructor(send: typeof fetch, guard: Guard) {
    this.#send = send;
    this.#guard = guard;
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const address = String(input);
    this.used = true;
    try {
      this.#guard.check(address);
    } catch (err) {
      this.blocked = "address";
      throw err;
    }
    const given = Object.entries((init.headers ?? {}) as Record<string, string>);
    const headers = Object.fromEntries(given.filter(([name]) => !browsers.test(name)));
    try {
      const response = await this.#send(address, { ...init, headers, cache: "no-store" });
      if (response.type === "opaqueredirect") this.blocked = "service";
      return response;
    } catch (err) {
      if (!init.signal?.aborted) this.blocked = "service";
      throw err;
    }
  };
}
