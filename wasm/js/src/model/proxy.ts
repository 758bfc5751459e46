// Models of the host that serves the page: keys stay on the server.

import type { Abilities } from "../protocol.ts";
import type { Model } from "./model.ts";
import { openai } from "./openai.ts";

/** ProxyOptions say where the host offers its models. */
export interface ProxyOptions {
  /** Default `/api/llm` of this page's origin. */
  url?: string;
  /** Used for every request; without it the canvas's own model name is sent. */
  model?: string;
  headers?: Record<string, string>;
  fetch?: typeof globalThis.fetch;
  /** Default `same-origin`: the host identifies the person by the login of the browser. */
  credentials?: RequestCredentials;
  /** Abilities of the host's models, see openai. */
  can?: Abilities;
}

/** proxy calls the host, which has OpenAI's API and answers as events. */
export function proxy(options: ProxyOptions = {}): Model {
  const { url = "/api/llm", model, can, credentials = "same-origin" } = options;
  const headers = { "x-easel-page": "run", ...options.headers }; // a login cookie does not count without it
  return {
    can,
    // The host resolves whole names, `name@Factory`, which servers of one vendor do not know.
    chat: (request, context) =>
      openai({ ...options, url, credentials, headers, model: model ?? request.model }).chat(request, context),
  };
}
