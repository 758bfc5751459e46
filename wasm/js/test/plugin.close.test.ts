// Closing a plugin of this thread while a call waits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../src/client.ts";
import { platform } from "../src/platform.node.ts";
import { inline } from "../src/plugin/inline.ts";
import { Plugin } from "../src/plugin/plugin.ts";
import { examineWith } from "../src/plugin/shelf.ts";
import { build } from "./module.ts";
import { faults, text } from "./plugin.faults.ts";
import { make, pack } from "./plugins.ts";

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;

test("a call that waits ends, with its timers", async () => {
  const built = build();
  const guests = make({ wat: { emits: text(faults["emits without end"]!) } });
  const client = new Client();
  const start = platform({ wasm: built.wasm, runtime: built.runtime, worker: false });
  const connection = await start(client, (err) => client.fail(err));
  client.attach(connection.module);
  const examine = examineWith((request, body) => client.request(request, body));
  const plugin = await Plugin.load(pack(guests["emits"]!), examine, inline);
  const before = timers();
  let emitted = (): void => undefined;
  const reached = new Promise<void>((resolve) => { emitted = resolve; });
  const call = plugin.call({ input: "", side: () => { emitted(); return new Promise(() => undefined); } });
  await reached;
  plugin.close();
  assert.notEqual((await call).error, undefined);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(timers(), before);
  connection.end();
  built.remove();
});
