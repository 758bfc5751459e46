// A model provider is a function from a request to the pieces of an answer.

import type { ModelMessage } from "../events.ts";
import type { Usage } from "../generated.ts";
import type { Abilities } from "../protocol.ts";

/** ModelRequest is one call of a model. */
export interface ModelRequest {
  /** Name as in the canvas; "" means the provider's default. */
  model: string;
  /**
   * Purpose: answer, plan, categorize, structured, question, cite, summary, filter,
   * translate.
   */
  purpose?: string;
  /**
   * `stream` if the answer is shown as it is generated, `chat` if only the whole answer is used.
   */
  mode: "chat" | "stream";
  /** The system message first, if any. */
  messages: ModelMessage[];
  /** Sampling settings under their OpenAI names; absent ones have the provider's defaults. */
  options?: {
    temperature?: number;
    top_p?: number;
    presence_penalty?: number;
    frequency_penalty?: number;
    max_tokens?: number;
    stop?: string[];
  };
  /** Functions that the model may call, in OpenAI's form. */
  tools?: unknown[];
  /** JSON Schema of the answer, for purpose structured. */
  schema?: unknown;
  /** Repeated when the same call is made again after a crash. */
  key?: string;
}

/** Opaque is returned to the server unchanged, such as signatures of reasoning. */
export interface Opaque {
  message?: Record<string, unknown>;
  /** By place among the calls. */
  calls?: Record<string, unknown>[];
}

/** ModelPiece is a part of an answer; all fields are optional. */
export interface ModelPiece {
  text?: string;
  /** Reasoning; providers whose texts contain <think> tags may leave them there. */
  reasoning?: string;
  /** Complete calls; `arguments` is JSON text. */
  tool_calls?: { id: string; name: string; arguments: string }[];
  usage?: Usage;
  finish?: string;
  /** Members that the server attached to a message with calls; they come back with that message. */
  opaque?: Opaque;
}

/** Model is a language model. */
export interface Model {
  /** What it supports besides text. Requests use nothing else. */
  readonly can?: Abilities;
  chat(
    request: ModelRequest,
    context: { signal: AbortSignal; node?: string },
  ): AsyncIterable<ModelPiece> | Promise<AsyncIterable<ModelPiece>>;
}
