// The package as it is published, in a page without a bundler: the README's program, under a strict
// policy.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { install, readme, write, type Installed } from "../package.ts";
import { missing, raise, type Stage } from "./stage.ts";

describe("the published package in Chromium", { skip: missing, timeout: 1_200_000 }, () => {
  let installed: Installed;
  let stage: Stage;
  before(async () => {
    installed = install();
    const files = Object.fromEntries(
      readdirSync(join(installed.home, "dist"), { recursive: true, encoding: "utf8" }).map((name) => [
        "dist/" + name,
        join(installed.home, "dist", name),
      ]),
    );
    stage = await raise([], {
      ...files,
      "page.js": write(installed.folder, "page.js", addressed(readme()) + "\nglobalThis.told = { status, answer };"),
    });
  });
  after(async () => { await stage?.close(); installed?.remove(); });

  // addressed replaces the package's name by the paths of its exports, like an import map.
  const addressed = (program: string): string => {
    const { exports } = JSON.parse(readFileSync(join(installed.home, "package.json"), "utf8")) as {
      exports: Record<string, { default: string }>;
    };
    return program.replace(/"@easel\/engine([^"]*)"/g, (_, path: string) =>
      JSON.stringify(exports["." + path]?.default),
    );
  };

  test("the first program of the README has the result of its comment", async () => {
    const { page, faults, done } = await stage.open();
    const told = await page.waitForFunction(() => (globalThis as { told?: object }).told).catch(() => undefined);
    assert.deepEqual(await told?.jsonValue(), { status: "succeeded", answer: "It says: Yes." }, faults.join());
    assert.deepEqual(faults, []);
    await done();
  });
});
