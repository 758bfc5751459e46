// Handles the engine's calls with the providers of the caller of `run`. Whatever a
// provider does (throw, reject, stream invalid values, never respond) becomes one response
// with a code; an abort stops the wait immediately, even if the provider ignores it.

import { Guard, type Reach } from "./address.ts";
import { EngineError } from "./errors.ts";
import { answer as fetchAnswer, unmarked } from "./fetch.ts";
import type { Call, CallContext, CallKind, ToolSpec } from "./protocol.ts";
import type { Chunk } from "./events.ts";
import type { PluginSource, Session } from "./plugin/shelf.ts";
import type { Model, ModelRequest } from "./model/model.ts";

/**
 * Tool implements a component that the engine has by name only, such as a web
 * search. An object it returns is the node's outputs (`chunks` and `doc_aggs` become
 * references), anything else its text.
 */
export interface Tool extends ToolSpec {
  run(args: Record<string, unknown>, context: CallContext & { params: Record<string, unknown> }): unknown;
}

/** Found is the result of a retriever, best chunk first. */
export interface Found {
  chunks: Chunk[];
  doc_aggs?: unknown[];
}

/** Retriever searches datasets. */
export type Retriever = (
  query: { query: string; datasets?: string[]; top_n?: number } & Record<string, unknown>,
  context: CallContext,
) => Found | Promise<Found>;

/** CodeRequest is a script of a Code node with its arguments. */
export interface CodeRequest {
  lang: string;
  script: string;
  arguments: Record<string, unknown>;
  /** The same as JSON text with all digits of its numbers; for Python only. */
  arguments_json?: string;
  /** Milliseconds. */
  timeout?: number;
  /** Bytes. */
  memory?: number;
}

/** Artifact is a file that a script made. */
export interface Artifact {
  name: string;
  mime_type: string;
  /** Bytes. */
  size: number;
  /** Where it is, such as a data URL. */
  url?: string;
}

/** CodeAnswer is the result of a script. */
export interface CodeAnswer {
  /** The result of main, as JSON. */
  result: unknown;
  /** The same as JSON text, used instead of `result`; its numbers keep all digits. */
  result_json?: string;
  /** Standard output; read as the result if that is null. */
  stdout?: string;
  /** Its warnings and errors, and its exception; without a result it fails the node. */
  stderr?: string;
  /** Files that it wrote to its folder `artifacts`. */
  artifacts?: Artifact[];
}

/** CodeRunner runs scripts of Code nodes. */
export type CodeRunner = (request: CodeRequest, context: CallContext) => Promise<CodeAnswer>;

/** Port handles one kind of call whose payload this package only passes on. */
export type Port = (payload: Record<string, unknown>, context: CallContext) => unknown;

/** Providers are the ports that a caller can implement; for others the engine has a default. */
export interface Providers {
  llm?: Model;
  tools?: Record<string, Tool>;
  /**
   * Sends the requests of nodes, without cookies; in a page to public addresses only, see `reach`.
   */
  fetch?: typeof globalThis.fetch;
  /** Further addresses for requests of nodes; without effect outside of a page. */
  reach?: Reach;
  retrieve?: Retriever;
  code?: CodeRunner;
  /**
   * Plugins that the canvas may use, besides those of the engine; they are added to the engine.
   */
  plugins?: readonly PluginSource[];
  /** Any further kind of call, by name. */
  ports?: Partial<Record<Exclude<CallKind, "model">, Port>>;
  /** onCall receives each call; the function it returns receives the pieces of the answer. */
  onCall?(call: Asked): Answered | undefined;
}

/** Asked is a call of the engine that a provider answers. */
export interface Asked {
  kind: CallKind;
  node?: string;
  payload: Record<string, unknown>;
}

/**
 * Answered receives a piece of an answer; a payload that is not ok is a Failure. `more` means that
 * further pieces follow.
 */
export type Answered = (ok: boolean, more: boolean, payload: unknown) => void;

/** kindsOf lists the kinds of calls that these providers handle. */
export function kindsOf(providers: Providers): CallKind[] {
  const kinds: CallKind[] = [];
  if (providers.llm) kinds.push("model");
  if (providers.retrieve) kinds.push("retrieve");
  if (providers.tools) kinds.push("tool");
  if (providers.fetch) kinds.push("fetch");
  if (providers.code) kinds.push("code");
  for (const kind of Object.keys(providers.ports ?? {}) as CallKind[]) {
    if (!kinds.includes(kind)) kinds.push(kind);
  }
  return kinds;
}

/** Reply sends one piece of a response. */
type Reply = (ok: boolean, more: boolean, payload: unknown) => void;

/** Switchboard handles the calls of one run. */
export class Switchboard {
  /** plugins of this run, once they are known. */
  session: Session | undefined;
  readonly #open = new Map<number, AbortController>();
  readonly #providers: Providers;
  /** Maximum time without a response of a provider in milliseconds. */
  readonly #patience: number;

  constructor(providers: Providers, patience: number) {
    this.#providers = providers;
    this.#patience = patience;
  }

  /**
   * take handles a call and responds through send, with JSON; it returns before the first response.
   */
  take(id: number, text: string, send: (id: number, ok: boolean, more: boolean, text: string) => void): void {
    const call = JSON.parse(text) as Call;
    if (call.kind === "abort") {
      this.#open.get(id)?.abort();
      this.#open.delete(id);
      return;
    }
    if (call.kind === "reply") return this.session?.take(id, call);
    const aborter = new AbortController();
    this.#open.set(id, aborter);
    const silence = this.#watchSilence(aborter);
    const answered = this.#announce(call);
    const reply: Reply = (ok, more, payload) => {
      if (this.#open.get(id) !== aborter) return;
      answered?.(ok, more, payload);
      const said = JSON.stringify(payload) ?? "null"; // other values are an error of the provider
      if (more) silence.heard();
      else this.#open.delete(id);
      send(id, ok, more, said);
    };
    const context: CallContext = { signal: aborter.signal };
    if (call.node !== undefined) context.node = call.node;
    const working = call.kind === "plugin" && this.session
      ? this.session.answer(id, call.payload, context, reply) : answer(this.#providers, call, context, reply);
    Promise.race([working, aborted(aborter.signal)])
      .catch((err: unknown) => reply(false, false, EngineError.from(err, "provider", `${call.kind}: `).failure()))
      .finally(() => silence.stop());
  }

  /** abort stops all open calls. */
  abort(): void {
    for (const aborter of this.#open.values()) aborter.abort();
    this.#open.clear();
    this.session?.end();
  }

  #announce(call: Asked): Answered | undefined {
    try {
      return this.#providers.onCall?.(call);
    } catch (err) {
      queueMicrotask(() => { throw err; }); // the caller's own bug, shown as such
      return undefined;
    }
  }

  #watchSilence(aborter: AbortController): { heard(): void; stop(): void } {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        aborter.abort(new EngineError("timeout", `no answer within ${this.#patience} ms`, { retry: true }));
      }, this.#patience);
    };
    heard();
    return { heard, stop: () => clearTimeout(timer) };
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void =>
      reject(
        signal.reason instanceof EngineError ? signal.reason : new EngineError("canceled", "the call was taken back"),
      );
    signal.addEventListener("abort", stop, { once: true });
  });
}

async function answer(
  providers: Providers,
  call: Exclude<Call, { kind: "abort" | "reply" }>,
  context: CallContext,
  reply: Reply,
): Promise<void> {
  const payload = call.payload;
  const last = (value: unknown): void => reply(true, false, value ?? null);
  const port = call.kind in (providers.ports ?? {}) ? providers.ports?.[call.kind as "files"] : undefined;
  if (port) return last(await port(payload, context));
  switch (call.kind) {
    case "model":
      return model(need(providers.llm, "model"), payload as unknown as ModelRequest, context, reply);
    case "retrieve":
      return last(await need(providers.retrieve, "retrieve")(payload as { query: string }, context));
    case "tool":
      return last(await tool(providers.tools, payload, context));
    case "fetch":
      return last(
        await fetchAnswer(need(providers.fetch, "fetch"), payload, context.signal, new Guard(providers.reach)),
      );
    case "code":
      return last(await need(providers.code, "code")(payload as unknown as CodeRequest, context));
    default:
      throw new EngineError("unsupported", `this host answers no calls of kind ${String(call.kind)}`);
  }
}

// The engine recognises reasoning by <think> tags in the text; one pair encloses
// the pieces that a provider marked as reasoning.
async function model(llm: Model, request: ModelRequest, context: CallContext, reply: Reply): Promise<void> {
  let thinking = false;
  for await (const piece of await llm.chat(request, context)) {
    if (typeof piece !== "object" || piece === null) {
      const kind = piece === null ? "null" : `a ${typeof piece}`;
      throw new EngineError("provider", `model: a piece of the answer is ${kind}, expected an object`);
    }
    if (context.signal.aborted) return;
    const { reasoning, text, ...rest } = piece;
    let said = "";
    if (reasoning) said += (thinking ? "" : "<think>") + reasoning;
    if (text) said += (thinking || reasoning ? "</think>" : "") + text;
    if (reasoning || text) thinking = !text;
    reply(true, true, said ? { text: said, ...rest } : rest);
  }
  reply(true, false, thinking ? { text: "</think>" } : {});
}

async function tool(
  tools: Record<string, Tool> | undefined,
  payload: Record<string, unknown>,
  context: CallContext,
): Promise<unknown> {
  const name = String(payload["component"]);
  const found = tools && Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (!found) throw new EngineError("unsupported", `this host has no tool named ${name}`);
  // All params are the canvas's own text, so a tool needs no mark to recognise the placeholders
  // in them.
  const params = JSON.parse(unmarked(JSON.stringify(payload["params"] ?? {}), payload["secret_mark"])) as Record<
    string,
    unknown
  >;
  const given = await found.run((payload["arguments"] ?? {}) as Record<string, unknown>, { ...context, params });
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given;
  return { formalized_content: typeof given === "string" ? given : JSON.stringify(given ?? "") };
}

function need<T>(provider: T | undefined, kind: string): T {
  if (provider === undefined) throw new EngineError("unsupported", `this host answers no calls of kind ${kind}`);
  return provider;
}
