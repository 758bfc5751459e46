// The Worker in which a script in Python runs: one interpreter, one script. The first message says
// where the files of Pyodide are, the second one is the script.

import { loadPyodide } from "pyodide";
import { info } from "pyodide/pyodide-lock.json";
import { EngineError } from "../errors.ts";
import { guest } from "./guest.ts";
import { limitMemory, lockDown } from "./lockdown.ts";
import { limits, type Interpreter, type PythonCall, type PythonStart } from "./python.ts";
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

/** start loads the interpreter and takes everything from this Worker that a script must not reach. */
async function start({ files, memory }: PythonStart): Promise<Interpreter> {
  limitMemory(memory);
  const out = new Printer(limits.output), errors = new Printer(limits.output);
  // The standard library is all there is: there are no packages to load.
  const pyodide = await loadPyodide({ indexURL: files, lockFileContents: JSON.stringify({ info, packages: {} }) });
  const write = (to: Printer) => ({ write: (bytes: Uint8Array) => { to.write(bytes); return bytes.length; }, isatty: false });
  pyodide.setStdout(write(out));
  pyodide.setStderr(write(errors));
  pyodide.setStdin({ error: false, stdin: () => null } as never);
  pyodide.runPython(guest);
  pyodide.runPython("import os\nos.makedirs('/work/artifacts')\nos.chdir('/work')");
  const run = pyodide.globals.get("run") as (call: string) => string;
  lockDown();
  return (call) => {
    let answer: string;
    try {
      answer = run(`{"script":${JSON.stringify(call.script)},"arguments":${call.arguments},"output":${limits.output},"files":${limits.files},"text":true}`);
    } catch (err) { // the interpreter itself is at its end
      return { answer: undefined, stdout: out.text(), stderr: errors.text(), ended: err instanceof Error ? err.message : String(err) };
    }
    return { answer, stdout: out.text(), stderr: errors.text() };
  };
}
