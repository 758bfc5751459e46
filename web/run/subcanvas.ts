// A selection as a separate canvas, stored where the open canvas is: on the host, or in this
// browser. The inverse reads it from there.

import { open } from "../canvas/dsl.ts";
import { inline, type Unjoined } from "../canvas/edit/inline.ts";
import { extract, runsCanvases, type Unfit } from "../canvas/edit/subcanvas.ts";
import { text } from "../canvas/picture.ts";
import type { Editable } from "./editing.ts";
import type { Host } from "./host.ts";

/** Places store new canvases and find stored ones. */
export interface Places {
  host: Pick<Host, "create">;
  drafts: { add(title: string, text: string): Promise<string> } | undefined;
  find: ((id: string, version: string) => Promise<{ dsl: string }>) | undefined;
}

/** Held is the owner of the open canvas. */
interface Held extends Pick<Editable, "specs" | "document" | "act"> {
  readonly origin: { get(): unknown };
}

/** Outcome is the new selection, or the reason why nothing was done. */
export type Outcome = { chosen: string[] } | { why: Unfit | Unjoined | "changed" | "no_store" };

/** Subcanvases turns selections into canvases and back, each as one step of undo. */
export class Subcanvases {
  readonly #session: Held;
  readonly #places: Places;

  constructor(session: Held, places: Places) {
    this.#session = session;
    this.#places = places;
  }

  /** extract stores a selection as a canvas and lets a node run it. */
  async extract(ids: readonly string[], title: string): Promise<Outcome> {
    const document = this.#session.document.get();
    if (!document) return { why: "nothing" };
    const made = extract(document.dsl, document.model, this.#session.specs.get(), ids);
    if (typeof made === "string") return { why: made };
    const canvas = await this.#store(title, made.dsl);
    if (canvas === undefined) return { why: "no_store" };
    if (this.#session.document.get()?.dsl !== document.dsl) return { why: "changed" };
    const id = this.#session.act((draft) => made.put(draft, canvas, title));
    return id === undefined ? { why: "nothing" } : { chosen: [id] };
  }

  /** inline replaces a node by the canvas that it runs. */
  async inline(id: string): Promise<Outcome> {
    const node = this.#session.document.get()?.model.byId.get(id);
    const { find } = this.#places;
    if (!find || !node || !runsCanvases(node.spec)) return { why: "node" };
    const { canvas, version } = node.params;
    const { dsl } = await find(text(canvas), text(version));
    const opened = open(dsl).dsl;
    const put = this.#session.act((draft) => inline(draft, this.#session.specs.get(), id, opened));
    if (put === undefined) return { why: "node" };
    return typeof put === "string" ? { why: put } : { chosen: put };
  }

  async #store(title: string, dsl: unknown): Promise<string | undefined> {
    const { host, drafts } = this.#places;
    if (this.#session.origin.get() !== undefined) return (await host.create(title, JSON.stringify(dsl))).id;
    return drafts?.add(title, JSON.stringify({ title, dsl }));
  }
}
