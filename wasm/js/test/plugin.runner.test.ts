// The time limits of a call around the start of its Worker, which a fake line replaces.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Setting, Work } from "../src/plugin/kernel/guest.ts";
import type { FromKernel, Outcome } from "../src/plugin/kernel/serve.ts";
import { Runner } from "../src/plugin/runner.ts";

/** begin makes a call of 10 s by a Worker that sends what the test sends, with the test's clock. */
async function begin(t: TestContext): Promise<{ call: Promise<Outcome>; send(message: FromKernel): void }> {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let send: (message: FromKernel) => void = () => undefined;
  const line = {
    post: () => undefined,
    listen: (receive: typeof send) => { send = receive; },
    end: () => undefined,
  };
  const runner = new Runner(() => line, {} as Setting);
  const work = { export: "easel_invoke", timeout: 10_000 } as Work;
  const answers = { emit: async () => true, ask: async () => null };
  const call = runner.call(work, { state: "any" }, answers, new AbortController().signal);
  call.catch(() => undefined); // the test awaits it later
  await new Promise((resolve) => setImmediate(resolve));
  return { call, send: (message) => send(message) };
}

const done = { t: "done", done: { fuel: 7 } as Outcome } as const;

test("the start of a Worker takes no time of the call", async (t) => {
  const { call, send } = await begin(t);
  t.mock.timers.tick(20_000);
  send({ t: "begun" });
  t.mock.timers.tick(10_000);
  send(done);
  assert.equal((await call).fuel, 7);
});

test("a Worker that does not end its call in time is ended", async (t) => {
  const { call, send } = await begin(t);
  send({ t: "begun" });
  t.mock.timers.tick(11_000);
  send(done);
  await assert.rejects(call, { code: "timeout" });
});

test("a Worker that does not start is ended", async (t) => {
  const { call, send } = await begin(t);
  t.mock.timers.tick(41_000);
  send(done);
  await assert.rejects(call, { code: "timeout" });
});
