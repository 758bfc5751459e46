// Measures the module in this Node: start, memory at rest, and what an event costs on its way from Go, beside
// JSON.parse of the same bytes. Run: node --import ./test/strip.mjs test/measure/main.mjs FOLDER (of build/module)

import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { Client } from "../../src/client.ts";
import { instantiate } from "../../src/abi.ts";

const folder = process.argv[2] ?? "../dist";
await import(pathToFileURL(resolve(folder, "wasm_exec.js")).href);
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const module = await WebAssembly.compile(readFileSync(join(folder, "engine.wasm")));

async function open() {
  const go = new globalThis.Go();
  const client = new Client();
  let memory;
  const real = WebAssembly.instantiate;
  WebAssembly.instantiate = async (...given) => { const i = await real.apply(WebAssembly, given); memory = i.exports.mem; return i; };
  client.attach(await instantiate(module, go, client, () => undefined));
  WebAssembly.instantiate = real;
  await client.request({ op: "info" });
  return { client, memory };
}

const starts = [];
let engine;
for (let i = 0; i < 10; i++) {
  const began = performance.now();
  engine = await open();
  starts.push(performance.now() - began);
}
console.log(`start to first answer    ${median(starts).toFixed(1)} ms (compiled module)`);
console.log(`memory at rest           ${(engine.memory.buffer.byteLength / 2 ** 20).toFixed(1)} MB`);

// A chain of Message nodes that say what they are: 4 events each.
const nodes = 200;
const components = { begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Message:0"], upstream: [] } };
for (let i = 0; i < nodes; i++) {
  components[`Message:${i}`] = { obj: { component_name: "Message", params: { content: [`this is node ${i} of a long chain, it says {sys.query}`] } }, downstream: i + 1 < nodes ? [`Message:${i + 1}`] : [], upstream: [] };
}
const { client, memory } = engine;
const canvas = JSON.parse(await client.request({ op: "load" }, JSON.stringify({ components }))).canvas;
console.log(`memory with 200 nodes    ${(memory.buffer.byteLength / 2 ** 20).toFixed(1)} MB`);
const costs = [], parses = [];
let events = 0, bytes = 0, batches = 0;
for (let turn = 0; turn < 15; turn++) {
  await client.request({ op: "reset", canvas });
  const texts = [];
  const began = performance.now();
  await new Promise((resolve, reject) => client.start({ canvas, query: "hi", ports: [] }, {
    events: (text) => texts.push(text), call: () => undefined, done: resolve, failed: reject,
  }));
  const took = performance.now() - began;
  const lines = texts.join("\n").split("\n");
  const parse = performance.now();
  const parsed = lines.map((line) => JSON.parse(line));
  const parsing = performance.now() - parse;
  events = parsed.length;
  batches = texts.length;
  bytes = texts.join("\n").length;
  costs.push((took / events) * 1000);
  parses.push((parsing / events) * 1000);
}
console.log(`run of ${nodes} nodes         ${((median(costs) * events) / 1000).toFixed(1)} ms, ${events} events in ${batches} batches, ${(bytes / events).toFixed(0)} bytes each`);
console.log(`an event, run and all    ${median(costs).toFixed(1)} us`);
console.log(`JSON.parse of it         ${median(parses).toFixed(1)} us`);
console.log(`memory after the runs    ${(memory.buffer.byteLength / 2 ** 20).toFixed(1)} MB`);

const echoed = [];
const decoder = new TextDecoder(), text = new TextEncoder().encode("x".repeat(360 * 64));
for (let i = 0; i < 200; i++) { const t = performance.now(); decoder.decode(text); echoed.push((performance.now() - t) * 1000 / 64); }
console.log(`crossing alone           ${median(echoed).toFixed(2)} us per event of 360 bytes, in batches of 64`);
process.exit(0);
