// Functions of the page of the tests of Python; tests call them through `python`.

import { python as runner } from "../../src/code/python.ts";
import type { CodeAnswer, CodeRequest } from "../../src/ports.ts";

const at = (name: string): URL => new URL(name, location.href);
const run = runner({ files: at("pyodide/"), worker: at("python.worker.js") });
const hasty = runner({ files: at("pyodide/"), worker: at("python.worker.js"), timeout: 300 });

type Outcome = CodeAnswer & { code?: string; message?: string };

const python = {
  /** call runs a script and returns its answer, or the code and message of the error. */
  async call(script: string, args: string, how: { hasty?: boolean; abort?: boolean } = {}): Promise<Outcome> {
    const aborter = new AbortController();
    const request: CodeRequest = { lang: "python", script, arguments: {}, arguments_json: args };
    if (how.abort) setTimeout(() => aborter.abort(), 50);
    try {
      return await (how.hasty ? hasty : run)(request, { signal: aborter.signal });
    } catch (err) {
      const { code, message } = err as { code: string; message: string };
      return { result: null, code, message };
    }
  },
};

export type PythonPage = typeof python;
(globalThis as unknown as { python: PythonPage }).python = python;
