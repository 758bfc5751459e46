// Compares this package with the golden messages: a module made of the file sends its
// lines, and the package must send the file's other lines, in order.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Engine } from "../src/engine.ts";
import type { Connect } from "../src/link.ts";
import type { Model } from "../src/index.ts";
import { decode, type Host, type Module } from "../src/protocol.ts";

type Line = {
  to: "module" | "host";
  fn: string;
  id?: number;
  run?: number;
  call?: number;
  ok?: boolean;
  more?: boolean;
  text?: string;
};

const folder = new URL("../golden/", import.meta.url);

const thoughtful: Model = {
  async *chat() {
    yield { reasoning: "reasoning" };
    yield { text: "hi " };
    yield { text: "there", usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } };
  },
};
const silent: Model = { async *chat() { await new Promise(() => undefined); } };

const doings: Record<string, (connect: Connect, dsl: string, heard: (what: string) => Promise<void>) => Promise<void>> =
  {
  async start(connect) {
    assert.equal((await engineOf(connect)).info.version, "0.1.0");
  },
  async version(connect) {
    await assert.rejects(engineOf(connect), { code: "version" });
  },
  async run(connect, dsl) {
    const run = (await engineOf(connect)).run(dsl, "hello", { llm: thoughtful, seed: 1, now: 1_700_000_000_000 });
    const result = await run.result;
    assert.equal(result.answer, "hi there");
    assert.equal(result.usage?.total_tokens, 5);
  },
  async refused(connect) {
    await assert.rejects((await engineOf(connect)).load(`{"components": {}}`), {
      code: "bad_canvas",
      message: /no component "begin"/,
    });
  },
  async cancel(connect, dsl, heard) {
    const run = (await engineOf(connect)).run(dsl, "hello", { llm: silent });
    await heard("call");
    run.cancel("enough");
    assert.equal((await run.result).status, "canceled");
  },
  async abort(connect, dsl) {
    const result = await (await engineOf(connect)).run(dsl, "hello", { fetch: () => new Promise(() => undefined) })
      .result;
    assert.equal(result.status, "failed");
    assert.deepEqual([result.error?.node, result.error?.code], ["Invoke:A", "timeout"]);
  },
  async provider(connect, dsl) {
    await (
      await engineOf(connect)
    ).run(dsl, "hello", {
      retrieve: ({ query }) => ({
        chunks: [{ id: "c1", content: `${query} world`, document_name: "a.md" }],
        doc_aggs: [],
      }),
      tools: { TavilySearch: { description: "web search", run: (args) => `found: ${String(args["query"])}` } },
      fetch: () =>
        Promise.resolve(new Response("short and stout", { status: 418, headers: { "content-type": "text/plain" } })),
      code: () => Promise.resolve({ result: 2, stdout: "" }),
    }).result;
  },
  async pause(connect, dsl) {
    const run = (await engineOf(connect)).run(dsl, "hello", { seed: 1, now: 1_700_000_000_000 });
    const result = await run.result;
    assert.equal(result.status, "paused");
    assert.equal(result.form?.tips, "go on?");
    assert.equal((await run.resume({ ok: true }).result).status, "succeeded");
  },
  async edit(connect, dsl) {
    const engine = await engineOf(connect);
    const canvas = await engine.load(dsl);
    await canvas.patch("LLM:A", { prompts: "say {sys.query}" });
    assert.deepEqual(await canvas.form("LLM:A"), { "sys.query": { name: "sys.query", type: "line" } });
    await canvas.restore({
      components: {},
      history: [
        ["user", "hello"],
        ["assistant", "hi"],
      ],
      globals: {
        "sys.query": "hello",
        "sys.user_id": "ada",
        "sys.conversation_turns": 1,
        "sys.files": [],
        "sys.history": ["user: hello", "assistant: hi"],
      },
    });
    await canvas.reset({ keepHistory: true });
    assert.match(await canvas.save(), /"assistant","hi"/);
    await canvas.reset();
    assert.equal((await engine.validate(dsl))[0]?.node, "Message:A");
    assert.equal((await engine.layout(dsl)).nodes["LLM:A"]?.x, 280);
    canvas.close();
  },
  async steer(connect, dsl) {
    const engine = await engineOf(connect);
    const same = { seed: 1, now: 1_700_000_000_000 };
    const able: Model = { ...silent, can: { tools: true, context: 8000 } };
    const run = engine.run(dsl, "hello", {
      llm: able, pins: { "LLM:A": { content: "pinned" } }, from: "LLM:A", until: "Message:A",
      base: { outputs: { begin: {} }, variables: { "sys.user_id": "ada" } }, ...same,
    });
    assert.equal((await run.result).answer, "pinned");
    const alone = engine.run(
      dsl,
      {},
      { debug: { node: "Message:A", params: { "LLM:A@content": "by hand" } }, ...same },
    );
    assert.deepEqual((await alone.result).outputs, { content: "by hand" });
  },
  async components(connect) {
    assert.equal((await (await engineOf(connect)).components())[0]?.name, "Message");
  },
};

for (const file of readdirSync(folder)) {
  const name = file.replace(".json", "");
  const { about, lines } = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as { about: string; lines: Line[] };
  test(`golden ${name}: ${about}`, { timeout: 120_000 }, async () => {
    const player = new Player(lines);
    const doing = doings[name];
    assert.ok(doing, `nothing plays ${file}`);
    // After a wrong line the program may wait forever.
    await Promise.race([
      player.failed,
      doing(player.connect, canvasIn(lines), (what) => player.heard(what)).then(() => player.finished()),
    ]);
  });
}

// canvasIn returns the canvas in the load line of a conversation.
function canvasIn(lines: Line[]): string {
  const load = lines.find(({ fn, text }) => fn === "load" && text?.startsWith('{"op":"load"}'));
  return load?.text ? decode(load.text).body : "";
}

function engineOf(connect: Connect): Promise<Engine> {
  return Engine.start(() => connect, {});
}

/** Player is a module that sends the lines of a file. */
class Player {
  readonly #lines: Line[];
  #at = 0;
  #host: Host | undefined;
  #fail!: (err: unknown) => void;
  /** failed rejects with the first line that was wrong. */
  readonly failed = new Promise<never>((_, reject) => { this.#fail = reject; });
  #said = new Set<string>();
  #news: (() => void)[] = [];

  constructor(lines: Line[]) {
    this.#lines = lines;
  }

  readonly connect: Connect = (host) => {
    this.#host = host;
    const module: Module = {
      load: (id, text) => this.#hear({ to: "module", fn: "load", id, text }),
      start: (id, text) => this.#hear({ to: "module", fn: "start", id, text }),
      deliver: (call, ok, more, text) => this.#hear({ to: "module", fn: "deliver", call, ok, more, text }),
      cancel: (id, text) => this.#hear({ to: "module", fn: "cancel", id, text }),
      close: (id) => this.#hear({ to: "module", fn: "close", id }),
    };
    return Promise.resolve({ module, end: () => undefined });
  };

  async heard(what: string): Promise<void> {
    await this.#until(() => this.#said.has(what));
  }

  /** finished waits until every line was sent, and a little longer for unexpected lines. */
  async finished(): Promise<void> {
    await this.#until(() => this.#at >= this.#lines.length);
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#news.push(resolve));
  }

  #hear(line: Line): void {
    try {
      const want = this.#lines[this.#at];
      if (!want) assert.fail(`the conversation is over, but the host said ${line.fn} ${line.text ?? line.id}`);
      assert.deepEqual(comparable(line), comparable(want), `line ${this.#at + 1}`);
      this.#at++;
      queueMicrotask(() => this.#say());
    } catch (err) {
      this.#fail(err);
    }
    for (const tell of this.#news.splice(0)) tell();
  }

  #say(): void {
    for (let line = this.#lines[this.#at]; line?.to === "host"; line = this.#lines[this.#at]) {
      this.#at++;
      const text = line.text ?? "";
      if (line.fn === "emit") this.#host?.emit(line.run as number, text);
      if (line.fn === "call") this.#host?.call(line.run as number, line.call as number, text);
      if (line.fn === "done") this.#host?.done(line.id as number, line.ok as boolean, text);
      this.#said.add(line.fn);
    }
    for (const tell of this.#news.splice(0)) tell();
  }
}

function comparable(line: Line): unknown {
  return { ...line, text: line.text ? decode(line.text) : undefined };
}
