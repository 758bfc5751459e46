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
  // Values are not known here, so a placeholder of a secret leaves as its name.
  const plain = (text: string): string => unmarked(text, payload["secret_mark"]);
  const headers = Object.fromEntries(Object.entries((payload["headers"] ?? {}) as Record<string, string>).map(([name, value]) => [name, plain(value)]));
  const init: RequestInit = { method, headers, signal };
  if (payload["redirect"] !== undefined) init.redirect = payload["redirect"] as RequestRedirect;
  const body = payload["body"];
  if (typeof body === "string" && method !== "GET" && method !== "HEAD") {
    init.body = payload["encoding"] === "base64" ? fromBase64(body) : plain(body);
  }
  const response = await fetcher(plain(String(payload["url"])), init);
  const got: Record<string, string> = {};
  response.headers.forEach((value, name) => { got[name] = value; });
  const type = response.headers.get("content-type") ?? "text/plain";
  if (textual.test(type)) return { status: response.status, headers: got, body: await response.text() };
  return { status: response.status, headers: got, body: toBase64(new Uint8Array(await response.arrayBuffer())), encoding: "base64" };
}

/** unmarked removes the mark of a run or a call from a text: placeholders of secrets read {{secret:NAME}} again. */
export function unmarked(text: string, mark: unknown): string {
  return typeof mark === "string" && mark ? text.replaceAll(`:${mark}`, "").replaceAll(mark, "") : text;
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
