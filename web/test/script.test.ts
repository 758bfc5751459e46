// The line of a script that failed, as the runners write it, and the text of a new script.

import assert from "node:assert/strict";
import { test } from "node:test";
import { failingLine, skeleton } from "../canvas/script.ts";
import type { Host } from "../run/host.ts";
import { ScriptLanguages } from "../run/script-languages.ts";

test("the line that an error names is that of the innermost call in the script", () => {
  const python = `Traceback (most recent call last):
  File "main.py", line 2, in main
    return half(x)
  File "main.py", line 5, in half
    return json.loads(x)
  File "/lib/json/__init__.py", line 346, in loads
json.decoder.JSONDecodeError: Expecting value`;
  const cases: [string, number | undefined][] = [
    [python, 5],
    [`File "main.py", line 1\n    def main(qty)\n                 ^\nSyntaxError: expected ':'`, 1],
    ["TypeError: no property 'z'\n\tat part (script.js:3:14(12))\n\tat main (script.js:9:3(2))", 3],
    ["SyntaxError: SyntaxError: script.js: Line 4:17 Unexpected token ;", 4],
    ["TypeError: cannot read property 'z' of undefined\n    at main (script.js:7)\n", 7],
    ["the script ran longer than 10000 ms", undefined],
    ["my own text of export.js:3", undefined],
  ];
  for (const [error, line] of cases) assert.equal(failingLine(error), line, error);
});

test("a new script gets the inputs that can be names", () => {
  assert.equal(skeleton("python", ["qty", "price", "not a name"]), "def main(qty, price):\n    return qty\n");
  assert.equal(skeleton("javascript", ["qty"]), "function main({ qty }) {\n  return qty;\n}\n");
  assert.equal(skeleton("python", []), "def main():\n    return None\n");
  assert.equal(skeleton("javascript", []), "function main() {\n  return null;\n}\n");
});

test("two forms that ask for Python at the same time get one installation", async () => {
  const languages = new ScriptLanguages();
  const sent: string[] = [];
  let end = (_answer: object): void => undefined;
  const request = ((method: string): Promise<unknown> => {
    sent.push(method);
    if (method === "GET") return Promise.resolve({ items: [] });
    return new Promise((resolve) => { end = resolve; });
  }) as Host["request"];
  const both = [languages.install({ request }), languages.install({ request })];
  end({ ok: false, error: "no space" });
  for (const each of both) await assert.rejects(each, /no space/);
  assert.deepEqual(sent, ["POST"]);
  const again = languages.install({ request });
  end({ ok: true });
  await again;
  assert.deepEqual(sent, ["POST", "POST", "GET"], "a failed installation can be repeated");
});
