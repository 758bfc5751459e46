// Runs scripts in Python: CPython compiled to WebAssembly (Pyodide), in a new Worker for each
// script, which is terminated at the time limit. The contract is the same as on the server.

import { EngineError } from "../errors.ts";
import type { Artifact, CodeAnswer, CodeRequest, CodeRunner } from "../ports.ts";
import type { Failure } from "../protocol.ts";

/** PythonOptions are the addresses of the Worker's script and of Pyodide, and limits of scripts. */
export interface PythonOptions {
  /** Folder with pyodide.asm.mjs, pyodide.asm.wasm and python_stdlib.zip of the package pyodide. */
  files: URL | string;
  worker?: URL | string;
  /** Milliseconds, default 10,000; the start of the interpreter does not count. */
  timeout?: number;
  /** Bytes, default 256 MB. */
  memory?: number;
}

/** Limits of a script: milliseconds, bytes (output is each channel and the result), characters. */
export const limits = { timeout: 10_000, memory: 256 << 20, output: 8 << 20, files: 16 << 20, script: 256 << 10 };

/** PythonStart is the first message to the Worker. */
export interface PythonStart { files: string; memory: number }

/** PythonCall is the second one; the arguments are JSON, so that numbers keep their digits. */
export interface PythonCall { script: string; arguments: string }

/**
 * PythonReply is the reply of an interpreter: the JSON of the guest, or the reason for its absence.
 */
export interface PythonReply { answer?: string; stdout: string; stderr: string; ended?: string }

/** Interpreter runs one script. */
export type Interpreter = (call: PythonCall) => PythonReply;

type Message = { ok: true; answer?: PythonReply } | { ok: false; failure: Failure };

const startLimit = 120_000; // milliseconds

/** python returns a CodeRunner. Nothing is loaded before the first script. */
export function python(options: PythonOptions): CodeRunner {
  const memory = options.memory ?? limits.memory;
  const script = options.worker ?? new URL("./python.worker.js", import.meta.url);
  let waiting: Session | undefined;
  const start = (): Session => new Session(script, { files: folder(options.files), memory });
  return async (request, { signal }) => {
    const { length } = request.script;
    if (length > limits.script) {
      throw new EngineError("limit_reached", `a script of ${length} characters: at most ${limits.script} are accepted`);
    }
    const session = waiting ?? start();
    waiting = undefined;
    const stop = (): void => session.end(new EngineError("canceled", "the script was stopped"));
    signal.addEventListener("abort", stop, { once: true });
    try {
      await session.ready;
      const args = request.arguments_json ?? JSON.stringify(request.arguments ?? {});
      const timeout = request.timeout ?? options.timeout ?? limits.timeout;
      const reply = await session.run({ script: request.script, arguments: args }, timeout);
      return answered(reply, memory);
    } finally {
      signal.removeEventListener("abort", stop);
      session.end(new EngineError("closed", "the script is over"));
      if (session.started && !waiting) {
        waiting = start();
        waiting.ready.catch(() => { waiting = undefined; }); // the next script reports it
      }
    }
  };
}

function folder(files: URL | string): string {
  const address = new URL(files, globalThis.location?.href).href;
  return address.endsWith("/") ? address : address + "/";
}

/** Session is a Worker with one interpreter. */
class Session {
  readonly ready: Promise<void>;
  started = false;
  readonly #worker: Worker;
  #reject: (error: EngineError) => void = () => {};

  constructor(script: URL | string, first: PythonStart) {
    this.#worker = new Worker(script, { type: "module", name: "easel python" });
    this.ready = this.#ask(first, startLimit, "Python did not start within").then(() => { this.started = true; });
    this.ready.catch(() => {}); // the script reports it
  }

  async run(call: PythonCall, timeout: number): Promise<PythonReply> {
    const message = await this.#ask(call, timeout, "the script ran longer than");
    if (!message.answer) throw new EngineError("code", "Python gave no answer");
    return message.answer;
  }

  end(error: EngineError): void {
    this.#worker.terminate();
    this.#reject(error);
  }

  #ask(message: PythonStart | PythonCall, timeout: number, over: string): Promise<Message & { ok: true }> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.end(new EngineError("timeout", `${over} ${timeout} ms`)), timeout);
      this.#reject = (error) => {
        clearTimeout(timer);
        reject(error);
      };
      this.#worker.onerror = ({ message: why }) => {
        this.end(new EngineError("code", "Python failed: " + (why || "its files did not load")));
      };
      this.#worker.onmessage = ({ data }: MessageEvent<Message>) => {
        clearTimeout(timer);
        if (data.ok) resolve(data);
        else reject(EngineError.ofFailure(data.failure));
      };
      this.#worker.postMessage(message);
    });
  }
}

interface Guest {
  text?: string; // what main returned, as JSON
  error: string;
  limit?: string;
  memory?: boolean;
  artifacts?: { name: string; mime_type: string; size: number; content_b64: string }[];
}

/** answered converts the reply of the interpreter to that of the port. */
function answered(reply: PythonReply, memory: number): CodeAnswer {
  const { stdout, stderr } = reply;
  const before = stderr === "" || stderr.endsWith("\n") ? stderr : stderr + "\n";
  if (reply.answer === undefined) {
    return { result: null, stdout, stderr: `${before}the script ended the interpreter: ${reply.ended ?? ""}\n` };
  }
  const guest = JSON.parse(reply.answer) as Guest;
  if (guest.memory) {
    const most = `${memory >> 20} MB of memory`;
    throw new EngineError("limit_reached", `script: it needs more than ${most}, or its code nests too deep`);
  }
  if (guest.limit) throw new EngineError("limit_reached", "script: " + guest.limit);
  if (guest.error) return { result: null, stdout, stderr: before + guest.error };
  const artifacts: Artifact[] = (guest.artifacts ?? []).map(({ name, mime_type, size, content_b64 }) => ({
    name, mime_type, size, url: `data:${mime_type};base64,${content_b64}`,
  }));
  const text = guest.text ?? "null";
  const answer: CodeAnswer = { result: JSON.parse(text) as unknown, result_json: text, stdout, stderr };
  if (artifacts.length > 0) answer.artifacts = artifacts;
  return answer;
}

/** scripts runs each script by the runner for its language. */
export function scripts(runners: { javascript?: CodeRunner; python?: CodeRunner }): CodeRunner {
  return (request: CodeRequest, context) => {
    const runner = /^python3?$/.test(request.lang) ? runners.python : runners.javascript;
    if (!runner) return Promise.reject(new EngineError("unsupported", `scripts in ${request.lang} cannot run here`));
    return runner(request, context);
  };
}
