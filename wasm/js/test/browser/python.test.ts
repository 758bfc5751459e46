// Python in Chromium: the contract of scripts, the same cases as on the server
// (host/internal/code), and scripts that try to leave their Worker.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { PythonPage } from "./python.page.ts";
import { missing, raise, type Stage } from "./stage.ts";

interface Case {
  name: string;
  python: string;
  arguments?: unknown;
  result?: unknown;
  text?: string;
  stdout?: string;
  stderr?: string;
  stderr_has?: string[];
  python_stderr?: string;
  python_stderr_has?: string[];
  limit?: string;
  artifacts?: { name: string; mime_type: string; size: number }[];
}

/** Answer is the result of the guest for one case. */
interface Answer {
  text?: string;
  error: string;
  limit?: string;
  stdout: string;
  stderr: string;
  artifacts?: { name: string; mime_type: string; size: number }[];
}

const file = new URL("../../../../host/internal/code/testdata/contract.json", import.meta.url);
const contract = readFileSync(file, "utf8");
const cases = (JSON.parse(contract) as Case[]).filter((each) => each.python);
const pyodide = fileURLToPath(new URL("../../node_modules/pyodide/", import.meta.url));

// wellFormed replaces lone surrogates, as the engine does when it reads JSON.
const wellFormed = (_: string, v: unknown): unknown => (typeof v === "string" ? Buffer.from(v).toString() : v);

describe("Python in Chromium", { skip: missing, timeout: 1_200_000 }, () => {
  let stage: Stage, page: Page, faults: string[];
  before(async () => {
    const files = Object.fromEntries(readdirSync(pyodide).map((name) => ["pyodide/" + name, pyodide + name]));
    stage = await raise(["python.page.ts", "../../src/code/python.worker.ts"], files);
    ({ page, faults } = await stage.open());
  });
  after(() => stage?.close());

  const call = (script: string, args = "{}", how: { hasty?: boolean; abort?: boolean } = {}) =>
    page.evaluate(([s, a, h]) => (globalThis as unknown as { python: PythonPage }).python.call(s, a, h),
      [script, args, how] as const);

  // argumentsOf returns the arguments with the digits that the file has.
  const argumentsOf = ({ name, arguments: args }: Case): string =>
    (name === "large integers keep their digits" ? '{"n": 12345678901234567890123}' : JSON.stringify(args ?? {}));

  // An interpreter takes seconds to start, so all cases run in one, each by the guest's function.
  const batch = `
import __main__, contextlib, io, json, os, shutil

def one(call):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        rest = json.dumps({"script": call[0], "output": 8 << 20, "files": 16 << 20, "text": True})
        answer = json.loads(__main__.run('{"arguments": ' + call[1] + ', ' + rest[1:]))
    for name in os.listdir('artifacts'):
        path = os.path.join('artifacts', name)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    return dict(answer, stdout=out.getvalue(), stderr=err.getvalue())

def main(calls):
    import builtins
    fresh = not hasattr(builtins, 'mark') and not os.path.exists('mark')
    return dict(fresh=fresh, answers=[one(call) for call in calls])
`;

  test("a script gives a result, output and artifacts", async () => {
    const script = "import builtins\nbuiltins.mark = 1\nopen('mark', 'w').close()\n" +
      "def main(n):\n    print('log')\n    open('artifacts/a.csv', 'w').write('1,2')\n    return [n, n + 1]";
    const { result_json, stdout, stderr, artifacts } = await call(script, '{"n": 12345678901234567890123}');
    assert.equal(result_json, "[12345678901234567890123, 12345678901234567890124]");
    assert.equal(stdout, "log\n");
    assert.equal(stderr, "");
    assert.deepEqual(artifacts, [{ name: "a.csv", mime_type: "text/csv", size: 3, url: "data:text/csv;base64,MSwy" }]);
  });

  test("the contract of scripts", async () => {
    const calls = cases.map((each) => [each.python, argumentsOf(each)]);
    const { result, stderr, message } = await call(batch, JSON.stringify({ calls }));
    assert.ok(result, message ?? stderr);
    const { fresh, answers } = result as { fresh: boolean; answers: Answer[] };
    assert.ok(fresh, "scripts share something");
    for (const [i, each] of cases.entries()) {
      const got = answers[i] as Answer, told = `${each.name}: ${JSON.stringify(got)}`;
      if (each.limit) {
        assert.match(got.limit ?? "", new RegExp(each.limit), told);
        continue;
      }
      assert.equal(got.limit, undefined, told);
      if (each.text) assert.equal(got.text, each.text, told);
      else assert.equal(JSON.stringify(JSON.parse(got.text ?? "null", wellFormed)), JSON.stringify(each.result), told);
      assert.equal(got.stdout, each.stdout ?? "", told);
      const errors = got.stderr + got.error;
      const has = [...each.stderr_has ?? [], ...each.python_stderr_has ?? []];
      for (const part of has) assert.ok(errors.includes(part), told);
      if (has.length === 0) assert.equal(errors, each.python_stderr ?? each.stderr ?? "", told);
      const artifacts = (got.artifacts ?? []).map(({ name, mime_type, size }) => ({ name, mime_type, size }));
      assert.deepEqual(artifacts, each.artifacts ?? [], told);
    }
  });

  // Each expression is true if it can access what a script must not access.
  const beyond = {
    "fetch": "bool(js.fetch)",
    "XMLHttpRequest": "js.XMLHttpRequest.new()",
    "WebSocket": "js.WebSocket.new('ws://127.0.0.1')",
    "indexedDB": "js.indexedDB.open('x')",
    "caches": "js.caches.keys()",
    "another Worker": "js.Worker.new('x.js')",
    "importScripts": "js.importScripts('x.js')",
    "navigator": "js.navigator.userAgent",
    "a message to the page": "js.postMessage('forged')",
    "eval": "js.eval('1')",
    "Function": "js.Function.new('return 1')()",
    "the constructor of functions": "js.Object.constructor('return 1')()",
    "the scope's own prototype": "js.Object.getPrototypeOf(js.self).fetch('x')",
    "code of Pyodide": "__import__('pyodide').code.run_js('1 + 1')",
    "a timer with code": "js.setTimeout('1', 0)",
    "a request of Pyodide": "__import__('pyodide.http').http.open_url('index.html').read()",
    "a request of the library": "__import__('urllib.request').request.urlopen('http://127.0.0.1/').read()",
    "a socket": "__import__('socket').create_connection(('127.0.0.1', 80))",
    "a process": "__import__('subprocess').run(['id'])",
    "a fork": "__import__('os').fork()",
    "a file of the host": "open('/etc/passwd').read().startswith('root')",
    "600 MB": "bytearray(600 << 20)",
  };

  test("a script cannot leave its Worker", async () => {
    const script = `import js
def attempt(expression):
    try:
        return repr(eval(expression))
    except BaseException as e:
        return "refused: " + type(e).__name__
def main(expressions):
    return [attempt(e) for e in expressions]`;
    const { result, message, stderr } = await call(script, JSON.stringify({ expressions: Object.values(beyond) }));
    assert.ok(result, message ?? stderr);
    for (const [i, name] of Object.keys(beyond).entries()) {
      assert.match((result as string[])[i] ?? "", name === "fetch" ? /^False$|^refused/ : /^refused/, name);
    }
  });

  test("a script that never ends is stopped", async () => {
    const endless = "def main():\n  while True:\n    try:\n      while True: pass\n    except BaseException: pass";
    const got = await call(endless, "{}", { hasty: true });
    assert.equal(got.code, "timeout", JSON.stringify(got));
    assert.match(got.message ?? "", /ran longer than 300 ms/);
    assert.equal((await call(endless, "{}", { abort: true })).code, "canceled");
  });

  test("the page reports no errors", () => assert.deepEqual(faults, []));
});
