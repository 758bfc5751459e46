// The toy in a worker thread of Node.

import { parentPort } from "node:worker_threads";
import { serve, type ToWorker } from "../../src/worker.ts";
import { toy } from "./module.ts";

serve({
  post: (message) => parentPort?.postMessage(message),
  listen: (receive) => parentPort?.on("message", (message: ToWorker) => receive(message)),
}, async ({ wasm }, host) => {
  if (wasm === "broken") throw new Error("no module here");
  return toy(host);
});
