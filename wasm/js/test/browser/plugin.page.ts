// Functions of the page of the plugin tests; tests call them through `plugins`.

import { createEngine, type Engine, type PluginSource, type RunResult } from "../../src/browser.ts";
import { Client } from "../../src/client.ts";
import { platform } from "../../src/platform.browser.ts";
import type { FromKernel } from "../../src/plugin/kernel/serve.ts";
import type { Way } from "../../src/plugin/kernel/wait.ts";
import { inline } from "../../src/plugin/inline.ts";
import { Plugin, type CallRequest, type LoadOptions, type Examine } from "../../src/plugin/plugin.ts";
import type { KernelLine } from "../../src/plugin/runner.ts";
import { examineWith } from "../../src/plugin/shelf.ts";
import { attack, faults } from "../plugin.faults.ts";
import { drown, type Flood } from "../plugin.floods.ts";

const at = (name: string): URL => new URL(name, location.href);
const engineFiles = { wasm: at("engine.wasm"), runtime: at("wasm_exec.js"), worker: at("worker.browser.js") };

function worker(): KernelLine {
  const worker = new Worker(at("kernel.browser.js"), { type: "module" });
  return {
    post: (message) => worker.postMessage(message),
    listen: (receive, broken) => {
      worker.onmessage = (event: MessageEvent<FromKernel>) => receive(event.data);
      worker.onerror = (event) => broken(event.message);
    },
    end: () => worker.terminate(),
  };
}

let examine: Promise<Examine> | undefined;

function theExaminer(): Promise<Examine> {
  examine ??= (async () => {
    const client = new Client();
    const connection = await platform(engineFiles)(client, (err) => client.fail(err));
    client.attach(connection.module);
    return examineWith((request, body) => client.request(request, body));
  })();
  return examine;
}

const bytesOf = async (name: string): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await (await fetch(encodeURIComponent(name))).arrayBuffer());

async function load(name: string, options: LoadOptions, place: "worker" | "page" = "worker"): Promise<Plugin> {
  const spawn = place === "worker" ? worker : inline;
  return Plugin.load(await bytesOf(name), await theExaminer(), spawn, { grant: "asked", ...options });
}

const decoder = new TextDecoder();

const plugins = {
  place: (): unknown => ({ isolated: crossOriginIsolated, suspending: "Suspending" in WebAssembly }),

  /** fault returns one of the faults, in a way of waiting. */
  async fault(name: string, way: Way, place: "worker" | "page"): Promise<void> {
    const plugin = await load(name, { way }, place);
    try {
      await attack(plugin, faults[name]!);
    } finally {
      plugin.close();
    }
  },

  /** flood runs one of the golden floods, with a suspended stack. */
  async flood(flood: Flood): Promise<void> {
    const plugin = await load(`flood ${flood.step}`, { way: "suspend" });
    try {
      await drown(plugin, flood);
    } finally {
      plugin.close();
    }
  },

  /** call makes calls one after the other and returns their results. */
  async call(name: string, way: Way, calls: Partial<CallRequest>[],
    options: { cancelAfter?: number; private?: boolean } = {}): Promise<unknown[]> {
    const plugin = await load(name, { way });
    const out: unknown[] = [];
    for (const call of calls) {
      const stop = new AbortController();
      let emits = 0;
      const began = performance.now();
      const outcome = await plugin.call({
        input: "", ...call, signal: stop.signal,
        side: async () => { if (++emits === options.cancelAfter) stop.abort(); return { ok: {} }; },
      });
      out.push({
        output: decoder.decode(outcome.output),
        code: outcome.error?.code,
        message: outcome.error?.message,
        fuel: outcome.fuel,
        emits,
        took: performance.now() - began,
      });
    }
    plugin.close();
    return out;
  },

  /** canvas runs a canvas with plugins through the engine. */
  async canvas(dsl: object, query: string, names: string[]): Promise<{ status: string; answer: string; pieces: string[];
    error?: RunResult["error"] }> {
    const sources: PluginSource[] = names.map((name) => at(encodeURIComponent(name)));
    const engine: Engine = await createEngine({
      ...engineFiles,
      pluginWorker: at("kernel.browser.js"),
      plugins: sources,
    });
    const run = engine.run(dsl as never, query);
    const pieces: string[] = [];
    for await (const event of run) if (event.event === "message" && event.data.content) pieces.push(event.data.content);
    const { status, answer, error } = await run.result;
    engine.close();
    return { status, answer, pieces, ...(error && { error }) };
  },

  /** secret passes secrets to a plugin in a page, which must be refused. */
  async secret(): Promise<string> {
    return createEngine({
      ...engineFiles,
      pluginWorker: at("kernel.browser.js"),
      plugins: [{ source: await bytesOf("counted"), secrets: { A: "b" } }],
    }).then(
      () => "taken",
      (err: { code: string; message: string }) => `${err.code}: ${err.message}`,
    );
  },

  /** measure times echo, in milliseconds, the median of n. */
  async measure(way: Way): Promise<Record<string, number>> {
    const plugin = await load("echo", { way });
    const median = async (size: number, n: number): Promise<number> => {
      const input = new Uint8Array(size).fill(120);
      const times: number[] = [];
      for (let i = 0; i < n; i++) {
        const began = performance.now();
        const outcome = await plugin.call({ input });
        if (outcome.output?.length !== size) throw new Error("echo is broken");
        times.push(performance.now() - began);
      }
      return times.sort((a, b) => a - b)[n >> 1]!;
    };
    const out = { "1 KB": await median(1 << 10, 200), "1 MB": await median(1 << 20, 20) };
    plugin.close();
    return out;
  },
};

Object.assign(globalThis, { plugins });
export type Plugins = typeof plugins;
