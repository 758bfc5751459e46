// Runs scripts of Code nodes in a separate Worker. The sandbox stops a script that runs too long;
// if that fails, the Worker is terminated.

import { EngineError } from "../errors.ts";
import type { CodeAnswer, CodeRunner } from "../ports.ts";
import type { Failure } from "../protocol.ts";

/** SandboxOptions are the address of the Worker's script and limits of scripts. */
export interface SandboxOptions {
  worker?: URL | string;
  /** Milliseconds, default 10,000. */
  timeout?: number;
  /** Bytes, default 64 MB. */
  memory?: number;
}

type Reply = { ok: true; answer: CodeAnswer } | { ok: false; failure: Failure };

const grace = 1_000; // milliseconds between the script's limit and the end of its Worker

/** sandbox returns a CodeRunner; nothing is loaded before the first script. */
export function sandbox(options: SandboxOptions = {}): CodeRunner {
  const idle: Worker[] = [];
  const script = options.worker ?? new URL("./worker.js", import.meta.url);
  return (request, { signal }) => new Promise((resolve, reject) => {
    const worker = idle.pop() ?? new Worker(script, { type: "module", name: "easel code" });
    const timeout = request.timeout ?? options.timeout ?? 10_000;
    const kill = (error: EngineError): void => {
      clearTimeout(timer);
      worker.terminate();
      reject(error);
    };
    // The first script also waits until QuickJS is loaded.
    const timer = setTimeout(
      () => kill(new EngineError("timeout", `the script ran longer than ${timeout} ms`)),
      timeout + grace + (idle.length ? 0 : 5_000),
    );
    const stop = (): void => kill(new EngineError("canceled", "the script was stopped"));
    signal.addEventListener("abort", stop, { once: true });
    worker.onmessage = (event: MessageEvent<Reply>) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      if (event.data.ok) {
        idle.push(worker);
        resolve(event.data.answer);
      } else {
        worker.terminate(); // a failed script may have left its state behind
        reject(EngineError.ofFailure(event.data.failure));
      }
    };
    worker.onerror = (event) =>
      kill(new EngineError("code", "the sandbox failed: " + (event.message || "its script did not load")));
    worker.postMessage({ ...request, timeout, memory: request.memory ?? options.memory });
  });
}
