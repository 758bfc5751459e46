// A Python script runs in the page, and its interpreter is loaded only for it.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { allow, ask, missing, raise, type Stage } from "./stage.ts";

const canvas = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["CodeExec:Sum"], upstream: [] },
    "CodeExec:Sum": {
      obj: {
        component_name: "CodeExec",
        params: {
          lang: "python", script: "def main(text):\n    return sum(int(n) for n in text.split()) ** 12",
          arguments: { text: "sys.query" }, outputs: { result: { type: "Number" } },
        },
      },
      downstream: ["Message:Out"], upstream: ["begin"],
    },
    "Message:Out": {
      obj: { component_name: "Message", params: { content: ["It is {CodeExec:Sum@result}"] } },
      downstream: [], upstream: ["CodeExec:Sum"],
    },
  },
};

describe("Python in the page", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  test("a canvas runs a script with all digits of its numbers", async () => {
    const { page, done } = await stage.visit();
    const asked: string[] = [];
    page.on("request", (request) => { if (/python/.test(request.url())) asked.push(request.url()); });
    await page.locator(".card").first().waitFor();
    const text = JSON.stringify(canvas);
    const file = { name: "sum.json", mimeType: "application/json", buffer: Buffer.from(text) };
    await page.setInputFiles('input[type="file"][accept*="json"]', file);
    await allow(page);
    assert.deepEqual(asked, [], "nothing of Python is loaded before a script runs");
    await ask(page, "1000 20 3");
    await page.locator(".bubble.theirs", { hasText: `It is ${1023n ** 12n}` }).waitFor({ timeout: 300_000 });
    assert.ok(asked.length > 0);
    await done();
  });
});
