// Calls any server with OpenAI's chat completions: a vendor, a gateway, Ollama
// or llama.cpp on this machine. The key stays in this closure: it is not stored,
// not logged, and sent to `url` only.

import { EngineError } from "../errors.ts";
import type { Abilities } from "../protocol.ts";
import type { Model, ModelPiece, ModelRequest } from "./model.ts";

/** OpenAIOptions are the address of a model and its credentials. */
export interface OpenAIOptions {
  /** Base address, e.g. `http://localhost:11434/v1`. */
  url: string;
  key?: string;
  /** Used for every request; by default the model name in the canvas is sent. */
  model?: string;
  headers?: Record<string, string>;
  fetch?: typeof globalThis.fetch;
  /** Whether the browser adds its cookies for the server; default `omit`. */
  credentials?: RequestCredentials;
  /** Abilities of this model; agents use its function calls only with `tools`. Default none. */
  can?: Abilities;
}

/** openai returns a model behind an OpenAI-compatible address. */
export function openai(options: OpenAIOptions): Model {
  const { url, key, headers, can, credentials = "omit" } = options;
  return {
    can,
    async *chat(request, { signal }) {
      const send = options.fetch ?? globalThis.fetch;
      const response = await send(url.replace(/\/+$/, "") + "/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}), ...headers },
        body: JSON.stringify(bodyOf(request, options.model)),
        // A redirect would send the prompt, and headers that fetch does not treat as credentials,
        // to another server.
        signal, credentials, referrerPolicy: "no-referrer", redirect: "manual",
      });
      if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
        throw new EngineError("provider", `the model server at ${url} redirects; use the final address`);
      }
      if (!response.ok) throw await refusal(response);
      if (!response.body) throw new EngineError("provider", "the model server sent an empty answer");
      if ((response.headers.get("content-type") ?? "").includes("application/json")) {
        yield* whole(await response.json());
        return;
      }
      const calls = new Calls();
      for await (const data of eventData(response.body)) {
        if (data === "[DONE]") break;
        yield* delta(data, calls);
      }
      yield* calls.complete();
    },
  };
}

function bodyOf(request: ModelRequest, model: string | undefined): Record<string, unknown> {
  return {
    // Canvases write `name@Factory`; servers expect the name only.
    model: model ?? request.model.replace(/(.)@[^@]*$/, "$1"),
    messages: withImages(request),
    stream: true,
    stream_options: { include_usage: true },
    ...request.options,
    ...(request.tools?.length ? { tools: request.tools, tool_choice: "auto" } : {}),
  };
}

function withImages({ messages, images }: ModelRequest): unknown[] {
  const at = messages.findLastIndex((message) => message.role === "user");
  if (!images?.length || at < 0) return messages;
  const parts = [
    { type: "text", text: String(messages[at]?.content ?? "") },
    ...images.map((url) => ({ type: "image_url", image_url: { url } })),
  ];
  return messages.with(at, { role: "user", content: parts });
}

async function refusal(response: Response): Promise<EngineError> {
  const text = (await response.text().catch(() => "")).slice(0, 500);
  const retry = response.status === 429 || response.status >= 500;
  return new EngineError("provider", `the model server answered ${response.status}: ${text || response.statusText}`, {
    retry,
  });
}

interface CallPart {
  index?: number;
  id?: string;
  function?: { name?: string; arguments?: string };
}

/** Calls assembles function calls that arrive in parts. */
class Calls {
  readonly #open: { id: string; name: string; arguments: string }[] = [];

  add(parts: CallPart[]): void {
    parts.forEach((part, place) => {
      const call = (this.#open[part.index ?? place] ??= { id: "", name: "", arguments: "" });
      call.id ||= part.id ?? "";
      call.name += part.function?.name ?? "";
      call.arguments += part.function?.arguments ?? "";
    });
  }

  *complete(): Generator<ModelPiece> {
    const calls = this.#open.filter((call) => call.name !== "");
    if (calls.length > 0) yield { tool_calls: calls };
  }
}

interface Choice {
  delta?: {
    content?: string | null;
    reasoning_content?: string | null;
    reasoning?: string | null;
    tool_calls?: CallPart[];
  };
  message?: Choice["delta"];
  finish_reason?: string | null;
}

function* delta(data: string, calls: Calls): Generator<ModelPiece> {
  let parsed: { choices?: Choice[]; usage?: ModelPiece["usage"]; error?: { message?: string } };
  try {
    parsed = JSON.parse(data) as typeof parsed;
  } catch {
    throw new EngineError("provider", "the model server sent a line that is not JSON: " + data.slice(0, 80));
  }
  if (parsed.error) throw new EngineError("provider", parsed.error.message ?? "the model server reported an error");
  const choice = parsed.choices?.[0];
  calls.add(choice?.delta?.tool_calls ?? []);
  const piece = pieceOf(choice?.delta, choice?.finish_reason, parsed.usage);
  if (Object.keys(piece).length > 0) yield piece;
}

function* whole(parsed: unknown): Generator<ModelPiece> {
  const { choices, usage } = parsed as { choices?: Choice[]; usage?: ModelPiece["usage"] };
  if (!choices?.[0]?.message) throw new EngineError("provider", "the model server's answer has no message");
  yield pieceOf(choices[0].message, choices[0].finish_reason, usage);
  const calls = new Calls();
  calls.add(choices[0].message.tool_calls ?? []);
  yield* calls.complete();
}

function pieceOf(
  part: Choice["delta"],
  finish: string | null | undefined,
  usage: ModelPiece["usage"] | null | undefined,
): ModelPiece {
  const piece: ModelPiece = {};
  const reasoning = part?.reasoning_content ?? part?.reasoning;
  if (reasoning) piece.reasoning = reasoning;
  if (part?.content) piece.text = part.content;
  if (finish) piece.finish = finish;
  if (usage) piece.usage = usage;
  return piece;
}

/** eventData returns the data of each server-sent event. */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const lines = rest.split(/\r?\n/);
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines) {
        if (line.startsWith("data:")) yield line.slice(5).trimStart();
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
