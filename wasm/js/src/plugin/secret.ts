// Secrets never enter a plugin: it writes {{secret:NAME:MARK}} in a header value, the
// query or the body, with the mark of its call, and the value is inserted after the host
// was checked. A placeholder without the mark is plain text. Responses are searched
// for the value. In a page there are no values: the placeholders are sent to the host's
// proxy, which does the same.

import { toBase64 } from "../fetch.ts";
import { PluginError } from "./error.ts";
import { covers, type Permissions } from "./permission.ts";

// In a query the braces and colons may be escaped.
const placeholder =
  /(?:\{\{|%7[Bb]%7[Bb])secret(?::|%3[Aa])([A-Za-z0-9_.-]{1,64})(?::|%3[Aa])([A-Za-z0-9]{1,64})(?:\}\}|%7[Dd]%7[Dd])/g;
// A part of a header value that is sent in base64, as Basic authorization requires; it needs a
// placeholder with the mark.
const encoded = /\{\{base64:((?:[^{}]|\{\{secret:[A-Za-z0-9_.:-]{1,130}\}\})*)\}\}/g;

/** Filler inserts secrets into a request to one host, with its port. */
export class Filler {
  readonly #granted: Permissions["secrets"];
  readonly #values: Record<string, string> | undefined;
  readonly #hidden: Hidden;
  readonly #host: string;
  readonly #mark: string;

  constructor(granted: Permissions["secrets"], values: Record<string, string> | undefined, hidden: Hidden, host: string,
    mark: string) {
    this.#mark = mark;
    this.#granted = granted;
    this.#values = values;
    this.#hidden = hidden;
    this.#host = host;
  }

  header(text: string): string {
    const filled = text.replace(encoded, (found, inner: string) => {
      const plain = this.#replace(inner, same);
      if (plain === inner) return found;
      this.#hidden.add(plain);
      return base64(plain);
    });
    return this.#replace(filled, same);
  }

  query(text: string): string {
    return this.#replace(text, queryEscape);
  }

  body(text: string, type: string): string {
    return this.#replace(
      text,
      type.includes("json") ? jsonEscape : type.includes("x-www-form-urlencoded") ? queryEscape : same,
    );
  }

  #replace(text: string, escape: (value: string) => string): string {
    if (!this.#mark || !text.includes(this.#mark)) return text;
    return text.replace(placeholder, (found, name: string, mark: string) => {
      if (mark !== this.#mark) return found;
      const value = this.#value(name);
      this.#hidden.add(value);
      return escape(value);
    });
  }

  #value(name: string): string {
    const granted = this.#granted && Object.hasOwn(this.#granted, name) ? this.#granted[name] : undefined;
    if (!granted) throw new PluginError("denied", `http.fetch: secret ${name} is not granted`);
    if (!granted.hosts.some((pattern) => covers(pattern, this.#host))) {
      throw new PluginError("denied", `http.fetch: secret ${name} is not bound to host ${this.#host}`);
    }
    if (!this.#values)
      throw new PluginError("unsupported", "http.fetch: this host keeps no secrets; give it a proxy that does");
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
    if (!value) throw new PluginError("unauthorized", `http.fetch: secret ${name} is not configured`);
    return value;
  }
}

const shortest64 = 6; // how much base64 must be known to be masked inside of something longer

/** Hidden contains the secret values of one request, in every form that a response may contain. */
export class Hidden {
  #forms: string[] = []; // as one character per byte, longest first

  get used(): boolean {
    return this.#forms.length > 0;
  }

  /** longest is the length of the longest form, at least 1. */
  get longest(): number {
    return Math.max(1, this.#forms[0]?.length ?? 0);
  }

  add(value: string): void {
    if (!value) return;
    const forms = [value, queryEscape(value), encodeURIComponent(value), jsonEscape(value), ...inBase64(value)].map(
      bytewise,
    );
    this.#forms = [...new Set([...this.#forms, ...forms])].sort((a, b) => b.length - a.length);
  }

  /** text redacts a string. */
  text(text: string): string {
    return this.used ? new TextDecoder().decode(this.bytes(new TextEncoder().encode(text))) : text;
  }

  bytes(bytes: Uint8Array): Uint8Array {
    if (!this.used) return bytes;
    let text = latin1(bytes);
    for (const form of this.#forms) text = text.replaceAll(form, "***");
    return Uint8Array.from(text, (c) => c.charCodeAt(0));
  }
}

function inBase64(value: string): string[] {
  const out: string[] = [];
  const bytes = new TextEncoder().encode(value);
  for (let before = 0; before < 3; before++) {
    const all = toBase64(Uint8Array.from([...new Uint8Array(before), ...bytes])).replace(/=+$/, "");
    const inner = all.slice(Math.floor((before * 8 + 5) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    if (inner.length >= shortest64) out.push(inner);
  }
  out.push(base64(value), base64(value).replace(/=+$/, ""));
  return [...out, ...out.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))];
}

const same = (value: string): string => value;
const base64 = (text: string): string => toBase64(new TextEncoder().encode(text));
const queryEscape = (value: string): string =>
  encodeURIComponent(value)
    .replaceAll("%20", "+")
    .replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());
const jsonEscape = (value: string): string => JSON.stringify(value).slice(1, -1);
const bytewise = (text: string): string => latin1(new TextEncoder().encode(text));

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return text;
}
