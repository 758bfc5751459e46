// The addresses to which a canvas may send requests while it runs in a page. The browser would let
// it reach what its author cannot: the server behind the page, services of the user's machine, the
// local network.

import { EngineError } from "./errors.ts";
import { special } from "./plugin/special.ts";

/** Reach allows requests of a canvas to addresses that are refused by default in a page. */
export interface Reach {
  /** The host that the page comes from, on any port. */
  own?: boolean;
  /** Loopback, private and link-local addresses, and names that only a local network knows. */
  private?: boolean;
  /** Further origins, such as http://127.0.0.1:8080; without effect on the page's own server. */
  origins?: readonly string[];
}

/** Place classifies an address as seen from a page. */
export type Place = "own" | "private" | "public";

/**
 * pageAddress returns the origin of the page or Worker around this code; undefined outside of
 * browsers.
 */
export function pageAddress(): string | undefined {
  const { location } = globalThis as { location?: { origin: string } };
  return location?.origin;
}

/**
 * placeOf classifies an address. A page cannot see that a public name resolves to a private
 * address.
 */
export function placeOf(url: URL, page: string): Place {
  const host = nameOf(url);
  if (URL.canParse(page) && host === nameOf(new URL(page))) return "own";
  return isLocal(host) ? "private" : "public";
}

/**
 * isPageServer reports whether an address is the server of the page, also under another local name
 * of it.
 */
export function isPageServer(url: URL, page: string): boolean {
  if (!URL.canParse(page)) return false;
  const own = new URL(page);
  if (portOf(url) !== portOf(own)) return false;
  return nameOf(url) === nameOf(own) || (isLocal(nameOf(url)) && isLocal(nameOf(own)));
}

/** Guard checks the requests of one run against its reach. */
export class Guard {
  readonly #page: string | undefined;
  readonly #reach: Reach;

  /** Outside of pages every address is allowed: a program on a server has its own rules. */
  constructor(reach: Reach = {}, page = pageAddress()) {
    this.#page = page;
    this.#reach = reach;
  }

  /** active reports whether anything is refused. */
  get active(): boolean {
    return this.#page !== undefined;
  }

  /** check throws an EngineError with code `denied` for an address that is out of reach. */
  check(address: string, what = ""): void {
    if (this.#page === undefined) return;
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
      throw refused(what + address.slice(0, 200), "may send requests to absolute http and https addresses only");
    }
    const url = new URL(address);
    const place = placeOf(url, this.#page);
    if (place === "public" || this.#reach[place]) return;
    if (this.#reach.origins?.includes(url.origin) && !isPageServer(url, this.#page)) return;
    const why = place === "own" ? "the page's own host" : "a private or local address";
    const advice = "run the canvas on a server that may";
    throw refused(what + url.origin + url.pathname, `may not reach ${why} (${url.hostname}); ${advice}`);
  }
}

function refused(address: string, why: string): EngineError {
  return new EngineError("denied", `fetch: ${address}: a canvas in a page ${why}`);
}

function nameOf(url: URL): string {
  return url.hostname.replace(/\.$/, "");
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

function isLocal(host: string): boolean {
  return special(host) || isLocalName(host);
}

// A name without a dot, or with one of the reserved endings, is resolved by the local network.
function isLocalName(host: string): boolean {
  return !/[.:]/.test(host) || /\.(local|localdomain|internal|home\.arpa)$/.test(host);
}
