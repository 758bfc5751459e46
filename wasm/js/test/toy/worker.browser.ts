// The toy in a page's Worker, instead of the wasm module.

import { serve, type ToWorker } from "../../src/worker.ts";
import { toy } from "./module.ts";

serve({
  post: (message) => postMessage(message),
  listen: (receive) => { onmessage = (event: MessageEvent<ToWorker>) => receive(event.data); },
}, async (_init, host) => toy(host, { pace: 60 }));
