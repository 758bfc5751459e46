// A kernel in this thread, for environments without Workers and for programs that run one
// plugin. A plugin that computes blocks the thread until its deadline.

import { serve, type FromKernel, type ToKernel } from "./kernel/serve.ts";
import type { KernelLine } from "./runner.ts";

/** inline runs the kernel in this thread. */
export function inline(): KernelLine {
  let toKernel: (message: ToKernel) => void = () => undefined;
  let toOwner: (message: FromKernel) => void = () => undefined;
  serve({
    post: (message) => queueMicrotask(() => toOwner(message)),
    listen: (receive) => { toKernel = receive; },
  });
  return {
    post: (message) => queueMicrotask(() => toKernel(message)),
    listen: (receive) => { toOwner = receive; },
    end: () => {
      toOwner = () => undefined;
      toKernel({ t: "cancel" }); // a call that waits ends, with the timer of its deadline
    },
  };
}
