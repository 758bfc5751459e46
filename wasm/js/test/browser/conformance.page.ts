// The page of the conformance test: the module in a Worker.

import { createEngine } from "../../src/browser.ts";
import { Client } from "../../src/client.ts";
import { platform } from "../../src/platform.browser.ts";
import { turns, whole, type Turn } from "../conformance.ts";

const at = (name: string): URL => new URL(name, location.href);
const files = {
  wasm: at("engine.wasm"),
  runtime: at("wasm_exec.js"),
  worker: at("worker.browser.js"),
  watchdog: 60_000,
};

const client = new Client();
const ready = platform(files)(client, (error) => client.fail(error)).then(({ module }) => {
  client.attach(module);
  return client;
});
const engine = createEngine(files);

const cases = {
  whole: async (body: string): Promise<string> => whole(await ready, body),
  turns: async (body: string, canvas: string): Promise<Turn[]> => turns(await engine, body, canvas),
};

Object.assign(globalThis, { cases });
export type Cases = typeof cases;
