// http.fetch, http.read and http.close of one call of a plugin. Every hop is checked
// against the grant on this side, also when a proxy sends the request.
//
// A page cannot see the target of a redirect, so a redirect is refused there unless the
// host's proxy sends the request; in Node each hop is checked and followed.

import { pageAddress, placeOf } from "../address.ts";
import { fromBase64, unmarked } from "../fetch.ts";
import { isCredential } from "../origin.ts";
import { Body, carried, isText } from "./body.ts";
import { asUTF8 } from "./charset.ts";
import { PluginError } from "./error.ts";
import { covers, methodsOf, type Permissions } from "./permission.ts";
import { Filler, Hidden } from "./secret.ts";
import { special } from "./special.ts";

/**
 * ProxyRequest is a request for a host's proxy; secrets are placeholders in it, of which those
 * with secretMark are replaced.
 */
export interface ProxyRequest {
  plugin: string;
  version: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  /**
   * Mark of the call, which the host compares with placeholders; absent when the call may use no
   * secret.
   */
  secretMark?: string;
}

/**
 * Proxy sends requests of plugins through a server, which handles grants, secrets and
 * redirects.
 */
export type Proxy = (request: ProxyRequest, context: { signal: AbortSignal }) => Promise<Response>;

/**
 * Carrier sends requests: the host's proxy, a fetch of the caller, or the one of the
 * platform.
 */
export interface Carrier {
  proxy?: Proxy;
  fetch?: typeof globalThis.fetch;
  /** Values for the placeholders of secrets; not in a page. */
  secrets?: Record<string, string>;
  /** Converts text of responses to UTF-8. */
  decodeText?: boolean;
  /** The platform's own fetch, which may check addresses when it dials them. */
  dial?(allowPrivate: boolean): typeof globalThis.fetch;
}

const most = { hops: 5, response: 10 << 20, time: 10_000, streams: 8, streamed: 256 << 20, piece: 1 << 20 };
const least = 16; // a whole character fits into a piece
const usual = 64 << 10;

interface Request {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: Uint8Array;
  stream: boolean;
}

/** Fetched is a response in the form for plugins. */
export interface Fetched {
  status: number;
  headers: Record<string, string>;
  bytes?: Uint8Array;
  stream?: number;
}

/** Web sends the requests of one call. */
export class Web {
  readonly #plugin: { name: string; version: string };
  readonly #granted: Permissions;
  readonly #carrier: Carrier;
  readonly #signal: AbortSignal;
  readonly #mark: string;
  readonly #streams = new Map<number, Body>();
  #last = 0;
  #streamed = 0;

  constructor(plugin: { name: string; version: string }, granted: Permissions, carrier: Carrier, signal: AbortSignal,
    mark = "") {
    this.#mark = mark;
    this.#plugin = plugin;
    this.#granted = granted;
    this.#carrier = carrier;
    this.#signal = signal;
    signal.addEventListener(
      "abort",
      () => {
        for (const body of this.#streams.values()) body.close();
      },
      { once: true },
    );
  }

  /** op handles an operation of call. */
  async op(op: string, args: Record<string, unknown>): Promise<unknown> {
    switch (op) {
      case "http.fetch": {
        const { bytes, ...head } = await this.fetch(readRequest(args));
        return bytes ? { ...head, ...carried(bytes) } : head;
      }
      case "http.read": return this.#read(Number(args["stream"]), Number(args["max"] ?? 0));
      default: {
        const number = Number(args["stream"]);
        this.#streams.get(number)?.close();
        this.#streams.delete(number);
        return {};
      }
    }
  }

  /** fetch sends a request and follows its redirects. */
  async fetch(request: Request): Promise<Fetched> {
    if (!this.#granted.http) throw new PluginError("denied", "http.fetch is not granted");
    const hidden = new Hidden();
    const aborter = new AbortController();
    const stop = (): void => aborter.abort();
    this.#signal.addEventListener("abort", stop, { once: true });
    const timer = setTimeout(stop, most.time);
    try {
      const response = await this.#follow(request, hidden, aborter.signal);
      return await this.#take(request, response, hidden, aborter);
    } catch (err) {
      throw this.#failure(err, hidden, aborter.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #follow(request: Request, hidden: Hidden, signal: AbortSignal): Promise<Response> {
    let { method, body } = request;
    let next = request.url;
    let from: URL | undefined;
    let strange = false; // the host has changed on the way
    for (let hop = 0; hop <= most.hops; hop++) {
      const url = this.#check(from, next, method);
      strange ||= from !== undefined && from.origin !== url.origin;
      const response = await this.#hop(url, method, request.headers, body, strange, hidden, signal);
      if (response.type === "opaqueredirect") {
        throw new PluginError(
          "denied",
          `http.fetch: host ${url.host} redirects, and a page cannot see where to; use a proxy of the host`,
        );
      }
      const location = response.headers.get("location");
      if (![301, 302, 303, 307, 308].includes(response.status) || !location) return response;
      await response.body?.cancel();
      if (response.status === 303 || method === "POST" && response.status < 307) {
        method = "GET";
        body = new Uint8Array(0);
      }
      from = url;
      next = location;
    }
    throw new PluginError("upstream", `http.fetch: more than ${most.hops} redirects`);
  }

  #check(from: URL | undefined, next: string, method: string): URL {
    const granted = this.#granted.http!;
    let url: URL;
    try {
      url = new URL(next, from);
    } catch {
      throw new PluginError("invalid_argument", "http.fetch: want an http or https URL without user name");
    }
    if (!/^https?:$/.test(url.protocol) || !url.host || url.username || url.password) {
      throw new PluginError("invalid_argument", "http.fetch: want an http or https URL without user name");
    }
    if (!granted.hosts.some((pattern) => covers(pattern, hostPort(url)))) {
      throw new PluginError(
        "denied",
        `http.fetch: host ${url.host} is not granted; granted are ${granted.hosts.join(", ")}`,
      );
    }
    const methods = methodsOf(granted);
    if (!methods.includes(method) && !methods.includes("*")) {
      throw new PluginError("denied", `http.fetch: method ${method} is not granted; granted are ${methods.join(", ")}`);
    }
    if (
      !this.#carrier.proxy &&
      isOwn(url) &&
      !granted.hosts.some((pattern) => !pattern.includes("*") && covers(pattern, hostPort(url)))
    ) {
      throw new PluginError(
        "denied",
        `http.fetch: host ${url.host} is the page's own, which only a grant that names it allows`,
      );
    }
    if (!granted.private && special(url.hostname)) {
      throw new PluginError(
        "denied",
        `http.fetch: host ${url.hostname} is a private or special address, which is not granted`,
      );
    }
    return url;
  }

  #hop(url: URL, method: string, given: Record<string, string>, body: Uint8Array, strange: boolean, hidden: Hidden,
    signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(given)) {
      const ours = /^(host|accept-encoding)$/i.test(name);
      const bound = isCredential(name) || (this.#mark !== "" && value.includes(this.#mark));
      if (!ours && !(strange && bound)) headers[name] = value;
    }
    const {
      proxy,
      dial,
      secrets,
      fetch = dial?.(this.#granted.http!.private === true) ?? globalThis.fetch,
    } = this.#carrier;
    const sent = body.length > 0 ? (body.slice() as Uint8Array<ArrayBuffer>) : undefined;
    if (proxy) {
      const request: ProxyRequest = {
        plugin: this.#plugin.name,
        version: this.#plugin.version,
        method,
        url: url.href,
        headers,
      };
      if (sent) request.body = sent;
      if (this.#mark) request.secretMark = this.#mark;
      return proxy(request, { signal });
    }
    const filler = new Filler(this.#granted.secrets, secrets, hidden, hostPort(url), this.#mark);
    const target = new URL(url);
    target.pathname = unmarked(target.pathname, this.#mark); // no place for a secret
    target.search = filler.query(url.search);
    const type = Object.entries(headers).find(([name]) => /^content-type$/i.test(name))?.[1] ?? "";
    for (const [name, value] of Object.entries(headers)) headers[name] = filler.header(value);
    const init: RequestInit = {
      method,
      headers,
      signal,
      redirect: "manual",
      credentials: "omit",
      referrerPolicy: "no-referrer",
    };
    if (sent && method !== "GET" && method !== "HEAD") init.body = fill(sent, (text) => filler.body(text, type));
    return fetch(target.href, init);
  }

  async #take(request: Request, response: Response, hidden: Hidden, aborter: AbortController): Promise<Fetched> {
    const headers: Record<string, string> = {};
    response.headers.forEach((value, name) => {
      headers[name.replace(/(^|-)[a-z]/g, (c) => c.toUpperCase())] = hidden.text(value);
    });
    const body = new Body(response, hidden, aborter, this.#count);
    if (request.stream) {
      return { status: response.status, headers, stream: this.#hold(body) };
    }
    const bytes = await body.all(most.response);
    const type = headers["Content-Type"];
    if (!this.#carrier.decodeText || type === undefined) return { status: response.status, headers, bytes };
    const text = asUTF8(type, bytes);
    return { status: response.status, headers: { ...headers, "Content-Type": text.type }, bytes: text.bytes };
  }

  /** stream returns the number under which http.read reads bytes. */
  stream(bytes: Uint8Array<ArrayBuffer>): number {
    return this.#hold(new Body(new Response(bytes), new Hidden(), new AbortController(), this.#count));
  }

  // hold stores a body for http.read.
  #hold(body: Body): number {
    if (this.#streams.size >= most.streams) {
      body.close();
      throw new PluginError("denied", `${most.streams} streams are open; read them to the end or close one`);
    }
    this.#streams.set(++this.#last, body);
    return this.#last;
  }

  // count limits the bytes of all streams of the call.
  readonly #count = (n: number): void => {
    this.#streamed += n;
    if (this.#streamed > most.streamed) {
      throw new PluginError("upstream", `http.read: more than ${most.streamed} bytes in one call`);
    }
  };

  async #read(number: number, max: number): Promise<unknown> {
    const body = this.#streams.get(number);
    if (!body) throw new PluginError("not_found", `http.read: no stream ${number} is open`);
    if (!(max >= 0)) throw new PluginError("invalid_argument", `http.read: max is ${max}`);
    try {
      const bytes = await body.next(Math.min(Math.max(max || usual, least), most.piece), most.time);
      if (body.done) this.#streams.delete(number);
      return { ...carried(bytes), done: body.done };
    } catch (err) {
      body.close();
      this.#streams.delete(number);
      throw this.#failure(err, body.hidden, body.signal);
    }
  }

  // The text contains no URL, because a URL may contain a secret.
  #failure(err: unknown, hidden: Hidden, signal: AbortSignal): PluginError {
    if (err instanceof PluginError) return new PluginError(err.code, hidden.text(err.message), err);
    if (signal.aborted) return new PluginError("upstream", "http.fetch: no answer in time");
    const cause = (err as { cause?: { code?: string; message?: string } }).cause;
    const text = cause?.message ?? cause?.code ?? (err instanceof Error ? err.message : String(err));
    return new PluginError("upstream", `http.fetch: ${hidden.text(text)}`);
  }
}

/** readRequest reads the arguments of http.fetch. */
export function readRequest(args: Record<string, unknown>): Request {
  const text = (name: string): string => {
    const value = args[name] ?? "";
    if (typeof value !== "string")
      throw new PluginError("invalid_argument", `arguments are not readable: ${name} is not a string`);
    return value;
  };
  const headers = (args["headers"] ?? {}) as Record<string, string>;
  if (typeof headers !== "object" || Object.values(headers).some((value) => typeof value !== "string")) {
    throw new PluginError("invalid_argument", "arguments are not readable: headers are no texts");
  }
  let body: Uint8Array;
  try {
    body = text("body_base64") ? fromBase64(text("body_base64")) : new TextEncoder().encode(text("body"));
  } catch {
    throw new PluginError("invalid_argument", "http.fetch: body_base64 is not base64");
  }
  return { url: text("url"), method: text("method") || "GET", headers, body, stream: args["stream"] === true };
}

function isOwn(url: URL): boolean {
  const page = pageAddress();
  return page !== undefined && placeOf(url, page) === "own";
}

function hostPort(url: URL): string {
  return `${url.hostname.replace(/\.$/, "")}:${url.port || (url.protocol === "http:" ? "80" : "443")}`;
}

function fill(body: Uint8Array<ArrayBuffer>, replace: (text: string) => string): string | Uint8Array<ArrayBuffer> {
  return isText(body) ? replace(new TextDecoder().decode(body)) : body;
}
