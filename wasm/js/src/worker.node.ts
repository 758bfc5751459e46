// The script of the engine's worker thread in Node.

import { parentPort } from "node:worker_threads";
import { compile } from "./platform.node.ts";
import { wasmStarter } from "./wasm.ts";
import { serve, type ToWorker } from "./worker.ts";

serve({
  post: (message) => parentPort?.postMessage(message),
  listen: (receive) => parentPort?.on("message", (message: ToWorker) => receive(message)),
}, wasmStarter(compile));
