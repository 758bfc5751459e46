// toSSE against the server: the same canvas and question, through easel serve and through the
// module. Ids, times and positions of records in the server's log are made equal first; everything
// else must be the same bytes.

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createEngine, type Engine } from "../src/node.ts";
import { chain } from "./canvases.ts";
import { build, type Built } from "./module.ts";

// Strings, numbers and keys that a parser would write differently.
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
  const key = `ragflow-${randomUUID()}`;

  before(async () => {
    built = build();
    engine = await createEngine({
      wasm: built.wasm,
      runtime: built.runtime,
      worker: new URL("../src/worker.node.ts", import.meta.url),
    });
    const program = join(folder, "easel");
    // Unlike go build, go run links a program once for all tests.
    execFileSync("go", ["run", "-exec", "cp", "./host/cmd/easel", program], {
      cwd: fileURLToPath(new URL("../../../", import.meta.url)),
      stdio: ["ignore", "ignore", "inherit"],
    });
    host = spawn(program, ["serve", "--addr", "127.0.0.1:0", "--data", join(folder, "data")], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, EASEL_API_KEY: key },
    });
    await new Promise<void>((resolve, reject) => {
      host.once("exit", (code) => reject(new Error(`the host ended with ${code}`)));
      createInterface({ input: host.stdout as NodeJS.ReadableStream }).on("line", (line) => {
        address ||= /^address: (\S+)/.exec(line)?.[1] ?? "";
        if (address) resolve();
      });
    });
    id = await store(canvas);
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

  async function ask(path: string, body?: unknown, accept = "text/event-stream, application/json"): Promise<string> {
    const answer = await fetch(address + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
    return text;
  }

  const local = (options: object): Promise<string> =>
    new Response(engine.run(canvas, { query: question, user_id: "u" }, options).toSSE(options)).text();

  test("easel's own API", async () => {
    const sent = await ask(`/api/v2/canvases/${id}/runs`, { query: question, user: "u" });
    const [before, end] = plain(sent).split(/(?=id: N\nevent: end\n)/); // the end of the host's job is not compared
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

  async function store(dsl: string): Promise<string> {
    const saved = await ask("/api/v2/canvases", { title: "compared", dsl: JSON.parse(dsl) as unknown });
    return (JSON.parse(saved) as { id: string }).id;
  }

  // both runs a canvas on the server and in the module, and fills in its form, if any.
  async function both(
    outer: string, stored: Map<string, string>, answers?: Record<string, unknown>,
  ): Promise<string> {
    const ports = {
      canvas: ({ canvas: name }: Record<string, unknown>) => ({ dsl: stored.get(String(name)) as string }),
    };
    const held = await engine.load(outer);
    let run = held.run({ query: question, user_id: "u" }, { ports });
    let path = `/api/v2/canvases/${await store(outer)}/runs`;
    let body: unknown = { query: question, user: "u" };
    let shown = "";
    for (const inputs of answers ? [answers, undefined] : [undefined]) {
      const started = JSON.parse(await ask(path, body, "application/json")) as { id: string };
      const sent = plain(await ask(`/api/v2/runs/${started.id}/events`)).split(/(?=id: N\nevent: end\n)/);
      const here = plain(await new Response(run.toSSE()).text());
      assert.equal(here, sent[0]);
      shown += here;
      if (inputs) {
        run = run.resume(inputs, { ports });
        [path, body] = [`/api/v2/runs/${started.id}/resume`, { inputs }];
      }
    }
    held.close();
    return shown;
  }

  const within = (inner: string, say: string): string =>
    JSON.stringify(
      chain(
        ["begin", { mode: "conversational" }],
        ["Canvas:A", { canvas: inner, version: "draft", inputs: { topic: "tea: {sys.query}" } }],
        ["Message:A", { content: [say] }],
      ),
    );

  const topic = { name: "Topic", type: "line", optional: true };
  const begin: [string, Record<string, unknown>] = ["begin", { inputs: { topic } }];

  test("a canvas inside another one, and one inside of that", async () => {
    const stored = new Map<string, string>();
    const save = async (dsl: string): Promise<string> => {
      const made = await store(dsl);
      stored.set(made, dsl);
      return made;
    };
    const answers = JSON.stringify(
      chain(begin, ["Message:A", { content: ["<{begin@topic}> {sys.query}"] }]),
    );
    const middle = within(await save(answers), "it says {Canvas:A@content}");
    const shown = await both(within(await save(middle), "so {Canvas:A@content} {Canvas:A@outputs}"), stored);
    assert.match(shown, /event: canvas_event\n/);
    assert.match(shown, /so it says <tea: /);
  });

  test("a form inside a canvas pauses the outer run, which continues with the answer", async () => {
    const ask = { enable_tips: true, tips: "name?", inputs: { name: { name: "name", type: "line" } } };
    const inner = JSON.stringify(
      chain(
        begin,
        ["UserFillUp:A", ask],
        ["Message:A", { content: ["Hello {UserFillUp:A@name}, {begin@topic}"] }],
      ),
    );
    const made = await store(inner);
    const shown = await both(within(made, "{Canvas:A@content}!"), new Map([[made, inner]]), {
      "Canvas:A/name": { type: "line", value: "Ada" },
    });
    assert.match(shown, /event: user_inputs\n/);
    assert.match(shown, /Hello Ada, tea: /);
  });

  test("an error inside a canvas is that of its node", async () => {
    const inner = JSON.stringify(chain(["begin"], ["Message:A", { content: ["{Message:Nope@content}"] }]));
    const made = await store(inner);
    const shown = await both(within(made, "{Canvas:A@content}"), new Map([[made, inner]]));
    assert.match(shown, /Message:Nope/);
  });
});
