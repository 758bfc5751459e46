// A model provider is one function: a request in, pieces of an answer out.

import type { ModelMessage } from "../events.ts";
import type { Usage } from "../generated.ts";
import type { Abilities } from "../protocol.ts";

/** ModelRequest is one question to a model. */
export interface ModelRequest {
  /** Name as the canvas gives it; "" means the provider's default. */
  model: string;
  /**
   * What it is for: answer, plan, categorize, structured, question, cite, summary, filter,
   * translate.
   */
  purpose?: string;
  /** `stream` when somebody reads along, `chat` when only the whole answer counts. */
  mode: "chat" | "stream";
  /** System text first, if any. */
  messages: ModelMessage[];
  /** Sampling settings under their OpenAI names; absent ones are the provider's own. */
  options?: {
    temperature?: number;
    top_p?: number;
    presence_penalty?: number;
    frequency_penalty?: number;
    max_tokens?: number;
    stop?: string[];
  };
  /** Functions the model may call, OpenAI form. */
  tools?: unknown[];
  /** Data URLs that belong to the last user message. */
  images?: string[];
  /** JSON Schema of the answer, for purpose structured. */
  schema?: unknown;
  /** Repeated when the same call is made again after a crash. */
  key?: string;
}

/** ModelPiece is a part of an answer; all fields are optional. */
export interface ModelPiece {
  text?: string;
  /** Thinking aloud; providers whose texts carry <think> tags may leave them there. */
  reasoning?: string;
  /** Complete calls; `arguments` is JSON text. */
  tool_calls?: { id: string; name: string; arguments: string }[];
  usage?: Usage;
  finish?: string;
}

/** Model answers questions. */
export interface Model {
  /** What it can do besides text in, text out. A request asks for nothing else. */
  readonly can?: Abilities;
  chat(
    request: ModelRequest,
    context: { signal: AbortSignal; node?: string },
  ): AsyncIterable<ModelPiece> | Promise<AsyncIterable<ModelPiece>>;
}
