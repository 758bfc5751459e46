// Answers calls of kind `fetch`. Text stays text; anything else travels as base64,
// because every message of the contract is JSON.

const textual = /^(text\/|application\/(json|xml|javascript|x-www-form-urlencoded)|[^;]*\+(json|xml))/i;

/** Fetched is the answer to a `fetch` call. A status that is no success is no error. */
export interface Fetched {
  status: number;
  headers: Record<string, string>;
  body: string;
  encoding?: "base64";
}

/** answer performs one request. */
export async function answer(fetcher: typeof fetch, payload: Record<string, unknown>, signal: AbortSignal): Promise<Fetched> {
  const method = String(payload["method"] ?? "GET").toUpperCase();
  const init: RequestInit = { method, headers: (payload["headers"] ?? {}) as Record<string, string>, signal };
  if (payload["redirect"] !== undefined) init.redirect = payload["redirect"] as RequestRedirect;
  const body = payload["body"];
  if (typeof body === "string" && method !== "GET" && method !== "HEAD") {
    init.body = payload["encoding"] === "base64" ? fromBase64(body) : body;
  }
  const response = await fetcher(String(payload["url"]), init);
  const headers: Record<string, string> = {};
  response.headers.forEach((value, name) => { headers[name] = value; });
  const type = response.headers.get("content-type") ?? "text/plain";
  if (textual.test(type)) return { status: response.status, headers, body: await response.text() };
  return { status: response.status, headers, body: toBase64(new Uint8Array(await response.arrayBuffer())), encoding: "base64" };
}

/** toBase64 encodes bytes; in steps, because an argument list has a limit. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** fromBase64 decodes bytes. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
