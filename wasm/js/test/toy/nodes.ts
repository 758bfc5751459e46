// The kinds of nodes in the toy.

import type { Start } from "../../src/protocol.ts";
import type { Asker } from "./asker.ts";
import { holds, look, references, show, text, type ToyCanvas, type Values } from "./values.ts";

/** Result is the result of an execution. */
export interface Result {
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
  error?: string;
  next?: string[];
  exit?: boolean;
  /** Text of a Message. */
  say?: string;
  stream?: () => AsyncIterable<string>;
  ask?: { inputs: Record<string, unknown>; tips: string };
  /** Turns of a container: begin returns the item's outputs, or undefined at the end. */
  body?: { begin(turn: number): Record<string, unknown> | undefined; end(): void };
}

/** Running is the view of a node on its run. */
export interface Running {
  readonly values: Values;
  readonly chunks: Record<string, unknown>;
  readonly asker: Asker;
  emit(event: string, data: unknown): void;
  assign(values: Record<string, unknown>): void;
  rest(part?: number): Promise<void>;
}

type Params = Record<string, unknown>;
type Executor = (run: Running, id: string, params: Params, start: Start, canvas: ToyCanvas) => Result | Promise<Result>;

const list = (value: unknown): Params[] => (Array.isArray(value) ? (value as Params[]) : []);

/** execute runs one node. */
export async function execute(
  run: Running,
  id: string,
  kind: string,
  params: Params,
  start: Start,
  canvas: ToyCanvas,
): Promise<Result> {
  const result = await (executors[kind] ?? unknown)(run, id, params, start, canvas);
  if (Object.keys(result.inputs).length === 0 && kind !== "Begin") {
    for (const ref of references(params)) result.inputs[ref] = look(run.values, ref) ?? null;
  }
  return result;
}

const unknown: Executor = (_run, _id, params) => ({
  inputs: {},
  outputs: { result: null, note: `the toy ignores ${Object.keys(params).length} params` },
});

const executors: Record<string, Executor> = {
  Begin: (_run, _id, _params, start) => {
    const fields = Object.fromEntries(
      Object.entries(start.inputs ?? {}).map(([name, field]) => [name, valueOf(field)]),
    );
    return { inputs: fields, outputs: fields };
  },
  Message: (_run, _id, params) => {
    const content = Array.isArray(params["content"]) ? (params["content"][0] as unknown) : params["content"];
    return { inputs: {}, outputs: {}, say: String(content ?? "") };
  },
  LLM: (run, id, params) => model(run, id, params),
  Agent: async (run, id, params) => {
    const used = [];
    for (const [at, tool] of list(params["tools"]).entries()) {
      const name = `${String(tool["name"] ?? tool["component_name"]).replaceAll(" ", "_")}_${at}`;
      const query = show(run.values.variables["sys.query"]);
      run.emit("tool_started", { component_id: id, tool_name: name, arguments: { query } });
      await run.rest(2);
      const found =
        tool["component_name"] === "Retrieval"
          ? await retrieve(run, id, query, (tool["params"] ?? {}) as Params)
          : { text: `nothing new about “${query}”` };
      run.emit("tool_finished", {
        component_id: id,
        tool_name: name,
        arguments: { query },
        result: found.text,
        error: null,
        elapsed_time: 0.1,
      });
      used.push({ name, arguments: { query }, results: found.text });
    }
    const result = await model(run, id, params);
    return used.length ? { ...result, outputs: { ...result.outputs, use_tools: used } } : result;
  },
  Categorize: async (run, id, params) => {
    const query = show(look(run.values, params["query"] ?? "sys.query")).toLowerCase();
    const categories = Object.entries(
      (params["category_description"] ?? {}) as Record<
        string,
        { examples?: unknown[]; to?: string[]; description?: string }
      >,
    );
    const words = (category: (typeof categories)[number]): string[] =>
      show([category[0], category[1].examples, category[1].description])
        .toLowerCase()
        .match(/[\p{Script=Han}]{2}|\w{4,}/gu) ?? [];
    const scores = categories.map((category) => words(category).filter((word) => query.includes(word)).length);
    const best = scores.indexOf(Math.max(...scores));
    const [name, chosen] = categories[scores[best] ? best : categories.length - 1] ?? ["", {}];
    await model(run, id, { prompts: [{ role: "user", content: query }], sys_prompt: "Name the category." }, name);
    return { inputs: { query }, outputs: { category_name: name, _next: chosen.to ?? [] }, next: chosen.to ?? [] };
  },
  Switch: (run, _id, params) => {
    const inputs: Params = {};
    const match = list(params["conditions"]).find((condition) => {
      const items = list(condition["items"]).map((item) => {
        const left = look(run.values, item["cpn_id"]);
        inputs[String(item["cpn_id"])] = left ?? null;
        return holds(left, String(item["operator"]), item["value"]);
      });
      return condition["logical_operator"] === "and" ? items.every(Boolean) : items.some(Boolean);
    });
    const next = (match?.["to"] ?? params["end_cpn_ids"] ?? []) as string[];
    return { inputs, outputs: { next, _next: next }, next };
  },
  Iteration: (run, id, params) => {
    const items = look(run.values, params["items_ref"]);
    if (!Array.isArray(items))
      throw new Error(`${String(params["items_ref"])} must be an array, but its type is ${typeof items}`);
    const slots = Object.entries((params["outputs"] ?? {}) as Record<string, { ref?: string }>);
    const outputs: Params = Object.fromEntries(slots.map(([name]) => [name, []]));
    return {
      inputs: { [String(params["items_ref"])]: items }, outputs,
      body: {
        begin: (turn) => (turn < items.length ? { item: items[turn], index: turn, result: items[turn] } : undefined),
        end: () => {
          for (const [name, { ref }] of slots) (outputs[name] as unknown[]).push(look(run.values, ref) ?? null);
          run.values.outputs[id] = outputs;
        },
      },
    };
  },
  Loop: (run, id, params) => {
    const outputs = Object.fromEntries(list(params["loop_variables"]).map((v) =>
      [String(v["variable"]), v["input_mode"] === "variable" ? look(run.values, v["value"]) : v["value"]]));
    run.values.outputs[id] = outputs;
    const most = Number(params["maximum_loop_count"] ?? 0);
    const over = (): boolean => {
      const tests = list(params["loop_termination_condition"]).map((c) =>
        holds(look(run.values, c["variable"]), String(c["operator"]), c["value"]),
      );
      return params["logical_operator"] === "or" ? tests.some(Boolean) : tests.every(Boolean);
    };
    return {
      inputs: {},
      outputs,
      body: { begin: (turn) => (turn < most && !over() ? { index: turn } : undefined), end: () => undefined },
    };
  },
  ExitLoop: () => ({ inputs: {}, outputs: {}, exit: true }),
  UserFillUp: (run, _id, params, start) => {
    const fields = (params["inputs"] ?? {}) as Params;
    const given = start.inputs ?? {};
    if (Object.keys(fields).some((name) => !(name in given))) {
      return { inputs: {}, outputs: {}, ask: { inputs: fields, tips: text(run.values, params["tips"]) } };
    }
    return { inputs: {}, outputs: Object.fromEntries(Object.keys(fields).map((name) => [name, valueOf(given[name])])) };
  },
  VariableAssigner: (run, _id, params) => {
    const changed: Params = {};
    for (const { variable, operator, parameter } of list(params["variables"])) {
      const name = String(variable).replace(/[{}]/g, "");
      changed[name] = assigned(run, look(run.values, name), String(operator), parameter);
      run.assign({ [name]: changed[name] });
    }
    return { inputs: {}, outputs: changed };
  },
  VariableAggregator: (run, _id, params) => ({
    inputs: {}, outputs: Object.fromEntries(list(params["groups"]).map((group) =>
      [String(group["group_name"]), list(group["variables"]).map((v) => look(run.values, v["value"])).find(Boolean) ??
        null])),
  }),
  ListOperations: (run, _id, params) => {
    const items = look(run.values, params["query"]);
    if (!Array.isArray(items)) throw new Error("The input of List Operations should be an array.");
    const n = Number(params["n"] ?? 0);
    const sorted = [...items].sort((a, b) => (show(a) < show(b) ? -1 : 1));
    const result =
      (
        {
          sort: () => (params["sort_method"] === "desc" ? sorted.reverse() : sorted),
          tail: () => items.slice(-n),
          drop_duplicates: () => [...new Map(items.map((item) => [show(item), item])).values()],
        } as Record<string, () => unknown[]>
      )[String(params["operations"])]?.() ?? items.slice(0, n);
    return { inputs: {}, outputs: { result, first: result[0] ?? null, last: result.at(-1) ?? null } };
  },
  DataOperations: (run, _id, params) => {
    const found = [params["query"]]
      .flat()
      .flatMap((ref) => look(run.values, ref))
      .filter((v) => typeof v === "object" && v !== null) as Params[];
    const keys = list(params["select_keys"]).map((key) => show((key as { name?: string }).name ?? key));
    const result = params["operations"] === "combine" ? Object.assign({}, ...found)
      : found.map((each) => (keys.length ? Object.fromEntries(keys.map((key) => [key, each[key]])) : each));
    return { inputs: {}, outputs: { result } };
  },
  StringTransform: (run, _id, params) => {
    if (params["method"] === "merge") return { inputs: {}, outputs: { result: text(run.values, params["script"]) } };
    const marks = list(params["delimiters"]).map(String);
    let parts = [show(look(run.values, params["split_ref"]))];
    for (const mark of marks) parts = parts.flatMap((part) => part.split(mark));
    return { inputs: {}, outputs: { result: parts } };
  },
  Invoke: async (run, id, params) => {
    const url = String(params["url"]).replace(/\{([A-Za-z_][\w.@-]*)\}/g, (_, ref: string) =>
      show(look(run.values, ref)),
    );
    const args = Object.fromEntries(
      list(params["variables"]).map((v) => [String(v["key"]), show(v["value"] || look(run.values, v["ref"]))]),
    );
    const full = Object.keys(args).length ? `${url}?${new URLSearchParams(args)}` : url;
    const found = await run.asker.ask("fetch", id, { method: "GET", url: full, headers: {} });
    return { inputs: args, outputs: { result: found["body"] } };
  },
  Retrieval: async (run, id, params) => {
    const query = text(
      run.values,
      /[{]/.test(show(params["query"])) ? params["query"] : `{${show(params["query"] ?? "sys.query")}}`,
    );
    const { text: content, chunks } = await retrieve(run, id, query, params);
    return {
      inputs: { query },
      outputs: { formalized_content: content || show(params["empty_response"]), json: chunks },
    };
  },
  CodeExec: async (run, id, params) => {
    const args = Object.fromEntries(
      Object.entries((params["arguments"] ?? {}) as Params).map(([name, ref]) => [name, look(run.values, ref) ?? null]),
    );
    const { result } = await run.asker.ask("code", id, {
      lang: params["lang"],
      script: params["script"],
      arguments: args,
    });
    const names = Object.keys((params["outputs"] ?? { result: {} }) as Params).filter((name) => !name.startsWith("_"));
    const object =
      typeof result === "object" && result !== null && !Array.isArray(result) ? (result as Params) : undefined;
    return {
      inputs: args,
      outputs: Object.fromEntries(names.map((name, at) => [name, object ? object[name] : at === 0 ? result : null])),
    };
  },
  Spin: (_run, _id, params) => {
    const end = Date.now() + Number(params["ms"]);
    while (Date.now() < end) { /* burns CPU on purpose */ }
    return { inputs: {}, outputs: {} };
  },
};

function valueOf(field: unknown): unknown {
  return typeof field === "object" && field !== null && "value" in field ? field.value : field;
}

function assigned(run: Running, old: unknown, operator: string, parameter: unknown): unknown {
  const value =
    typeof parameter === "string" && /@|^\{?(sys|env)\./.test(parameter) ? look(run.values, parameter) : parameter;
  switch (operator) {
    case "overwrite": return value;
    case "set": return typeof parameter === "string" ? text(run.values, parameter) : parameter;
    case "append": return [...((old as unknown[] | null) || []), value];
    case "clear": return Array.isArray(old) ? [] : "";
    case "+=": return Number(old) + Number(value);
    case "-=": return Number(old) - Number(value);
    default: return null;
  }
}

async function retrieve(
  run: Running,
  id: string,
  query: string,
  params: Params,
): Promise<{ text: string; chunks: unknown[] }> {
  if (!run.asker.answers("retrieve")) return { text: "", chunks: [] };
  const found = await run.asker.ask("retrieve", id, { query, datasets: params["kb_ids"], top_n: params["top_n"] ?? 4 });
  const chunks = (found["chunks"] ?? []) as { id?: string; content?: string; document_name?: string }[];
  let content = "";
  for (const chunk of chunks) {
    const number = Object.keys(run.chunks).length + 1;
    run.chunks[number] = chunk;
    content += `\nID: ${number}\n├── Title: ${chunk.document_name ?? ""}\n└── Content:\n${chunk.content ?? ""}`;
  }
  return { text: content, chunks };
}

async function model(run: Running, id: string, params: Params, fixed?: string): Promise<Result> {
  const messages = [
    ...(params["sys_prompt"] ? [{ role: "system", content: text(run.values, params["sys_prompt"]) }] : []),
    ...(Array.isArray(params["prompts"])
      ? list(params["prompts"])
      : [{ role: "user", content: String(params["prompts"] ?? "{sys.query}") }]
    ).map((prompt) => ({ role: String(prompt["role"] ?? "user"), content: text(run.values, prompt["content"]) })),
  ];
  const call = `${id}/m/${Math.round(performance.now() * 10)}`;
  const stream = async function* (): AsyncGenerator<string> {
    const began = performance.now();
    run.emit("model_started", { component_id: id, call, model: String(params["llm_id"] ?? ""), messages });
    let whole = "";
    let usage: unknown;
    const asked =
      run.asker.answers("model") && fixed === undefined
        ? run.asker.stream("model", id, { model: params["llm_id"] ?? "", mode: "stream", messages })
        : offline(run, id, messages, fixed);
    for await (const piece of asked) {
      usage = piece["usage"] ?? usage;
      if (!piece["text"]) continue;
      whole += String(piece["text"]);
      yield String(piece["text"]);
    }
    run.emit("model_finished", {
      component_id: id,
      call,
      text: whole,
      usage,
      error: null,
      elapsed_time: (performance.now() - began) / 1000,
    });
  };
  if (fixed === undefined) return { inputs: {}, outputs: {}, stream };
  for await (const _ of stream()) { /* only its events matter */ }
  return { inputs: {}, outputs: {} };
}

async function* offline(
  run: Running,
  id: string,
  messages: { role: string; content: string }[],
  fixed?: string,
): AsyncGenerator<Record<string, unknown>> {
  const asked = messages.at(-1)?.content ?? "";
  const cite = Object.keys(run.chunks)
    .map((n) => ` [ID:${n}]`)
    .slice(0, 2)
    .join("");
  const answer =
    fixed ??
    `<think>${id} is thinking about it.</think>This is the **toy model** of ${id}. You asked: ${asked.slice(0,
      200)}${cite}`;
  for (const word of answer.match(/<\/?think>|[^\s<]+\s*|\s+/g) ?? []) {
    await run.rest(0.25);
    yield { text: word };
  }
  const usage = {
    prompt_tokens: Math.ceil(JSON.stringify(messages).length / 4),
    completion_tokens: Math.ceil(answer.length / 4),
    total_tokens: 0,
  };
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  run.asker.usage.prompt_tokens += usage.prompt_tokens;
  run.asker.usage.completion_tokens += usage.completion_tokens;
  run.asker.usage.total_tokens += usage.total_tokens;
  yield { usage };
}
