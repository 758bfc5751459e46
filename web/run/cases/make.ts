// Makes a case of runs: of a conversation in the page with the recorded calls, or of a run of a
// host.

import { isWire, type Engine, type RunEvent } from "@easel/engine";
import type { RunIds } from "../../canvas/earlier.ts";
import type { Outside, Turn } from "../player.ts";
import { CaseError, readCase, writeCase, type Case } from "./case.ts";
import { fold } from "./compare-events.ts";
import { requester } from "./differences.ts";
import { expectation } from "./expect.ts";
import type { Observation } from "./play.ts";
import { equal, get, isEmpty, list, text, without, written } from "./value.ts";

/**
 * conversation returns the turns that lead to one: the case plays all of them. It throws a
 * CaseError for a turn that is not a run of the whole canvas.
 */
export function conversation(turns: readonly Turn[], chosen: number): Turn[] {
  const turn = turns[chosen];
  if (!turn || (turn.ask.how && turn.ask.how.kind !== "resume")) throw new CaseError("part");
  if (turn.state.status === "canceled") throw new CaseError("canceled");
  const asked = turns
    .slice(0, chosen + 1)
    .filter(({ ask: { how }, place }) => place === "page" && (!how || how.kind === "resume"));
  return asked.filter(({ state }) => state.status !== "canceled");
}

/** caseOfTurns makes a case of a conversation in the page, without expectations of the state. */
export async function caseOfTurns(
  name: string, turns: readonly Turn[], { engine, ids }: { engine: Engine; ids: RunIds },
): Promise<Case> {
  const last = turns.at(-1);
  if (last?.before === undefined) throw new CaseError("part");
  const runs = turns.map((turn) => runOf(turn, ids));
  const loaded = await engine.load(last.before);
  try {
    await loaded.reset();
    const query = turns.map(({ ask }) => ask.query).find(Boolean) ?? "";
    return readCase(writeCase({ name, about: query, canvas: await loaded.save(), runs }));
  } finally {
    loaded.close();
  }
}

function runOf({ ask, records, pinned, calls, functions, state, error }: Turn, ids: RunIds): Record<string, unknown> {
  if (pinned.size > 0) throw new CaseError("pinned");
  const { query, inputs, files } = ask;
  const { script, concurrent } = scriptOf(records.events, functions);
  const events = inRun(records.events.filter(isWire), ids).map(({ event, data }) => ({ event, data }));
  const failed = error ?? (state.status === "failed" ? state.error : undefined);
  return {
    kwargs: defined({ query, inputs, files }),
    ...(script.length > 0 ? { llm_script: script } : {}),
    ...answersOf(calls),
    ...expectation({ events, ...(failed ? { error: failed } : {}) }),
    ...(script.length > 0 ? { llm_calls: script.map(() => ({})) } : {}),
    ...(concurrent ? { llm_calls_unordered: true } : {}),
  };
}

// inRun returns events with the ids that nodes have in runs, not those of the document.
function inRun(events: readonly RunEvent[], ids: RunIds): RunEvent[] {
  return events.map((event) => {
    const node = get(event.data, "component_id");
    if (typeof node !== "string" || ids.run(node) === node) return event;
    return { ...event, data: { ...event.data, component_id: ids.run(node) } } as RunEvent;
  });
}

function defined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Called is a call of a model in the events of a run. */
interface Called {
  /** The texts of the request, the last message first. */
  texts: string[];
  reply?: Record<string, unknown>;
  /** Other models may be called at the same time, so the order may differ next time. */
  concurrent: boolean;
}

/** Open holds the nodes, tools and calls that are active at a point of a run. */
class Open {
  readonly calls = new Set<Called>();
  readonly #nodes = new Set<string>();
  readonly #callers: ReadonlySet<string>;
  #tools = 0;

  /** Only nodes that call models count: a container, or a message that streams, is open as well. */
  constructor(events: readonly RunEvent[]) {
    this.#callers = new Set(
      events.flatMap((event) => (event.event === "model_started" ? [event.data.component_id] : [])),
    );
  }

  /** several reports whether several nodes or tools may call models. */
  get several(): boolean {
    return this.calls.size > 0 || this.#tools > 1 || this.#nodes.size > 1;
  }

  take(event: RunEvent): void {
    switch (event.event) {
      case "tool_started": this.#tools++; break;
      case "tool_finished": this.#tools--; break;
      case "node_started": if (this.#callers.has(event.data.component_id)) this.#nodes.add(nodeOf(event.data)); break;
      case "node_finished": this.#nodes.delete(nodeOf(event.data)); break;
    }
  }
}

function nodeOf(data: { component_id: string; index_path?: number[] }): string {
  return [data.component_id, ...(data.index_path ?? [])].join();
}

// scriptOf returns the answers of models in the order of the calls.
function scriptOf(
  events: readonly RunEvent[], functions: Turn["functions"],
): { script: Record<string, unknown>[]; concurrent: boolean } {
  const calls = new Map<string, Called>();
  const open = new Open(events);
  for (const event of events) {
    open.take(event);
    if (event.event === "model_started") {
      const { call, messages } = event.data;
      const texts = messages.map(({ content }) => written(content)).reverse();
      const made = { texts, concurrent: open.several };
      for (const other of open.calls) other.concurrent = true;
      calls.set(call, made);
      open.calls.add(made);
    } else if (event.event === "model_finished") {
      const { call, text: said, error } = event.data;
      const made = calls.get(call);
      if (!made) continue;
      open.calls.delete(made);
      const tool_calls = functions.get(call);
      made.reply = {
        ...(!error ? { text: said } : said ? { chunks: [said, { raise: error }] } : { raise: error }),
        ...(tool_calls ? { tool_calls } : {}),
      };
    }
  }
  const all = [...calls.values()];
  if (all.some(({ reply }) => reply === undefined)) throw new CaseError("models");
  const concurrent = all.some((each) => each.concurrent);
  const marks = concurrent ? marksOf(all) : [];
  return { script: all.map(({ reply }, i) => ({ ...(marks[i] ? { match: marks[i] } : {}), ...reply })), concurrent };
}

// marksOf returns the line of each call that the fewest other calls have. A later turn of the same
// agent may have it too. Lines with a date do not count, because the clock of a test differs.
function marksOf(all: readonly Called[]): string[] {
  const lines = all.map(({ texts }) => [...new Set(texts.join("\n").split("\n").map((line) => line.trim()))]
    .filter((line) => line.length > 3 && !/\d{4}-\d\d-\d\d/.test(line)));
  const counts = new Map<string, number>();
  for (const line of lines.flat()) counts.set(line, (counts.get(line) ?? 0) + 1);
  const count = (line: string): number => counts.get(line) ?? 0;
  return lines.map((own) => own.toSorted((a, b) => count(a) - count(b))[0] ?? "");
}

// answersOf returns the answers from outside the engine in the form of case files.
function answersOf(calls: readonly Outside[]): Record<string, unknown> {
  const retrieval: Record<string, unknown> = {};
  const blobs: Record<string, unknown> = {};
  const tools: unknown[] = [];
  for (const { call: { kind, payload }, answer } of calls) {
    if (kind === "code" || kind === "memory") continue; // these calls run again in a play
    if (!answer) throw new CaseError("calls", kind);
    const result = answer.payload;
    switch (kind) {
      case "retrieve":
        if (!answer.ok) throw new CaseError("calls", kind);
        retrieval[written(payload["query"])] = {
          chunks: list(get(result, "chunks")), doc_aggs: list(get(result, "doc_aggs")),
        };
        break;
      case "files":
        if (answer.ok) blobs[written(get(payload["file"], "id"))] = { text: written(get(result, "text")) };
        break;
      case "tool":
        tools.push({
          component: payload["component"], arguments: payload["arguments"],
          ...(answer.ok ? { result } : { error: text(get(result, "message")) }),
        });
        break;
      case "fetch":
        if (get(result, "encoding") === "base64") throw new CaseError("calls", kind);
        tools.push({
          component: requester, arguments: requestOf(payload),
          ...(answer.ok ? { result: without(result, "encoding") } : { error: text(get(result, "message")) }),
        });
        break;
      default:
        throw new CaseError("calls", kind);
    }
  }
  return {
    ...(isEmpty(retrieval) ? {} : { retrieval }), ...(isEmpty(blobs) ? {} : { blobs }),
    ...(tools.length > 0 ? { tools } : {}),
  };
}

function requestOf({ method, url, body, proxy, headers }: Record<string, unknown>): Record<string, unknown> {
  const parts = Object.entries({ method, url, body, proxy, headers });
  return Object.fromEntries(parts.filter(([, part]) => !isEmpty(part)));
}

/**
 * settled returns a new case with everything that its play does as the expectation, if the play has
 * the messages of the runs. Otherwise it stays as it is, and the test shows what differs.
 */
export function settled(made: Case, observed: Observation): Case {
  const same = observed.obstacle === undefined && made.runs.every(({ events }, i) =>
    equal(messagesOf(events), messagesOf(observed.runs[i]?.["events"])));
  if (!same) return made;
  const runs = made.runs.map((run, i) => ({ ...run, ...expectation(observed.runs[i] ?? {}) }));
  return { ...made, runs };
}

function messagesOf(events: unknown): unknown[] {
  return fold(events).filter(({ event, mark }) => event === "message" && mark === "").map(({ content }) => content);
}
