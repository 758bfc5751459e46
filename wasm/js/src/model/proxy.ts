// Models of the host that serves the page: keys stay on the server.

import type { Abilities } from "../protocol.ts";
import type { Model } from "./model.ts";
import { openai } from "./openai.ts";

/** ProxyOptions are the address of the host's models and credentials. */
export interface ProxyOptions {
  /** Default `/api/llm` of this page's origin. */
  url?: string;
  /** Used for every request; by default the model name in the canvas is sent. */
  model?: string;
  headers?: Record<string, string>;
  fetch?: typeof globalThis.fetch;
  /** Default `same-origin`: the host identifies the user by the login of the browser. */
  credentials?: RequestCredentials;
  /** Abilities of the host's models, see openai. */
  can?: Abilities;
}

/** proxy calls the host, which has OpenAI's API and responds with events. */
export function proxy(options: ProxyOptions = {}): Model {
  const { url = "/api/llm", model, can, credentials = "same-origin" } = options;
  const headers = { "x-easel-page": "run", ...options.headers }; // a login cookie does not count without it
  return {
    can,
    // The host resolves complete names, `name@Factory`, which servers of one vendor do not accept.
    chat: (request, context) =>
      openai({ ...options, url, credentials, headers, model: model ?? request.model }).chat(request, context),
  };
}
