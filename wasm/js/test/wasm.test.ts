// The binding to WebAssembly with a real Go module: boot, kick, memory, timers.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createEngine } from "../src/node.ts";
import { scripted } from "../src/model/scripted.ts";
import { compileOnce } from "../src/wasm.ts";

const source = fileURLToPath(new URL("testdata/echo/", import.meta.url));
const worker = new URL("../src/worker.node.ts", import.meta.url);

describe("a Go module", { timeout: 1_200_000 }, () => {
  let folder: string;
  let wasm: string;
  let runtime: URL;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "easel-"));
    wasm = join(folder, "echo.wasm");
    execFileSync("go", ["build", "-o", wasm, "."], {
      cwd: source,
      env: { ...process.env, GOOS: "js", GOARCH: "wasm" },
      stdio: "inherit",
    });
    const root = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
    // Go's script is a classic script; in a folder without package.json Node loads it as one.
    copyFileSync(join(root, "lib/wasm/wasm_exec.js"), join(folder, "wasm_exec.js"));
    runtime = pathToFileURL(join(folder, "wasm_exec.js"));
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const place of [false, worker]) {
    test(`runs ${place ? "in a worker" : "in this thread"}`, async () => {
      const engine = await createEngine({ wasm, runtime, worker: place });
      assert.equal(engine.info.version, "echo");
      const run = engine.run("{}", "grüß 茶", { llm: scripted([{ text: "answer" }]) });
      const heard: unknown[] = [];
      for await (const event of run) heard.push((event.data as { content: string }).content);
      assert.equal(heard[0], "grüß 茶");
      assert.match(String(heard[1]), /"text":"answer"/);
      assert.equal((await run.result).status, "succeeded");
      await assert.rejects(engine.validate("{}"), { code: "unsupported" });
      engine.close();
    });
  }

  test("a megabyte is passed in and out while memory grows", async () => {
    const engine = await createEngine({ wasm, runtime, worker: false });
    const canvas = await engine.load(`{"x":"${"ü".repeat(1 << 20)}"}`);
    assert.match(await canvas.save(), /"save"/);
    const long = "茶".repeat(1 << 20);
    const run = engine.run("{}", long, { llm: scripted([{ text: "" }]) });
    await run.result;
    for await (const event of run) {
      assert.equal((event.data as { content: string }).content, long);
      break;
    }
    engine.close();
  });

  test("two engines run on one page", async () => {
    const [a, b] = await Promise.all([
      createEngine({ wasm, runtime, worker: false }),
      createEngine({ wasm, runtime, worker: false }),
    ]);
    const results = await Promise.all(
      [a, b].map((engine) => engine.run("{}", "x", { llm: scripted([{ text: "y" }]) }).result),
    );
    assert.deepEqual(results.map((result) => result.status), ["succeeded", "succeeded"]);
  });

  test("the watchdog ends a module that computes forever, and the next run succeeds", async () => {
    const engine = await createEngine({ wasm, runtime, worker, watchdog: 2_000 });
    const other = engine.run("{}", "x", { llm: { async *chat() { await new Promise(() => undefined); } } });
    for await (const _ of other) break;
    await assert.rejects(engine.run("{}", "spin").result, { code: "watchdog", message: /2000 ms/ });
    await assert.rejects(other.result, { code: "watchdog" });
    assert.equal((await engine.run("{}", "x", { llm: scripted([{ text: "y" }]) }).result).status, "succeeded");
    engine.close();
  });

  for (const place of [false, worker]) {
    test(`a module that crashes ${place ? "in a worker" : "in this thread"} fails its runs, and the next run succeeds`,
      async () => {
      const engine = await createEngine({ wasm, runtime, worker: place });
      await assert.rejects(engine.run("{}", "crash").result, { code: "crashed" });
      assert.equal((await engine.run("{}", "x", { llm: scripted([{ text: "y" }]) }).result).status, "succeeded");
      engine.close();
    });
  }

  test("a module is fetched and compiled once for all its starts, in every form of wasm", async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked++;
      response.end(readFileSync(wasm));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/echo.wasm`;
    for (const given of [address, new URL(address), await fetch(address), new Uint8Array(readFileSync(wasm))]) {
      for (const place of [false, worker]) {
        asked = 0;
        const engine = await createEngine({
          wasm: given instanceof Response ? given.clone() : given,
          runtime,
          worker: place,
        });
        await assert.rejects(engine.run("{}", "crash").result, { code: "crashed" });
        assert.equal((await engine.run("{}", "x", { llm: scripted([{ text: "y" }]) }).result).status, "succeeded");
        engine.close();
        assert.equal(asked, typeof given === "string" || given instanceof URL ? 1 : 0);
      }
    }
    server.closeAllConnections();
    server.close();
  });

  test("where this thread may not compile, the worker gets the address", async () => {
    let tries = 0;
    const refuse = async (): Promise<WebAssembly.Module> => { tries++; throw new WebAssembly.CompileError("policy"); };
    const source = compileOnce(refuse, new URL("http://x.example/engine.wasm"));
    assert.deepEqual(
      [await source(), await source(), tries],
      ["http://x.example/engine.wasm", "http://x.example/engine.wasm", 2],
      "and it is tried again",
    );
    await assert.rejects(compileOnce(refuse, new Uint8Array(0))(), { name: "CompileError" });
  });

  test("timers of a module that crashed in this thread do nothing any more", async () => {
    const engine = await createEngine({ wasm, runtime, worker: false });
    const sleeps = engine.run("{}", "x", {
      llm: {
        async *chat() {
          await new Promise(() => undefined);
        },
      },
    }); // it waits for a timer of 5 ms first
    for await (const _ of sleeps) break;
    const thrown: unknown[] = [];
    const note = (err: unknown): void => { thrown.push(err); };
    process.on("uncaughtException", note);
    await assert.rejects(engine.run("{}", "crash").result, { code: "crashed" });
    await assert.rejects(sleeps.result, { code: "crashed" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.off("uncaughtException", note);
    assert.deepEqual(thrown, []);
    engine.close();
  });

  test("a module of another version is refused", async () => {
    const later = join(folder, "later.wasm");
    execFileSync("go", ["build", "-ldflags=-X main.abi=9", "-o", later, "."], {
      cwd: source,
      env: { ...process.env, GOOS: "js", GOARCH: "wasm" },
      stdio: "inherit",
    });
    for (const place of [false, worker]) {
      await assert.rejects(createEngine({ wasm: later, runtime, worker: place }), {
        code: "version",
        message: /version 9 .* version 1/,
      });
    }
  });

  test("a module that is not an engine is refused", async () => {
    const other = join(folder, "other.wasm");
    writeFileSync(other, Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0]));
    await assert.rejects(createEngine({ wasm: other, runtime, worker: false }), { code: "version" });
    writeFileSync(other, "not wasm");
    await assert.rejects(createEngine({ wasm: other, runtime, worker: false }), { code: "init" });
    await assert.rejects(createEngine({ wasm: join(folder, "nowhere.wasm"), runtime, worker: false }), {
      code: "init",
    });
  });
});
