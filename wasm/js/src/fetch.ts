// Handles calls of kind `fetch`. Text stays text; other bytes are sent as base64,
// because every message of the protocol is JSON. A request of a canvas contains nothing
// that the browser would add for the user: no cookie, no login, no referrer, no cache.

import type { Guard } from "./address.ts";
import { EngineError } from "./errors.ts";
import { isCredential } from "./origin.ts";

const textual = /^(text\/|application\/(json|xml|javascript|x-www-form-urlencoded)|[^;]*\+(json|xml))/i;

/** Fetched is the response to a `fetch` call. A status other than 2xx is not an error. */
export interface Fetched {
  status: number;
  headers: Record<string, string>;
  body: string;
  encoding?: "base64";
}

/** answer sends one request that the guard allows. */
export async function answer(
  fetcher: typeof fetch, given: Record<string, unknown>, signal: AbortSignal, guard: Guard,
): Promise<Fetched> {
  // Values of secrets are not available here, so a placeholder is sent as text without its mark.
  const payload = JSON.parse(unmarked(JSON.stringify(given), given["secret_mark"])) as Record<string, unknown>;
  const url = String(payload["url"]);
  guard.check(url);
  const init = requestOf(payload, signal, guard);
  const response = checked(await (guard.active ? fetcher(url, init) : follow(fetcher, url, init)), url, guard);
  const headers: Record<string, string> = {};
  response.headers.forEach((value, name) => { headers[name] = value; });
  const type = response.headers.get("content-type") ?? "text/plain";
  const { status } = response;
  if (textual.test(type)) return { status, headers, body: await response.text() };
  return { status, headers, body: toBase64(new Uint8Array(await response.arrayBuffer())), encoding: "base64" };
}

function requestOf(payload: Record<string, unknown>, signal: AbortSignal, guard: Guard): RequestInit {
  const method = String(payload["method"] ?? "GET").toUpperCase();
  const init: RequestInit = {
    method, headers: (payload["headers"] ?? {}) as Record<string, string>, signal,
    credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store",
  };
  const reads = method === "GET" || method === "HEAD";
  // A page sees the target of a redirect only afterwards, so redirects of requests with effects are
  // not followed. Nor are those with credentials: fetch removes only Authorization on a redirect to
  // another origin.
  const carries = Object.keys(init.headers as Record<string, string>).some(isCredential);
  if (carries || guard.active && !reads) init.redirect = "manual";
  const body = payload["body"];
  if (typeof body === "string" && !reads) init.body = payload["encoding"] === "base64" ? fromBase64(body) : body;
  return init;
}

const mostRedirects = 5;

// follow sends a request and follows redirects that fetch leaves alone: credentials stay at the
// first origin.
async function follow(fetcher: typeof fetch, first: string, init: RequestInit): Promise<Response> {
  let url = first;
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const response = await fetcher(url, init);
    const location = response.headers.get("location");
    if (init.redirect !== "manual" || ![301, 302, 303, 307, 308].includes(response.status) || !location)
      return response;
    await response.body?.cancel();
    const next = new URL(location, url);
    const { method } = init;
    if (response.status === 303 && method !== "HEAD" || method === "POST" && response.status < 307) {
      init = { ...init, method: "GET", body: null };
    }
    if (next.origin !== new URL(url).origin) {
      const headers = Object.entries(init.headers as Record<string, string>).filter(([name]) => !isCredential(name));
      init = { ...init, headers: Object.fromEntries(headers) };
    }
    url = next.href;
  }
  throw new EngineError("provider", `fetch: ${first.slice(0, 200)}: more than ${mostRedirects} redirects`);
}

// checked refuses the response of an address that the guard does not allow.
function checked(response: Response, url: string, guard: Guard): Response {
  if (response.type === "opaqueredirect") {
    const why = "a canvas in a page follows redirects of GET without credentials only; use the final address";
    throw new EngineError("denied", `fetch: ${url.slice(0, 200)}: the server redirects; ${why}`);
  }
  if (response.redirected) guard.check(response.url, "redirect to ");
  return response;
}

/**
 * unmarked removes the mark of a run or a call from a text: placeholders of secrets read
 * {{secret:NAME}} again.
 */
export function unmarked(text: string, mark: unknown): string {
  return typeof mark === "string" && mark ? text.replaceAll(`:${mark}`, "").replaceAll(mark, "") : text;
}

// base64Step is a multiple of 3, and small, because the length of an argument list is limited.
const base64Step = 0x6000;

/** toBase64 encodes bytes, in steps. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += base64Step)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + base64Step)));
  return text;
}

/** fromBase64 decodes bytes; Uint8Array.from would store a reference for each of them first. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const decoded = atob(text);
  const bytes = new Uint8Array(decoded.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = decoded.charCodeAt(at);
  return bytes;
}
