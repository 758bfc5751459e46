// A model that answers from a list: for tests, docs and demonstrations.

import { EngineError } from "../errors.ts";
import type { Abilities } from "../protocol.ts";
import type { Model, ModelPiece, ModelRequest } from "./model.ts";

/** ScriptedReply is one prepared answer. */
export interface ScriptedReply {
  /** Only for requests whose messages contain this text. */
  match?: string;
  text?: string;
  /** Pieces of the answer; it fails at a piece `{"raise"}`. */
  chunks?: (string | { raise: string })[];
  /** The model reports an error as the text of its answer. */
  error?: string;
  /** The call fails. */
  raise?: string;
  /** Functions that the model calls; they follow the text. */
  tool_calls?: ModelPiece["tool_calls"];
}

/** ScriptedOptions are options of a scripted model. */
export interface ScriptedOptions {
  /** Answers when no reply is left; without it the call fails. */
  fallback?: ScriptedReply | ((request: ModelRequest) => string);
  /** Milliseconds between pieces of a streamed answer, default 0. */
  delay?: number;
  /** Abilities that this model reports; with `tool_calls` in a reply, tools by default. */
  can?: Abilities;
}

/** scripted answers each request with the first unused reply that matches. */
export function scripted(replies: ScriptedReply[], options: ScriptedOptions = {}): Model {
  const left = [...replies];
  return {
    can: options.can ?? { tools: replies.some((reply) => reply.tool_calls !== undefined) },
    async *chat(request, { signal }) {
      const reply = take(left, request) ?? fallback(options.fallback, request);
      if (!reply) throw new EngineError("provider", "script exhausted");
      if (reply.raise !== undefined) throw new EngineError("provider", reply.raise);
      for (const piece of pieces(reply, request)) {
        if (options.delay) await pause(options.delay, signal);
        if (signal.aborted) return;
        if (typeof piece !== "string") throw new EngineError("provider", piece.raise);
        yield { text: piece };
      }
      if (reply.tool_calls) yield { tool_calls: reply.tool_calls };
      yield { usage: count(request, reply) };
    },
  };
}

function take(left: ScriptedReply[], request: ModelRequest): ScriptedReply | undefined {
  const text = request.messages
    .map((m) => (typeof m.content === "string" ? m.content : JSON.stringify(m.content)))
    .join("\n");
  const at = left.findIndex((reply) => reply.match === undefined || text.includes(reply.match));
  return at < 0 ? undefined : left.splice(at, 1)[0];
}

function fallback(given: ScriptedOptions["fallback"], request: ModelRequest): ScriptedReply | undefined {
  return typeof given === "function" ? { text: given(request) } : given;
}

function pieces(reply: ScriptedReply, request: ModelRequest): (string | { raise: string })[] {
  if (reply.error !== undefined) return [`**ERROR**: GENERIC_ERROR - ${reply.error}`];
  if (reply.chunks) return reply.chunks;
  const text = reply.text ?? "";
  return request.mode === "stream" ? (text.match(/\S+\s*|\s+/g) ?? []) : [text];
}

// One token per four characters, as in all stand-ins of the project.
function count(request: ModelRequest, reply: ScriptedReply): NonNullable<ModelPiece["usage"]> {
  const prompt = Math.ceil(JSON.stringify(request.messages).length / 4);
  const completion = Math.ceil((reply.text ?? JSON.stringify(reply.chunks ?? "")).length / 4);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** pause waits, at most until the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
