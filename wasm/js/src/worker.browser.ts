// The script of the engine's Worker in a page.

import { compileAny, wasmStarter } from "./wasm.ts";
import { serve, type ToWorker } from "./worker.ts";

serve({
  post: (message) => postMessage(message),
  listen: (receive) => { onmessage = (event: MessageEvent<ToWorker>) => receive(event.data); },
}, wasmStarter(compileAny));
