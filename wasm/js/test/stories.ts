// What users of the package do with the real engine. Node runs each story in its own thread and in
// a worker thread, the browser in a Worker; so a story uses only features that both have.

import {
  EngineError,
  isWire,
  type Engine,
  type Model,
  type ModelPiece,
  type Run,
  type RunEvent,
  type RunOptions,
} from "../src/index.ts";
import { scripted } from "../src/model/scripted.ts";
import { replay } from "../src/state.ts";
import { agent, chain, chat, circle, form, long } from "./canvases.ts";
import { fails, fits, holds, same } from "./claims.ts";

/** Story throws when an expectation fails. */
export type Story = (engine: Engine) => Promise<void>;

const silent: Model = { async *chat() { await new Promise(() => undefined); } };

/** streaming returns a model that streams these pieces. */
const streaming = (...pieces: unknown[]): Model => ({ async *chat() { yield* pieces as ModelPiece[]; } });

async function all(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

type Of<Name extends RunEvent["event"]> = Extract<RunEvent, { event: Name }>;
const only = <Name extends RunEvent["event"]>(events: RunEvent[], name: Name): Of<Name>[] =>
  events.filter((e): e is Of<Name> => e.event === name);

async function until(run: Run, name: RunEvent["event"]): Promise<void> {
  for await (const event of run) if (event.event === name) return;
  throw new Error(`the run ended without ${name}`);
}

// A model that fails like code of users may, and the expected error of the node.
const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;
const failing: Record<string, [llm: Model, says: RegExp]> = {
  "throws": [{ chat: () => { throw new Error("no luck"); } }, /no luck/],
  "throws something odd": [{ chat: () => { throw { odd: 1 }; } }, /\{"odd":1\}/],
  "rejects": [{ chat: () => Promise.reject(new Error("refused")) }, /refused/],
  "fails in the middle": [{ async *chat() { yield { text: "a" }; throw new Error("cut"); } }, /cut/],
  "gives nothing": [{ chat: () => undefined as never }, /model: /],
  "gives a promise of nothing": [{ chat: () => Promise.resolve(null as never) }, /model: /],
  "streams a number": [streaming(42), /is a number, expected an object/],
  "streams null": [streaming(null), /is null, expected an object/],
  "streams what is no JSON": [streaming({ tool_calls: [1n] }), /BigInt/i],
  "streams what holds itself": [streaming({ usage: cyclic }), /circular|cyclic/i],
};

/** stories by the behaviour that they test. */
export const stories: Record<string, Story> = {
  async "a run streams events and ends with a result"(engine) {
    const seen: RunEvent[] = [];
    const run = engine.run(chat, "hello", {
      llm: scripted([{ text: "good morning" }]),
      onEvent: (event) => seen.push(event),
    });
    const events = await all(run);
    same(
      events.filter(isWire).map((e) => e.event),
      [
        "workflow_started",
        "node_started",
        "node_finished",
        "node_started",
        "node_started",
        "message",
        "message",
        "message",
        "message_end",
        "node_finished",
        "node_finished",
        "workflow_finished",
      ],
    );
    const { status, answer, outputs, usage } = await run.result;
    same([status, answer, outputs], ["succeeded", "It says: good morning", { content: "It says: good morning" }]);
    same([usage?.calls, usage?.completion_tokens], [1, 3]);
    same(seen, events, "what onEvent saw");
    same(await all(run), events, "what a late reader sees");
    const lines: RunEvent[] = [];
    for await (const line of run.lines()) lines.push(JSON.parse(line) as RunEvent);
    same(lines, events, "the lines");
    same(events.flatMap((e) => e.seq ?? []), Array.from({ length: 13 }, (_, i) => i + 1), "numbers of the records");
  },

  async "onCall receives calls with their answers"(engine) {
    const seen: unknown[] = [];
    const run = engine.run(chat, "hello", {
      llm: scripted([{ chunks: ["good ", "morning"] }]),
      onCall: ({ kind, payload }) => {
        seen.push([kind, (payload["messages"] as { role: string }[]).at(-1)?.role]);
        return (ok, more, piece) => seen.push([ok, more, (piece as { text?: string }).text]);
      },
    });
    same((await run.result).status, "succeeded");
    same(seen, [
      ["model", "user"], [true, true, "good "], [true, true, "morning"], [true, true, undefined],
      [true, false, undefined],
    ]);
  },

  async "the same seed and clock give the same bytes"(engine) {
    const once = async (): Promise<string> => {
      let text = "";
      for await (const line of engine
        .run(chat, "hi", { llm: scripted([{ chunks: ["a", "b"] }]), seed: 7, now: 1_700_000_000_000 })
        .lines())
        text += line + "\n";
      return text.replace(/"elapsed_time":[\d.]+/g, "");
    };
    same(await once(), await once());
  },

  async "prompts, answers, tokens, tools and variables are reported"(engine) {
    const asked: unknown[] = [];
    const llm = scripted(
      [
        { tool_calls: [{ id: "c1", name: "tavily_search_0", arguments: '{"query":"k"}' }] },
        { text: "k is v" },
        { text: "k is v" },
      ],
      { can: { tools: true } },
    );
    const spied: Model = {
      can: llm.can,
      chat: (request, context) => {
        asked.push(request.tools);
        return llm.chat(request, context);
      },
    };
    const tools: RunOptions["tools"] = { TavilySearch: { run: (args) => `found ${String(args["query"])}` } };
    const events = await all(engine.run(agent, "find k", { llm: spied, tools }));
    holds(JSON.stringify(asked[0]).includes("tavily_search_0"), "a model that can call functions is offered them");
    const [started] = only(events, "model_started");
    same(started?.data.messages, [{ role: "system", content: "You help." }, { role: "user", content: "find k" }]);
    const finished = only(events, "model_finished");
    same(finished.map((e) => e.data.text), ["", "k is v"]);
    holds(
      finished.every((e) => (e.data.usage?.total_tokens ?? 0) > 0 && e.data.elapsed_time >= 0),
      "every answer has tokens and a time",
    );
    same(
      only(events, "tool_started").map((e) => [e.data.component_id, e.data.tool_name, e.data.arguments]),
      [["Agent:A", "tavily_search_0", { query: "k" }]],
    );
    same(only(events, "tool_finished").map((e) => e.data.result), ["found k"]);
    const order = events.map((e) => e.event).filter((name) => /^(model|tool)_/.test(name));
    same(order, [
      "model_started",
      "model_finished",
      "tool_started",
      "tool_finished",
      "model_started",
      "model_finished",
    ]);
    const values = only(events, "variables_changed").map((e) => e.data.values);
    same([values[0]?.["sys.query"], values.at(-1)?.["sys.history"]], ["find k", ["user: find k", "assistant: k is v"]]);
    const state = replay(events);
    const step = state.latest["Agent:A"];
    same([state.status, step?.tools.length, step?.models.length], ["succeeded", 1, 2]);
    same(state.usage?.total_tokens, state.latest["Agent:A"]?.usage?.total_tokens);
  },

  async "an agent whose model cannot call functions plans in text"(engine) {
    const asked: unknown[] = [];
    const llm = scripted([
      { text: "to find k" },
      { text: '[{"name":"tavily_search_0","arguments":{"query":"k"}}]' },
      { text: '[{"name":"complete_task","arguments":{"answer":"v"}}]' },
      { text: "v" },
    ]);
    const spied: Model = {
      chat: (request, context) => {
        asked.push(request.tools);
        return llm.chat(request, context);
      },
    };
    const events = await all(engine.run(agent, "find k", { llm: spied, tools: { TavilySearch: { run: () => "v" } } }));
    same(asked.filter(Boolean), []);
    same(
      only(events, "tool_finished")
        .filter((e) => e.data.tool_name === "tavily_search_0")
        .map((e) => e.data.result),
      ["v"],
    );
  },

  async "without a model the offline one answers"(engine) {
    const { status, answer } = await engine.run(chat, "how long may I return shoes?").result;
    same(status, "succeeded");
    fits(answer, /no language model was called/);
  },

  async "a run warns once of what is odd"(engine) {
    const search = chain(
      ["begin"],
      ["Retrieval:A", { query: "{sys.query}", kb_ids: ["x"] }],
      ["Retrieval:B", { query: "{sys.query}", kb_ids: ["x"] }],
    );
    const state = replay(await all(engine.run(search, "x")));
    same(state.warnings, ["Retrieval: no retriever is configured, so nothing is found"]);
  },

  async "a provider that fails in any way fails its node, and the next run works"(engine) {
    for (const [how, [llm, says]] of Object.entries(failing)) {
      const { status, error } = await engine.run(chat, "x", { llm }).result;
      same([how, status, error?.node], [how, "failed", "LLM:A"]);
      fits(error?.message, says, how);
    }
    same((await engine.run(chat, "x", { llm: scripted([{ text: "fine" }]) }).result).answer, "It says: fine");
  },

  async "other providers that fail, fail their node"(engine) {
    const search = chain(["begin"], ["TavilySearch:A", { query: "{sys.query}" }]);
    const invoke = chain(["begin"], ["Invoke:A", { url: "http://x.example", method: "get" }]);
    const code = chain(
      ["begin"],
      ["CodeExec:A", { lang: "javascript", script: "function main() { return 1 }", arguments: {} }],
    );
    const retrieve = chain(["begin"], ["Retrieval:A", { query: "{sys.query}", kb_ids: ["x"] }]);
    const cases: [canvas: object, options: RunOptions, says: RegExp][] = [
      [search, { tools: {} }, /no tool named TavilySearch/],
      [search, { tools: { TavilySearch: { run: () => cyclic } } }, /circular|cyclic/i],
      [search, { tools: { TavilySearch: { run: () => Promise.reject("no") } } }, /no$/],
      [invoke, { fetch: () => Promise.reject(new TypeError("network is down")) }, /network is down/],
      [invoke, { fetch: () => Promise.resolve(undefined as never) }, /fetch/],
      [code, { code: () => new Promise(() => undefined), patience: 30 }, /no answer within 30 ms/],
      [retrieve, { retrieve: () => { throw new EngineError("limit_reached", "too many"); } }, /too many/],
      [code, {}, /not available/],
    ];
    for (const [canvas, options, says] of cases) {
      const { status, error } = await engine.run(canvas as Record<string, unknown>, "x", options).result;
      same([says.source, status], [says.source, "failed"]);
      fits(error?.message, says);
    }
  },

  async "a provider that never answers times out"(engine) {
    const { error } = await engine.run(chat, "x", { llm: silent, patience: 30 }).result;
    fits(error?.message, /no answer within 30 ms/);
    const slow: Model = { async *chat() { yield { text: "a" }; await new Promise(() => undefined); } };
    fits((await engine.run(chat, "x", { llm: slow, patience: 30 }).result).error?.message, /no answer within 30 ms/);
  },

  async "cancel ends a run although its model never answers"(engine) {
    const stopped = { by: "" };
    const llm: Model = {
      async *chat(_request, { signal }) {
        signal.addEventListener("abort", () => {
          stopped.by = "signal";
        });
        await new Promise(() => undefined);
      },
    };
    const run = engine.run(chat, "x", { llm });
    await until(run, "model_started");
    run.cancel();
    const { status, outputs } = await run.result;
    same([status, outputs, stopped.by], ["canceled", "Task has been canceled", "signal"]);
    same(replay(await all(run)).status, "canceled");
  },

  async "cancel is heard while a canvas runs in circles"(engine) {
    const run = engine.run(circle(), "x");
    await until(run, "message");
    run.cancel();
    same((await run.result).status, "canceled");
  },

  async "a signal cancels, also before anything began"(engine) {
    same((await engine.run(chat, "x", { signal: AbortSignal.abort() }).result).status, "canceled");
    const control = new AbortController();
    const run = engine.run(chat, "x", { llm: silent, signal: control.signal });
    await until(run, "model_started");
    control.abort();
    same((await run.result).status, "canceled");
  },

  async "a form pauses, resume continues after it"(engine) {
    const run = engine.run(form, "x");
    const result = await run.result;
    same(
      [result.status, result.waiting, result.form],
      ["paused", ["UserFillUp:A"], { inputs: { name: { name: "name", type: "line" } }, tips: "name?" }],
    );
    same(replay(await all(run)).status, "paused");
    const next = run.resume({ name: "Ada" });
    same((await next.result).answer, "Hello Ada");
    const kept = await engine.load(form);
    await kept.run("x").result;
    const saved = await kept.save();
    kept.close();
    const later = await engine.load(saved); // as on another day
    same(
      (await later.run({ inputs: { name: { name: "name", type: "line", value: "Grace" } } }).result).answer,
      "Hello Grace",
    );
    later.close();
  },

  async "stand-ins, the middle of a run and one node alone"(engine) {
    same((await engine.run(chat, "x", { pins: { "LLM:A": { content: "pinned" } } }).result).answer, "It says: pinned");
    const from = engine.run(chat, "x", {
      from: "Message:A",
      base: { outputs: { "LLM:A": { content: "earlier" } }, variables: { "sys.user_id": "ada" } },
    });
    same((await from.result).answer, "It says: earlier");
    const some = await all(engine.run(chat, "x", { until: "begin" }));
    same(only(some, "node_finished").map((e) => e.data.component_id), ["begin"]);
    const canvas = await engine.load(chat);
    same(Object.keys(await canvas.form("Message:A")), ["LLM:A@content"]);
    const alone = await all(canvas.run({}, { debug: { node: "Message:A", params: { "LLM:A@content": "by hand" } } }));
    same(only(alone, "node_finished").map((e) => e.data.outputs["content"]), ["It says: by hand"]);
    canvas.close();
    for (const wrong of [
      { from: "X" },
      { until: "X" },
      { base: { outputs: { X: { y: 1 } } } },
      { debug: { node: "X", params: {} } },
    ] as RunOptions[]) {
      const outcome = await engine.run(chat, "x", wrong).result.then(
        ({ status, error }) => `${status} ${error?.message}`,
        (err: EngineError) => `refused ${err.message}`,
      );
      fits(outcome, /^(failed|refused) .*X/, JSON.stringify(wrong));
    }
  },

  async "the rest of a run whose state was saved in its middle"(engine) {
    const paused = engine.run(form, "x", { seed: 3 });
    await paused.result;
    const canvas = await engine.load(form);
    await canvas.run("x").result;
    const { waiting: _, ...doc } = JSON.parse(await canvas.save()) as { run: object; waiting: unknown };
    const middle = { ...doc, run: { ...doc.run, next: ["Message:A"], steps: 2 } };
    const resumed = await engine.load(middle);
    const events = await all(resumed.run({}, { continue: true }));
    same(
      events.filter(isWire).map((e) => e.event),
      ["node_started", "message", "message_end", "node_finished", "workflow_finished"],
    );
    const again = await engine.load(middle);
    const rerun = await all(again.run({}, { continue: true, rerun: true }));
    holds(rerun[0]?.message_id !== events[0]?.message_id, "a rerun has a message id of its own");
    await fails(canvas.run({}, { continue: true }).result, "bad_state", /middle of a run/);
    for (const each of [canvas, resumed, again]) each.close();
  },

  async "a canvas keeps its conversation and its edits"(engine) {
    const canvas = await engine.load(chat);
    await canvas.patch("Message:A", { content: ["Bye"] });
    same((await canvas.run("first", { llm: scripted([{ text: "y" }]) }).result).answer, "Bye");
    const saved = await canvas.save();
    fits(saved, /"history":\[\["user","first"\],\["assistant",.*"Bye"/);
    await canvas.reset({ keepHistory: true });
    fits(await canvas.save(), /"user","first"/);
    await canvas.reset();
    same((JSON.parse(await canvas.save()) as { history: unknown }).history, []);
    await canvas.restore(saved);
    const waiting = canvas.run("second", { llm: silent });
    await until(waiting, "model_started");
    await fails(canvas.reset(), "busy");
    await fails(canvas.run("x").result, "busy");
    waiting.cancel();
    await waiting.result;
    fits(await canvas.save(), /"user","first".*"user","second"/);
    await fails(canvas.patch("X", {}), "bad_reference", /X/);
    await fails(canvas.patch("Message:A", { content: 3 }), "bad_request");
    await fails(canvas.restore("3"), "bad_request");
    canvas.close();
    await fails(canvas.save(), "closed");
    await fails(canvas.run("x").result, "closed");
  },

  async "a canvas goes through unchanged"(engine) {
    const text = JSON.stringify(chat).replace(
      '"params":{}',
      '"params":{"b":1.0,"a":12345678901234567890,"7":1e400,"\\u00fc":"\\ud83d\\ude00"}',
    );
    const canvas = await engine.load(text);
    fits(await canvas.save(), /"b":1\.0,"a":12345678901234567890,"7":1e400,"ü":"😀"/);
    canvas.close();
  },

  async "what is broken is a typed error with the reason"(engine) {
    await fails(engine.load("{ broken"), "bad_canvas");
    await fails(engine.load(""), "bad_canvas");
    await fails(engine.load("[1]"), "bad_canvas");
    await fails(engine.load({ components: {} }), "bad_canvas", /begin/);
    await fails(engine.load(null as never), "bad_canvas", /not null/);
    await fails(engine.load(cyclic), "bad_canvas", /JSON/);
    await fails(engine.layout("{"), "bad_canvas");
    await fails(engine.run(undefined as never).result, "bad_canvas");
    await fails(engine.run(chat, { query: 1n }).result, "protocol", /BigInt/i);
    const unknown = { components: { begin: { obj: { component_name: "Nope", params: {} } } } };
    await fails(engine.load(unknown), "unknown_component", /Nope/);
    const [problem] = await engine.validate(unknown);
    same([problem?.severity, problem?.node], ["error", "begin"]);
    same((await engine.validate("{ broken"))[0]?.severity, "error");
    const deep = `{"components":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    await fails(engine.load(deep), "bad_canvas");
  },

  async "what is too large is refused before it crosses"(engine) {
    const large = `{"components":{},"x":"${"y".repeat(50 << 20)}"}`;
    for (const doing of [engine.load(large), engine.validate(large), engine.layout(large), engine.run(large).result])
      await fails(doing, "too_large", /limit is 20000000/);
  },

  async "script in a name stays text, and names of the language are names"(engine) {
    const evil = `<img src=x onerror="globalThis.pwned=1">`;
    const dsl = chain(["begin"], [`Message:${evil}`, { content: [`${evil} {sys.query}`] }]);
    const run = engine.run(dsl, evil);
    same((await run.result).answer, `${evil} ${evil}`);
    await fails(
      engine.load({ components: { begin: { obj: { component_name: evil, params: {} } } } }),
      "unknown_component",
      /<img/,
    );
    for (const name of ["__proto__", "constructor", "toString"]) {
      const text = JSON.stringify(chain(["begin"], ["Message:odd", { content: ["hi"] }]))
        .replaceAll("Message:odd", name)
        .replace(`"component_name":"${name}"`, '"component_name":"Message"');
      const odd = engine.run(text, "x");
      const { status } = await odd.result;
      const state = replay(await all(odd));
      same(
        [name, status, state.steps.map((step) => [step.node, step.status])],
        [
          name,
          "succeeded",
          [
            ["begin", "succeeded"],
            [name, "succeeded"],
          ],
        ],
      );
    }
    holds(!("pwned" in globalThis) && !("pwned" in Object.prototype), "nothing was run");
  },

  async "problems, components and places"(engine) {
    const broken = chain(["begin"], ["Message:A", { content: ["{LLM:B@content}"] }]);
    same((await engine.validate(broken)).map(({ severity, node }) => [severity, node]), [["error", "Message:A"]]);
    same(await engine.validate(chat), []);
    const specs = await engine.components();
    holds(
      specs.length > 20 && specs.every((spec) => spec.name && spec.params?.type === "object"),
      "every component has a schema",
    );
    const { nodes } = await engine.layout(chat);
    same(Object.keys(nodes), ["begin", "LLM:A", "Message:A"]);
    same(engine.info.abi, 1);
  },

  async "events go out as a server sends them"(engine) {
    const run = engine.run(chat, 'a "b": c,\\ d', { llm: scripted([{ text: "ok" }]) });
    const plain = await new Response(run.toSSE({ dialect: "ragflow" })).text();
    const frames = plain.split("\n\n");
    same(frames.slice(-2), ["data:[DONE]", ""]);
    fits(
      frames[0],
      /^data:\{"event": "workflow_started", "message_id": "\w+", "created_at": \d+, "task_id": "\w+", "data": \{"inputs": null\}\}$/,
    );
    holds(!/model_started|"seq"|variables_changed/.test(plain), "only the seven, without numbers");
    const question = frames.find((frame) => frame.includes("sys.query")) ?? "";
    holds(question.includes(String.raw`"a \"b\": c,\\ d"`), "texts are left alone: " + question);
    const own = (await new Response(run.toSSE()).text()).split("\n\n");
    fits(own[0], /^id: 1\nevent: workflow_started\ndata: \{"event":"workflow_started",/);
    same(own.length - 1, 12, "numbered events");
    fits(await new Response(run.toSSE({ dialect: "ragflow", session: "s1" })).text(), /, "session_id": "s1"\}\n/);
  },

  async "two hundred nodes, and many runs at once"(engine) {
    const events = await all(engine.run(long(200), "hi"));
    same(only(events, "node_finished").length, 201);
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        (_, i) =>
          engine.run(chat, `q${i}`, {
            llm: {
              async *chat({ messages }) {
                yield { text: `re ${String(messages.at(-1)?.content)}` };
              },
            },
          }).result,
      ),
    );
    same(answers.map((a) => a.answer), answers.map((_, i) => `It says: re q${i}`));
  },
};
