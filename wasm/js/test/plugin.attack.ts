// The program of one attack: runs a canvas with a hostile plugin, from the file in its arguments,
// in an engine of its own, and prints the code and what it cost this process.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { createEngine } from "../src/node.ts";

/** Cost is what an attack took beyond a started engine: processor time and, at its peak, memory. */
export interface Cost {
  code: string;
  message: string;
  seconds: number;
  mb: number;
}

const [, , file, wasm, runtime] = process.argv as [string, string, string, string, string];
const node = (component: string, params: object, upstream: string[], downstream: string[]): object =>
  ({ obj: { component_name: component, params }, upstream, downstream });
const dsl = { components: {
  begin: node("Begin", {}, [], ["P"]),
  P: node("plugin:sample@1", {}, ["begin"], ["M"]),
  M: node("Message", { content: ["{P@text}"] }, ["P"], []),
} };

const engine = await createEngine({
  wasm, runtime: pathToFileURL(runtime), worker: new URL("../src/worker.node.ts", import.meta.url),
  pluginWorker: new URL("../src/plugin/kernel.node.ts", import.meta.url),
});
const before = process.cpuUsage();
const idle = process.memoryUsage.rss() / 1024;
let failure: { code?: string; message: string } | undefined;
try {
  await engine.use([new Uint8Array(readFileSync(file))]);
  failure = (await engine.run(dsl as never, "x").result).error;
} catch (err) {
  failure = err as Error & { code?: string };
}
const { user, system } = process.cpuUsage(before);
const cost: Cost = {
  code: failure ? failure.code ?? "none" : "", message: failure?.message ?? "",
  seconds: (user + system) / 1e6, mb: (process.resourceUsage().maxRSS - idle) / 1024,
};
console.log(JSON.stringify(cost));
process.exit(0); // also with a Worker that computes
