// toSSE against the server: the same canvas and question, through easel serve and through the
// module. Ids, times and the place of a record in the server's log are made equal first; everything
// else must be the same bytes.

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createEngine, type Engine } from "../src/node.ts";
import { chain } from "./canvases.ts";
import { build, type Built } from "./module.ts";

// Texts, numbers and keys that a parser would write differently.
const canvas = JSON.stringify(
  chain(
    ["begin", { mode: "conversational" }],
    ["LLM:A", { llm_id: "", prompts: "say: {sys.query}" }],
    ["VariableAssigner:A", { variables: [] }],
    ["Message:A", { content: ['{LLM:A@content} "quoted": \\\\ , {Odd} 茶 \u2028 {sys.query}'] }],
  ),
);

const question = 'is 1.0 = 1, or "one": two?\n<b>';

const plain = (text: string): string => text.replace(/[0-9a-f]{32}/g, "ID").replace(/^id: \S+$/gm, "id: N")
  .replace(/"(_?(?:created_(?:at|time)|elapsed_time))":( ?)[\d.e+-]+/g, '"$1":$2T');

describe("events as the server sends them", { timeout: 1_200_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "easel-server-"));
  let host: ChildProcess;
  let built: Built;
  let engine: Engine;
  let address = "";
  let id = "";
  let key = "";

  before(async () => {
    built = build();
    engine = await createEngine({
      wasm: built.wasm,
      runtime: built.runtime,
      worker: new URL("../src/worker.node.ts", import.meta.url),
    });
    const program = join(folder, "easel");
    execFileSync("go", ["build", "-o", program, "./host/cmd/easel"], {
      cwd: fileURLToPath(new URL("../../../", import.meta.url)),
      stdio: ["ignore", "ignore", "inherit"],
    });
    host = spawn(program, ["serve", "--addr", "127.0.0.1:0", "--data", join(folder, "data")], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await new Promise<void>((resolve, reject) => {
      host.once("exit", (code) => reject(new Error(`the host ended with ${code}`)));
      createInterface({ input: host.stdout as NodeJS.ReadableStream }).on("line", (line) => {
        address ||= /^address: (\S+)/.exec(line)?.[1] ?? "";
        key ||= /^key: (\S+)/.exec(line)?.[1] ?? "";
        if (address && key) resolve();
      });
    });
    id = (
      JSON.parse(await ask("/api/v2/canvases", { title: "compared", dsl: JSON.parse(canvas) as unknown })) as {
        id: string;
      }
    ).id;
  });
  after(async () => {
    engine?.close();
    if (host?.exitCode === null) {
      const ended = new Promise((resolve) => host.once("exit", resolve));
      host.kill("SIGTERM");
      await ended;
    }
    built?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask(path: string, body: unknown): Promise<string> {
    const answer = await fetch(address + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
      },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
    return text;
  }

  const local = (options: object): Promise<string> =>
    new Response(engine.run(canvas, { query: question, user_id: "u" }, options).toSSE(options)).text();

  test("our own API", async () => {
    const sent = await ask(`/api/v2/canvases/${id}/runs`, { query: question, user: "u" });
    const [before, end] = plain(sent).split(/(?=id: N\nevent: end\n)/); // how the host's job ended is its own affair
    assert.match(end ?? "", /^id: N\nevent: end\n/);
    const here = plain(await local({}));
    assert.equal(here, before);
    assert.ok(here.includes("event: node_finished\n") && here.includes('\\"quoted\\": '));
  });

  test("the dialect of RAGFlow's editor", async () => {
    const sent = await ask("/v1/canvas/completion", { id, query: question, user_id: "u" });
    assert.equal(plain(await local({ dialect: "ragflow", done: false })), plain(sent));
  });

  test("the dialect of RAGFlow's agents, of one session", async () => {
    const sent = await ask(`/api/v1/agents/${id}/completions`, { question, stream: true, user_id: "u" });
    const session = /"session_id": "([^"]+)"/.exec(sent)?.[1] ?? assert.fail(sent);
    const shown = new Set([...sent.matchAll(/^data:\{"event": "(\w+)"/gm)].map(([, name]) => name));
    const here = (await local({ dialect: "ragflow", session }))
      .split(/(?<=\n\n)/)
      .filter((frame) => frame.startsWith("data:[DONE]") || shown.has(/"event": "(\w+)"/.exec(frame)?.[1] ?? ""));
    assert.equal(plain(here.join("")), plain(sent));
  });
});
