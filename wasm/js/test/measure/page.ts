// Measurements in the page; measure.ts calls them through `gauge`. All times are milliseconds.

import { createEngine, type Engine, type RunEvent } from "../../src/browser.ts";
import { scripted } from "../../src/model/scripted.ts";
import { emptyState, reduce } from "../../src/state.ts";
import { chain, chat, circle, type Params } from "../canvases.ts";

const at = (name: string): URL => new URL(name, location.href);
const create = (more = {}): Promise<Engine> =>
  createEngine({ wasm: at("engine.wasm"), runtime: at("wasm_exec.js"), worker: at("worker.browser.js"), ...more });

/** wide is one event of a Message, of about 360 bytes. */
const wide = JSON.stringify({
  event: "message",
  message_id: "0".repeat(32),
  task_id: "0".repeat(32),
  created_at: 1_700_000_000,
  data: { content: "word ".repeat(41) },
});

let warm: Promise<Engine> | undefined;
let longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
}).observe({ type: "longtask" });

const gauge = {
  /** ready returns the time from the start of a Worker to the first event of a run in it. */
  async ready(): Promise<number> {
    const began = performance.now();
    const engine = await create();
    for await (const _ of engine.run(chain(["begin"]), "x")) break;
    const took = performance.now() - began;
    engine.close();
    return took;
  },

  /**
   * again returns the time from the loss of an engine to the first event of a run in the next one.
   */
  async again(): Promise<number> {
    let lose: (() => void) | undefined;
    const real = Worker;
    globalThis.Worker = class extends real {
      constructor(address: string | URL, options?: WorkerOptions) {
        super(address, options);
        lose = () => this.onerror?.(new ErrorEvent("error", { message: "lost" }));
      }
    };
    const engine = await create().finally(() => { globalThis.Worker = real; });
    for await (const _ of engine.run(chain(["begin"]), "x")) break;
    const began = performance.now();
    lose?.();
    for await (const _ of engine.run(chain(["begin"]), "x")) break;
    const took = performance.now() - began;
    engine.close();
    return took;
  },

  /**
   * hello returns the time from the start of a Worker to the first output of a Go program in it.
   */
  async hello(): Promise<number> {
    const began = performance.now();
    const worker = new Worker(at("hello.worker.js"), { type: "module" });
    await new Promise((resolve, reject) => { worker.onmessage = resolve; worker.onerror = reject; });
    const took = performance.now() - began;
    worker.terminate();
    return took;
  },

  /**
   * events returns the time that this number of events takes from Go to the page, parsed and
   * delivered.
   */
  async events(count: number): Promise<number> {
    const engine = await (warm ??= create());
    const canvas = await engine.load(chain(["begin"]));
    let seen = 0;
    const began = performance.now();
    const run = canvas.run({ play: { flood: count, line: wide } } as Record<string, unknown>, {
      onEvent: () => {
        seen++;
      },
    });
    await run.result;
    const took = performance.now() - began;
    canvas.close();
    if (seen < count) throw new Error(`only ${seen} of ${count} events came`);
    return took;
  },

  /** posted returns the time that the same bytes take by postMessage and JSON.parse. */
  async posted(count: number): Promise<number> {
    const worker = new Worker(at("post.worker.js"), { type: "module" });
    await new Promise((resolve) => setTimeout(resolve, 50)); // its start does not count
    const began = performance.now();
    let seen = 0;
    await new Promise<void>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<string>) => {
        seen += (JSON.parse("[" + data.replaceAll("\n", ",") + "]") as unknown[]).length;
        if (seen === count) resolve();
      };
      worker.postMessage({ count, line: wide });
    });
    const took = performance.now() - began;
    worker.terminate();
    return took;
  },

  /**
   * blocked returns the longest task of the page's thread while a run of this number of nodes
   * streams and its state is reduced.
   */
  async blocked(nodes: number): Promise<{ longest: number; took: number; events: number }> {
    const engine = await (warm ??= create());
    const steps = Array.from({ length: nodes - 1 }, (_, i): [string, Params] =>
      i % 2
        ? [`Message:${i}`, { content: [`so: {LLM:${i - 1}@content}`] }]
        : [`LLM:${i}`, { llm_id: "m", prompts: "{sys.query}" }],
    );
    const llm = scripted([], { fallback: { text: "an answer of some words that is streamed piece by piece" } });
    await new Promise((resolve) => setTimeout(resolve, 200));
    longest = 0;
    let state = emptyState, events = 0;
    const began = performance.now();
    const run = engine.run(chain(["begin"], ...steps), "go", {
      llm,
      onEvent: (event: RunEvent) => {
        state = reduce(state, event);
        events++;
      },
    });
    const { status, error } = await run.result;
    const took = performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, 200)); // the observer reports later
    if (status !== "succeeded" || state.steps.length !== nodes)
      throw new Error(`${status}, ${state.steps.length} steps: ${error?.message}`);
    return { longest, took, events };
  },

  /**
   * canceled returns the time from the cancel to the end of a run whose model does not respond, or
   * that runs in a loop.
   */
  async canceled(busy: boolean): Promise<number> {
    const engine = await (warm ??= create());
    const llm = { async *chat() { await new Promise(() => undefined); } };
    const run = busy ? engine.run(circle(), "x") : engine.run(chat, "x", { llm });
    let seen = 0;
    for await (const event of run) if (event.event === "model_started" && ++seen === (busy ? 5 : 1)) break;
    const began = performance.now();
    run.cancel();
    await run.result;
    return performance.now() - began;
  },

  /** memory returns the memory of a started, idle module in bytes. */
  async memory(): Promise<number> {
    let instance: WebAssembly.Instance | undefined;
    const real = WebAssembly.instantiate;
    WebAssembly.instantiate = (async (...given: Parameters<typeof real>) =>
      (instance = (await real.apply(WebAssembly, given)) as unknown as WebAssembly.Instance)) as unknown as typeof real;
    const engine = await create({ worker: false }).finally(() => { WebAssembly.instantiate = real; });
    await engine.run(chat, "x", { llm: scripted([{ text: "y" }]) }).result;
    const { byteLength } = (instance?.exports["mem"] as WebAssembly.Memory).buffer;
    engine.close();
    return byteLength;
  },
};

Object.assign(globalThis, { gauge });
export type Gauge = typeof gauge;
