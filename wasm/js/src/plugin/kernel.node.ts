// The script of a plugin's worker thread in Node.

import { parentPort } from "node:worker_threads";
import { serve, type ToKernel } from "./kernel/serve.ts";

serve({
  post: (message) => parentPort?.postMessage(message),
  listen: (receive) => parentPort?.on("message", (message: ToKernel) => receive(message)),
});
