// The stand-ins that answer the calls of a case from its script, without a network. The twins of
// those in engine/enginetest.

import { EngineError, type CodeRunner, type Model, type ModelPiece, type Port, type Providers } from "@easel/engine";
import { isObject } from "../../canvas/dsl.ts";
import type { Obstacle } from "./case.ts";
import { voiceMark } from "./compare-events.ts";
import { requester } from "./differences.ts";
import { equal, get, has, list, text, without, written } from "./value.ts";

/** Seen are the calls that a run made. */
export interface Seen {
  calls: Record<string, unknown>[];
  tools: Record<string, unknown>[];
  saved: Record<string, unknown>[];
  searches: Record<string, unknown>[];
  /** What the run needed and no script answers. */
  obstacle?: Obstacle;
}

/**
 * standIns returns the ports for a run of a case and the list of calls, which grows. `code` runs
 * scripts.
 */
export function standIns(
  run: Record<string, unknown>, code: CodeRunner | undefined,
): { ports: Providers; seen: Seen } {
  const seen: Seen = { calls: [], tools: [], saved: [], searches: [] };
  const answers = new Answers(list(run["tools"]), seen.tools);
  const isRequest = (call: unknown): boolean => get(call, "component") === requester;
  return {
    seen,
    ports: {
      ...(code ? { code } : {}),
      llm: modelOf(run, seen.calls),
      ports: {
        retrieve: ({ user_id: _user, ...asked }) => {
          seen.searches.push({ component: "search", arguments: asked });
          return found(run["retrieval"], written(asked["query"]));
        },
        files: ({ file }) => ({ text: contentOf(run["blobs"], file) }),
        speech: ({ text: said }) => ({ audio: base64(voiceMark + written(said)) }),
        memory: (exchange) => {
          const { memory_ids, user_input, agent_response } = exchange;
          seen.saved.push({ memory_ids, user_input, agent_response });
        },
        ...(code ? {} : { code: noScripts(seen) }),
        fetch: list(run["tools"]).some(isRequest) ? answers.fetch : refused(seen),
        ...(list(run["tools"]).length > 0 ? { tool: answers.tool } : {}),
        ...(isObject(run["canvases"]) ? { canvas: inside(run["canvases"]) } : {}),
        ...(run["servers"] ? { mcp: answers.mcp(run["servers"]) } : {}),
      },
    },
  };
}

// inside answers with the canvases that ran inside of the one of the case.
function inside(canvases: Record<string, unknown>): Port {
  return ({ canvas, version }) => {
    const dsl = get(get(canvases, written(canvas)), written(version));
    if (!isObject(dsl)) throw new EngineError("provider", `the case does not have canvas "${written(canvas)}"`);
    return { dsl: JSON.stringify(dsl) };
  };
}

// modelOf answers each call with the first unused reply that matches. A call with the key of an
// earlier one is a retry of it.
function modelOf(run: Record<string, unknown>, calls: Record<string, unknown>[]): Model {
  const left = [...list(run["llm_script"])];
  const given = new Map<string, unknown>();
  const spare = run["fallback"] ?? { error: "script exhausted" };
  return {
    can: { tools: left.some((reply) => has(reply, "tool_calls")) },
    async *chat({ mode, model, messages, options, key = "" }, { node = "", signal }) {
      let reply = key ? given.get(key) : undefined;
      if (reply === undefined) {
        const [first, ...rest] = messages;
        const system = first?.role === "system" ? written(first.content) : "";
        const said = (first?.role === "system" ? rest : messages)
          .map(({ role, content }) => ({ role, content: written(content) }));
        calls.push({
          kind: mode, model, system, messages: said, gen_conf: options ?? {}, node: node.split("-->", 1)[0],
        });
        const heard = [system, ...said.map(({ content }) => content)];
        const fits = (each: unknown): boolean => heard.some((one) => one.includes(text(get(each, "match"))));
        const at = left.findIndex(fits);
        reply = at < 0 ? spare : left.splice(at, 1)[0];
        if (key) given.set(key, reply);
      }
      const pieces = piecesOf(reply);
      const failed = mode === "chat" ? pieces.find((piece) => typeof piece !== "string") : undefined;
      for (const piece of failed ? [failed] : mode === "chat" ? [pieces.join("")] : pieces) {
        if (signal.aborted) return;
        if (typeof piece !== "string") throw new EngineError("provider", piece.raise);
        yield { text: piece };
      }
      const called = functionsOf(reply);
      if (called.length > 0) yield { tool_calls: called };
    },
  };
}

function functionsOf(reply: unknown): NonNullable<ModelPiece["tool_calls"]> {
  return list(get(reply, "tool_calls")).map((call) => ({
    id: text(get(call, "id")), name: text(get(call, "name")), arguments: written(get(call, "arguments")),
  }));
}

function piecesOf(reply: unknown): (string | { raise: string })[] {
  if (typeof reply === "string") return [reply];
  if (has(reply, "text")) return [written(get(reply, "text"))];
  if (has(reply, "chunks")) {
    return list(get(reply, "chunks")).map((each) =>
      typeof each === "string" ? each : { raise: written(get(each, "raise")) });
  }
  if (!has(reply, "error") && !has(reply, "raise")) return []; // it only calls functions
  const raise = text(get(reply, "raise"));
  return raise ? [{ raise }] : [`**ERROR**: GENERIC_ERROR - ${text(get(reply, "error"))}`];
}

// found looks up a query: by its text, else by "*".
function found(retrieval: unknown, query: string): { chunks: unknown[]; doc_aggs: unknown[] } {
  const hit = has(retrieval, query) ? get(retrieval, query) : get(retrieval, "*");
  return { chunks: list(get(hit, "chunks")), doc_aggs: list(get(hit, "doc_aggs")) };
}

// contentOf returns an image as a data URL and anything else as [name]content.
function contentOf(blobs: unknown, file: unknown): string {
  const id = written(get(file, "id"));
  if (!has(blobs, id)) throw new EngineError("provider", `no file has the id ${JSON.stringify(id)}`);
  const content = get(blobs, id);
  if (has(content, "text")) return written(get(content, "text"));
  const type = text(get(file, "mime_type"));
  if (type.startsWith("image/")) return `data:${type};base64,${base64(written(content))}`;
  return `[${written(get(file, "name"))}]${written(content)}`;
}

function base64(said: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(said)));
}

/** scriptedServer is the address that answers in `easel test`. */
const scriptedServer = "127.0.0.1:18099";

// refused refuses all connections, as `easel test` does; the server that it scripts is not here.
function refused(seen: Seen): Port {
  return ({ url, proxy }) => {
    const address = text(proxy) || text(url);
    const host = /^http:\/\/([^/?#]*)/.exec(address)?.[1];
    if (host === scriptedServer) seen.obstacle = { code: "server", names: [host] };
    const why = host === undefined ? `url ${JSON.stringify(address)}: only http is known here`
      : `connect to ${host}: connection refused`;
    throw new EngineError("provider", why);
  };
}

function noScripts(seen: Seen): Port {
  return () => {
    seen.obstacle = { code: "scripts", names: [] };
    throw new EngineError("unsupported", "this page cannot run scripts");
  };
}

// Answers answers calls of tools, MCP servers and web requests. A call takes the first unused
// answer to the same call; a call with the key of an earlier one is a retry of it.
class Answers {
  readonly #recorded: unknown[];
  readonly #asked: Record<string, unknown>[];
  readonly #used = new Set<unknown>();
  readonly #given = new Map<string, unknown>();

  constructor(recorded: unknown[], asked: Record<string, unknown>[]) {
    this.#recorded = recorded;
    this.#asked = asked;
  }

  readonly tool: Port = ({ component, arguments: args, key }) =>
    this.#take({ component, arguments: args }, text(key));

  readonly fetch: Port = ({ method, url, headers, body, proxy }) => {
    const parts = { method, url, body, proxy };
    const args: Record<string, unknown> = Object.fromEntries(Object.entries(parts).filter(([, part]) => part));
    if (isObject(headers) && Object.keys(headers).length > 0) args["headers"] = headers;
    return this.#take({ component: requester, arguments: args }, "");
  };

  mcp(servers: unknown): Port {
    return ({ op, server, url, name, arguments: args }) => {
      const id = text(server) || text(url);
      if (op === "call") return { text: this.#take({ server: id, name, arguments: args }, "") };
      if (has(servers, id)) return { tools: get(servers, id) };
      throw new EngineError("provider", `MCP server ${JSON.stringify(id)}: its tools are not recorded`);
    };
  }

  #take(request: Record<string, unknown>, key: string): unknown {
    let answer = key ? this.#given.get(key) : undefined;
    if (answer === undefined) {
      const isSame = (each: unknown): boolean => equal(without(each, "result", "error", "final"), request);
      answer = this.#recorded.find((each) => !this.#used.has(each) && isSame(each));
      // The engine retries after an error of a page; a final error would have ended the node.
      const again = answer === undefined
        ? this.#recorded.findLast((each) => this.#used.has(each) && get(each, "final") === true && isSame(each))
        : undefined;
      if (again === undefined) this.#asked.push(request);
      answer ??= again;
      if (answer === undefined) throw new EngineError("provider", this.#unknown(request));
      this.#used.add(answer);
      if (key) this.#given.set(key, answer);
    }
    const error = text(get(answer, "error"));
    if (error) throw new EngineError("provider", error);
    return get(answer, "result") ?? null;
  }

  #unknown(request: Record<string, unknown>): string {
    const callee = text(request["component"]) || `${text(request["name"])} of ${text(request["server"])}`;
    const others = this.#recorded
      .filter((each) => !this.#used.has(each) && ["component", "server", "name"].every(
        (name) => text(get(each, name)) === text(request[name]),
      ))
      .map((each) => written(get(each, "arguments")));
    const spare = others.length > 0 ? `; recorded and not used are ${others.join(", ")}` : "";
    return `${callee}: no answer is recorded for the arguments ${written(request["arguments"])}${spare}`;
  }
}
