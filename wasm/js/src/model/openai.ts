// Calls any server with OpenAI's chat completions: a vendor, a gateway, Ollama
// or llama.cpp on this machine. The key stays in this closure: it is not stored,
// not logged, and sent to `url` only.

import { EngineError } from "../errors.ts";
import type { ModelMessage } from "../events.ts";
import type { Abilities } from "../protocol.ts";
import { Answer, reasonOf } from "./answer.ts";
import type { Model, ModelRequest } from "./model.ts";

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
      const answer = new Answer();
      for await (const data of eventData(response.body, () => answer.finished)) {
        if (data === "[DONE]") {
          answer.finished = true;
          break;
        }
        yield* answer.take(data);
      }
      yield* answer.end();
    },
  };
}

function bodyOf(request: ModelRequest, model: string | undefined): Record<string, unknown> {
  return {
    // Canvases write `name@Factory`; servers expect the name only.
    model: model ?? request.model.replace(/(.)@[^@]*$/, "$1"),
    messages: merged(request).map(withImages),
    stream: true,
    stream_options: { include_usage: true },
    ...request.options,
    ...(request.tools?.length ? { tools: request.tools, tool_choice: "auto" } : {}),
  };
}

/** merged returns messages with the members that the server attached to its answers. */
function merged({ messages }: ModelRequest): ModelMessage[] {
  return messages.map(({ opaque, ...message }) => {
    if (!opaque) return message;
    const calls = (message.tool_calls as Record<string, unknown>[] | undefined)?.map((call, at) => ({
      ...call, ...opaque.calls?.[at],
    }));
    return { ...opaque.message, ...message, ...(calls ? { tool_calls: calls } : {}) };
  });
}

function withImages({ images, ...message }: ModelMessage): unknown {
  if (!images?.length) return message;
  const parts = images.map((url) => ({ type: "image_url", image_url: { url } }));
  return { ...message, content: [{ type: "text", text: String(message.content ?? "") }, ...parts] };
}

async function refusal(response: Response): Promise<EngineError> {
  const text = reasonOf(await response.text().catch(() => "")).slice(0, 500);
  const retry = (response.status === 429 && !/insufficient_quota|exceeded your current quota/i.test(text)) ||
    response.status >= 500;
  return new EngineError("provider", `the model server answered ${response.status}: ${text || response.statusText}`, {
    retry,
  });
}

/** How long a stream is read after its finish reason, in milliseconds: usage follows it. */
const graceAfterFinish = 1000;

/**
 * eventData returns the data of each server-sent event, or each JSON document of a response without
 * events. After `finished` returns true, an open connection is read for one more second.
 */
export async function* eventData(
  body: ReadableStream<Uint8Array>, finished: () => boolean = () => false,
): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let pending = "";
  try {
    for (;;) {
      const { done, value } = await (finished() ? soon(reader.read()) : reader.read());
      rest += decoder.decode(value, { stream: !done });
      // A CR at the end may be the first half of a CRLF.
      const lines = rest.split(done ? /\r\n|\n|\r/ : /\r\n|\n|\r(?!$)/);
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines) {
        const text = line.trim();
        const data = text.startsWith("data:") ? text.slice(5).trim() : undefined;
        if (pending !== "") {
          pending += "\n" + (data ?? text);
        } else if (data !== undefined || !/^(:|event:|id:|retry:|$)/.test(text)) {
          pending = data ?? text;
        }
        if (/^[[{]/.test(pending) && !complete(pending)) continue;
        if (pending !== "" && pending !== "null" && !pending.startsWith(":")) yield pending;
        pending = "";
      }
      if (done) {
        if (pending !== "") yield pending;
        return;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function complete(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return !/[[{]/.test(text.slice(-1)) && (text.match(/[[{]/g)?.length ?? 0) <= (text.match(/[\]}]/g)?.length ?? 0);
  }
}

/** soon returns the end of a stream if nothing arrives in time. */
async function soon(
  read: Promise<ReadableStreamReadResult<Uint8Array>>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<ReadableStreamReadResult<Uint8Array>>((resolve) => {
    timer = setTimeout(() => { resolve({ done: true, value: undefined }); }, graceAfterFinish);
  });
  try {
    return await Promise.race([read, late]);
  } finally {
    clearTimeout(timer);
    read.catch(() => undefined);
  }
}
