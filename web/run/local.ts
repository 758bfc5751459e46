// Local services that a person lets canvases call from this page, by origin. None by default, and
// the list is forgotten when the page closes.

import { isPageServer, pageAddress, placeOf } from "@easel/engine/address";
import { Store } from "./store.ts";

/** LocalFault is the reason why an address is not added; it selects the message. */
export type LocalFault = "not_address" | "public" | "own" | "many";

const most = 20;

/** Locals is the list. */
export class Locals {
  readonly list = new Store<readonly string[]>([]);
  readonly #page: string;

  constructor(page = pageAddress() ?? "null") {
    this.#page = page;
  }

  /** add allows the origin of an address; http:// is put before one without a scheme. */
  add(address: string): LocalFault | undefined {
    const text = address.trim();
    const whole = /^[a-z]+:\/\//i.test(text) ? text : "http://" + text;
    if (text === "" || !URL.canParse(whole)) return "not_address";
    const url = new URL(whole);
    if (!/^https?:$/.test(url.protocol)) return "not_address";
    if (isPageServer(url, this.#page)) return "own";
    if (placeOf(url, this.#page) === "public") return "public";
    const list = this.list.get();
    if (list.includes(url.origin)) return undefined;
    if (list.length === most) return "many";
    this.list.set([...list, url.origin].sort());
    return undefined;
  }

  /** remove disallows an origin. */
  remove(origin: string): void {
    this.list.set(this.list.get().filter((each) => each !== origin));
  }
}
