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

const contract = readFileSync(new URL("../../../../host/internal/code/testdata/contract.json", import.meta.url), "utf8");
const cases = (JSON.parse(contract) as Case[]).filter((each) => each.python);
const pyodide = fileURLToPath(new URL("../../node_modules/pyodide/", import.meta.url));

describe("Python in Chromium", { skip: missing, timeout: 1_200_000 }, () => {
  let stage: Stage, page: Page, faults: string[];
  before(async () => {
    const files = Object.fromEntries(readdirSync(pyodide).map((name) => ["pyodide/" + name, pyodide + name]));
    stage = await raise(["python.page.ts", "../../src/code/python.worker.ts"], files);
    ({ page, faults } = await stage.open());
  });
  after(() => stage?.close());

  const call = (script: string, args = "{}", how: { hasty?: boolean; abort?: boolean } = {}) =>
    page.evaluate(([s, a, h]) => (globalThis as unknown as { python: PythonPage }).python.call(s, a, h), [script, args, how] as const);

  // argumentsOf gives the arguments with the digits that the file has.
  const argumentsOf = ({ name, arguments: args }: Case): string =>
    (name === "large integers keep their digits" ? '{"n": 12345678901234567890123}' : JSON.stringify(args ?? {}));

  for (const each of cases) {
    test(each.name, async () => {
      const got = await call(each.python, argumentsOf(each));
      if (each.limit) {
        assert.equal(got.code, "limit_reached", JSON.stringify(got));
        assert.match(got.message ?? "", new RegExp(each.limit));
        return;
      }
      assert.equal(got.code, undefined, got.message);
      if (each.text) assert.equal(got.result_json, each.text, got.stderr);
      else assert.equal(JSON.stringify(got.result), JSON.stringify(each.result), got.stderr);
      assert.equal(got.stdout, each.stdout ?? "");
      const has = [...each.stderr_has ?? [], ...each.python_stderr_has ?? []];
      for (const part of has) assert.ok(got.stderr?.includes(part), got.stderr);
      if (has.length === 0) assert.equal(got.stderr, each.python_stderr ?? each.stderr ?? "");
      const artifacts = (got.artifacts ?? []).map(({ name, mime_type, size }) => ({ name, mime_type, size }));
      assert.deepEqual(artifacts, each.artifacts ?? []);
    });
  }

  test("an artifact is a data URL", async () => {
    const got = await call("def main():\n    open('artifacts/a.csv', 'w').write('1,2')");
    assert.equal(got.artifacts?.[0]?.url, "data:text/csv;base64,MSwy");
  });

  for (const [name, script] of Object.entries({
    "while True": "def main():\n    while True: pass",
    "while True that catches everything": "def main():\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "a large power": "def main(): return 10**10**8",
    "a regular expression": "import re\ndef main(): return re.match('(a+)+$', 'a' * 64 + 'b')",
    "endless output": "def main():\n    while True: print('x' * 1000)",
  })) {
    test(`${name} ends at the limit of time`, async () => {
      const got = await call(script, "{}", { hasty: true });
      assert.equal(got.code, "timeout", JSON.stringify(got));
      assert.match(got.message ?? "", /ran longer than 300 ms/);
    });
  }

  test("an abort ends a script", async () => {
    assert.equal((await call("def main():\n    while True: pass", "{}", { abort: true })).code, "canceled");
  });

  test("600 MB are refused", async () => {
    assert.equal((await call("def main(): return len(bytearray(600 << 20))")).code, "limit_reached");
    assert.equal((await call("def main():\n    a = []\n    while True: a.append(bytes(1 << 20))")).code, "limit_reached");
  });

  // Each expression reaches for what a script must not have; its value is true if it gets it.
  for (const [name, expression] of Object.entries({
    "fetch": "hasattr(__import__('js'), 'fetch') and __import__('js').fetch is not None",
    "XMLHttpRequest": "__import__('js').XMLHttpRequest.new()",
    "WebSocket": "__import__('js').WebSocket.new('ws://127.0.0.1')",
    "indexedDB": "__import__('js').indexedDB.open('x')",
    "caches": "__import__('js').caches.keys()",
    "another Worker": "__import__('js').Worker.new('x.js')",
    "importScripts": "__import__('js').importScripts('x.js')",
    "navigator": "__import__('js').navigator.userAgent",
    "a message to the page": "__import__('js').postMessage('forged')",
    "eval": "__import__('js').eval('1')",
    "Function": "__import__('js').Function.new('return 1')()",
    "the constructor of functions": "__import__('js').Object.constructor('return 1')()",
    "the scope's own prototype": "__import__('js').Object.getPrototypeOf(__import__('js').self).fetch('x')",
    "code of Pyodide": "__import__('pyodide').code.run_js('1 + 1')",
    "a timer with code": "__import__('js').setTimeout('1', 0)",
    "a request of Pyodide": "__import__('pyodide.http').http.open_url('index.html').read()",
    "a request of the library": "__import__('urllib.request').request.urlopen('http://127.0.0.1/').read()",
    "a socket": "__import__('socket').create_connection(('127.0.0.1', 80))",
    "a process": "__import__('subprocess').run(['id'])",
    "a fork": "__import__('os').fork()",
    "a file of the host": "open('/etc/passwd').read().startswith('root')",
  })) {
    test(`a script cannot reach ${name}`, async () => {
      const got = await call(`def main():\n    try:\n        return bool(${expression})\n    except BaseException as e:\n        return type(e).__name__`);
      assert.notEqual(got.result, true, JSON.stringify(got));
      assert.notEqual(got.result, null, JSON.stringify(got));
    });
  }

  test("scripts share nothing", async () => {
    await call("import builtins\nbuiltins.mark = 1\nopen('mark', 'w').close()\ndef main(): pass");
    const got = await call("import builtins, os\ndef main(): return [hasattr(builtins, 'mark'), os.path.exists('mark')]");
    assert.deepEqual(got.result, [false, false]);
  });

  test("the page complains about nothing", () => assert.deepEqual(faults, []));
});
