// The script of a plugin's Worker in a page.

import { serve, type ToKernel } from "./kernel/serve.ts";

serve({
  post: (message) => postMessage(message),
  listen: (receive) => { onmessage = (event: MessageEvent<ToKernel>) => receive(event.data); },
});
