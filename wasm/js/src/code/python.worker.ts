// The Worker in which a script in Python runs: one interpreter, one script. The first message has
// the address of Pyodide's files, the second one is the script.

import { loadPyodide } from "pyodide";
import { info } from "pyodide/pyodide-lock.json";
import { EngineError, messageOf } from "../errors.ts";
import { guest } from "./guest.ts";
import { limitMemory, lockDown } from "./lockdown.ts";
import { limits, type Interpreter, type PythonCall, type PythonReply, type PythonStart } from "./python.ts";
import { Printer } from "./printer.ts";

let interpreter: Interpreter | undefined;
const post = globalThis.postMessage.bind(globalThis) as (message: unknown) => void;

onmessage = async (event: MessageEvent<PythonStart | PythonCall>) => {
  try {
    if ("files" in event.data) {
      interpreter = await start(event.data);
      post({ ok: true });
    } else if (interpreter) {
      post({ ok: true, answer: interpreter(event.data) });
    }
  } catch (err) {
    post({ ok: false, failure: EngineError.from(err, "code").failure() });
  }
};

/** start loads the interpreter and removes from this Worker what a script must not access. */
async function start({ files, memory }: PythonStart): Promise<Interpreter> {
  limitMemory(memory);
  const out = new Printer(limits.output), errors = new Printer(limits.output);
  // Only the standard library is available: there are no packages to load.
  const pyodide = await loadPyodide({ indexURL: files, lockFileContents: JSON.stringify({ info, packages: {} }) });
  const write = (to: Printer) => ({
    isatty: false,
    write: (bytes: Uint8Array): number => {
      to.write(bytes);
      return bytes.length;
    },
  });
  pyodide.setStdout(write(out));
  pyodide.setStderr(write(errors));
  pyodide.setStdin({ error: false, stdin: () => null } as never);
  pyodide.runPython(guest);
  pyodide.runPython("import os\nos.makedirs('/work/artifacts')\nos.chdir('/work')");
  const run = pyodide.globals.get("run") as (call: string) => string;
  lockDown();
  return (call) => {
    const rest = JSON.stringify({ script: call.script, output: limits.output, files: limits.files, text: true });
    const reply: Partial<PythonReply> = {};
    try {
      reply.answer = run(`{"arguments":${call.arguments},${rest.slice(1)}`);
    } catch (err) { // the interpreter itself has failed
      reply.ended = messageOf(err);
    }
    return { ...reply, stdout: out.text(), stderr: errors.text() };
  };
}
