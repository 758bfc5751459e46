// The program of one attack: runs a canvas with the hostile plugin in the file of its argument, in
// a new engine, and prints the code and the cost to this process.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { createEngine } from "../src/node.ts";

/** Cost of an attack on top of a started engine: processor time, and memory at its peak. */
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
