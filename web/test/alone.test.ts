// One node that runs alone on the host, in the session of the page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { createEngine } from "../../wasm/js/src/node.ts";
import { build } from "../../wasm/js/test/module.ts";
import type { Host } from "../run/host.ts";
import { Session } from "../run/session.ts";

const text = readFileSync(new URL("../examples/tea-house.json", import.meta.url), "utf8");
const built = build();
const worker = new URL("../../wasm/js/src/worker.node.ts", import.meta.url);
const engine = createEngine({ wasm: built.wasm, runtime: built.runtime, worker });
after(async () => {
  (await engine).close();
  built.remove();
});

// ended returns the status of the run when it has ended.
function ended({ player: { play } }: Session): Promise<string> {
  return new Promise((resolve) => {
    const stop = play.subscribe(() => check());
    const check = (): void => {
      if (play.get().running) return;
      stop();
      resolve(play.get().shown.status);
    };
    check();
  });
}

test("a node that is to run alone on the host, and is stopped before its start, does not run", async () => {
  const asked: string[] = [];
  const ask = ((method: string, path: string, _body: unknown, options?: { signal?: AbortSignal }) => {
    options?.signal?.throwIfAborted();
    asked.push(`${method} ${path}`);
    return Promise.resolve(Response.json({ outputs: {}, elapsed: 0 }));
  }) as unknown as Host["ask"];
  const models = (): Promise<Response> => Promise.reject(new Error("no run asks the models"));
  const session = new Session(engine, {}, { models, ask });
  session.open(text);
  session.allow();
  session.origin.set({ id: "c1", rev: 1 });
  session.player.where.set("host");
  const node = session.document.get()?.model.nodes.find(({ kind }) => kind === "Message")?.id ?? assert.fail();
  session.player.debug(node, {});
  session.player.cancel();
  assert.equal(await ended(session), "canceled");
  assert.deepEqual(asked, []);
  session.player.debug(node, {});
  assert.equal(await ended(session), "succeeded");
  assert.deepEqual(asked, ["POST /api/v2/canvases/c1/debug"]);
});
