// The package with the real engine in headless Chromium: every story in a Worker and in the page's
// own thread, then features of browsers: policies, types of files, missing addresses.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build, type Built } from "../module.ts";
import { stories } from "../stories.ts";
import type { Easel } from "./page.ts";
import { missing, raise, type Stage } from "./stage.ts";

declare const easel: Easel;

describe("the engine in Chromium", { skip: missing, timeout: 1_200_000 }, () => {
  let built: Built;
  let stage: Stage;
  before(async () => {
    built = build();
    const files = {
      "engine.wasm": built.wasm,
      "wasm_exec.js": fileURLToPath(built.runtime),
      "echo.wasm": echo(built, 1),
      "other.wasm": echo(built, 9),
    };
    stage = await raise(["page.ts", "../../src/worker.browser.ts", "../../src/code/worker.ts"], files);
  });
  after(async () => { await stage?.close(); built?.remove(); });

  for (const place of ["worker", "page"] as const) {
    describe(place === "worker" ? "in a Worker" : "in the page's thread", () => {
      let page: Page;
      let faults: string[];
      before(async () => { ({ page, faults } = await stage.open()); });
      after(() => page.context().close());
      for (const name of Object.keys(stories)) {
        test(name, () =>
          page.evaluate(([place, name]) => easel.story(place as "worker", name as string), [place, name]),
        );
      }
      test("the console has no messages", () => assert.deepEqual(faults, []));
    });
  }

  test("every form of the module starts, without isolation of the page", async () => {
    const { page, faults, done } = await stage.open();
    assert.equal(await page.evaluate(() => crossOriginIsolated), false);
    assert.deepEqual(await page.evaluate(() => easel.sources()), Array(5).fill("It says: y"));
    assert.deepEqual(faults, []);
    await done();
  });

  const starts: [name: string, given: Parameters<Easel["outcome"]>[0], outcome: RegExp][] = [
    [
      "a module of the wrong type starts",
      { wasm: "engine.wasm?type=application/octet-stream" },
      /^succeeded: It says: y$/,
    ],
    [
      "so does one of the wrong type in the page's thread",
      { wasm: "engine.wasm?type=text/plain", worker: false },
      /^succeeded: It says: y$/,
    ],
    [
      "a module of another version is refused",
      { wasm: "other.wasm" },
      /^version: .* version 9 of the contract, this package version 1/,
    ],
    ["a module that is not there", { wasm: "gone.wasm" }, /^init: .*404/],
    ["a page in place of a module", { wasm: "index.html" }, /^init: /],
    ["bytes that are no module", { bytes: [1, 2, 3] }, /^init: /],
    ["a module of somebody else", { bytes: [0, 97, 115, 109, 1, 0, 0, 0] }, /^version: this is not an easel engine/],
    ["a runtime that is not there", { runtime: "gone.js" }, /^init: /],
    ["a runtime that is another script", { runtime: "page.js" }, /^init: /],
    ["a worker that is not there", { worker: "gone.js" }, /^init: /],
  ];
  for (const [name, given, outcome] of starts) {
    test(name, async () => {
      const { page, done } = await stage.open();
      assert.match(await page.evaluate((given) => easel.outcome(given), given), outcome);
      await done();
    });
  }

  for (const worker of [undefined, false] as const) {
    test(`a policy that forbids WebAssembly is reported ${worker === false ? "in the page's thread" : "by the Worker"}`,
      async () => {
      const strict = "default-src 'self'; script-src 'self'";
      const { page, done } = await stage.open(`?csp=${encodeURIComponent(strict)}`);
      const given = worker === false ? { worker } : { worker: `worker.browser.js?csp=${encodeURIComponent(strict)}` };
      assert.match(
        await page.evaluate((given) => easel.outcome(given), given),
        /^init: .*(Content Security Policy|unsafe-eval)/i,
      );
      await done();
    });
  }

  for (const [how, code] of [["spin", "watchdog"], ["crash", "crashed"]] as const) {
    test(`a module that has to ${how} fails its run, and the next run succeeds`, async () => {
      const { page, done } = await stage.open();
      assert.deepEqual(await page.evaluate((how) => easel.misbehave(how), how), [code, "succeeded"]);
      await done();
    });
  }

  test("a canvas of 50 MB is read where the limit allows it", async () => {
    const { page, done } = await stage.open();
    assert.deepEqual(await page.evaluate(() => easel.large()), []);
    await done();
  });

  test("scripts run in the sandbox, under the policy", async () => {
    const { page, faults, done } = await stage.open();
    const script = (text: string, timeout?: number): Promise<unknown> =>
      page.evaluate(([text, timeout]) => easel.script(text as string, timeout as number), [text, timeout]);
    assert.deepEqual(await script("function main({ q }) { return q.toUpperCase() }"), {
      content: "GRÜSS",
      raw_result: "GRÜSS",
      actual_type: "String",
      result: "GRÜSS",
    });
    assert.match(String(await script("function main() { for (;;); }", 200)), /longer than 200 ms/);
    assert.match(String(await script("function main() { return document.title }")), /document/);
    assert.deepEqual(faults, []);
    await done();
  });
});

// echo builds the smallest module of the protocol, or one of another version.
function echo(built: Built, abi: number): string {
  const wasm = built.wasm.replace("engine.wasm", `echo-${abi}.wasm`);
  const cwd = fileURLToPath(new URL("../testdata/echo/", import.meta.url));
  execFileSync("go", ["build", `-ldflags=-X main.abi=${abi}`, "-o", wasm, "."], {
    cwd,
    env: { ...process.env, GOOS: "js", GOARCH: "wasm" },
    stdio: "inherit",
  });
  return wasm;
}
