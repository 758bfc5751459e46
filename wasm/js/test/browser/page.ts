// Functions of the page of the tests; tests call them through `easel`.

import {
  createEngine,
  EngineError,
  type Engine,
  type EngineOptions,
  type Run,
  type RunEvent,
} from "../../src/browser.ts";
import { sandbox } from "../../src/code/runner.ts";
import { scripted } from "../../src/model/scripted.ts";
import { chain, chat } from "../canvases.ts";
import { stories } from "../stories.ts";

const at = (name: string): URL => new URL(name, location.href);

/** create starts an engine with the files in the folder of this page. */
function create(options: EngineOptions = {}): Promise<Engine> {
  return createEngine({
    wasm: at("engine.wasm"),
    runtime: at("wasm_exec.js"),
    worker: at("worker.browser.js"),
    ...options,
  });
}

const engines = new Map<string, Promise<Engine>>();

/** One engine runs all stories of a place. */
function engineIn(place: "worker" | "page"): Promise<Engine> {
  const held = engines.get(place) ?? create(place === "page" ? { worker: false } : {});
  engines.set(place, held);
  return held;
}

const easel = {
  story: async (place: "worker" | "page", name: string): Promise<void> =>
    (stories[name] as (typeof stories)[string])(await engineIn(place)),

  /** outcome starts an engine and returns the result. Addresses are relative to the page. */
  async outcome(given: { wasm?: string; runtime?: string; worker?: string | false;
    bytes?: number[] }): Promise<string> {
    const { wasm, runtime, worker, bytes } = given;
    try {
      const engine = await create({
        ...(wasm ? { wasm: at(wasm) } : {}),
        ...(bytes ? { wasm: new Uint8Array(bytes) } : {}),
        ...(runtime ? { runtime: at(runtime) } : {}),
        ...(worker === false ? { worker } : worker ? { worker: at(worker) } : {}),
      });
      const { status, answer } = await engine.run(chat, "x", { llm: scripted([{ text: "y" }]) }).result;
      engine.close();
      return `${status}: ${answer}`;
    } catch (err) {
      return err instanceof EngineError ? `${err.code}: ${err.message}` : `untyped: ${String(err)}`;
    }
  },

  /** sources starts an engine from every form of `wasm`. */
  async sources(): Promise<string[]> {
    const bytes = await (await fetch("engine.wasm")).arrayBuffer();
    const wasm = [
      at("engine.wasm").href,
      await fetch("engine.wasm"),
      bytes,
      new Uint8Array(bytes.slice(0)),
      await WebAssembly.compile(bytes),
    ];
    const found: string[] = [];
    for (const source of wasm) {
      const engine = await create({ wasm: source });
      found.push((await engine.run(chat, "x", { llm: scripted([{ text: "y" }]) }).result).answer);
      engine.close();
    }
    return found;
  },

  /** misbehave makes the echo module spin or crash, and then starts an ordinary run. */
  async misbehave(how: "spin" | "crash"): Promise<string[]> {
    const engine = await create({ wasm: at("echo.wasm"), watchdog: 2_000 });
    const bad = await engine.run("{}", how).result.then(() => "survived", (err: EngineError) => err.code);
    const { status } = await engine.run("{}", "x", { llm: scripted([{ text: "y" }]) }).result;
    engine.close();
    return [bad, status];
  },

  async large(): Promise<unknown> {
    const engine = await create({ maxCanvas: 100_000_000, watchdog: 120_000 });
    const problems = await engine.validate(JSON.stringify(chat).slice(0, -1) + `,"x":"${"y".repeat(50 << 20)}"}`);
    engine.close();
    return problems;
  },

  /** script runs a script of a Code node in the sandbox. */
  async script(script: string, timeout?: number): Promise<unknown> {
    const engine = await engineIn("worker");
    const dsl = chain(["begin"], ["CodeExec:A", { lang: "javascript", script, arguments: { q: "sys.query" } }]);
    const { outputs, error } = await engine.run(dsl, "grüß", { code: sandbox({ worker: at("worker.js"), timeout }) })
      .result;
    return error?.message ?? outputs;
  },

  /** held contains runs that a test uses later. */
  held: [] as { run: Run; events: RunEvent[] }[],
};

Object.assign(globalThis, { easel });
export type Easel = typeof easel;
