// Canvases that a canvas runs as a node or a tool: files of this page, drafts of this browser, and
// those of the host for a person who is signed in there.

import type { Port } from "@easel/engine";
import { open, type Words } from "../canvas/dsl.ts";
import { History } from "../canvas/history.ts";
import { rewrite } from "../canvas/rewrite.ts";
import { draftKey, type Draft, type Drafts, type Kept } from "./drafts.ts";
import type { Host } from "./host.ts";
import type { Source } from "./session.ts";

/** CanvasFile is a canvas in a file of this page. */
export interface CanvasFile {
  name: string;
  text: string;
  source: Source;
}

/** Stored holds the places where canvases are stored. */
export interface Stored {
  drafts: Pick<Drafts, "list" | "find" | "settled">;
  host: Pick<Host, "state" | "canvas" | "request">;
  /**
   * own reports whether the running canvas is the person's; others have no access to the person's
   * canvases.
   */
  own(): boolean;
}

interface Version {
  id: string;
  title: string;
  published?: boolean;
}

const most = 60; // files; the oldest go first

/** Canvases finds them. */
export class Canvases {
  readonly #stored: Stored;
  readonly #files = new Map<string, CanvasFile>(); // by name

  constructor(stored: Stored) {
    this.#stored = stored;
  }

  /** add stores a dropped file under its name without .json. */
  add(file: CanvasFile): void {
    const name = plain(file.name);
    this.#files.delete(name);
    this.#files.set(name, file);
    for (const [oldest] of this.#files) {
      if (this.#files.size <= most) break;
      this.#files.delete(oldest);
    }
  }

  /** port answers the engine's request for a canvas. */
  readonly port: Port = ({ canvas, version }) => this.find(String(canvas ?? ""), String(version ?? ""));

  /** find returns a canvas by id or name, or throws. */
  async find(id: string, wanted: string): Promise<{ dsl: string }> {
    const text = await this.#file(id, wanted) ?? await this.#draft(id, wanted) ?? await this.#hosted(id, wanted);
    if (text !== undefined) return { dsl: text };
    const { status } = this.#stored.host.state.get();
    const how = status === "open" ? "" : "; open its file here, or sign in to the host that has it";
    throw new Error(this.#stored.own() ? `there is no such canvas in this browser${how}`
      : "another person's canvas may run files of this page only; save it as your own to run others");
  }

  // A file that was opened and edited has a draft.
  async #file(id: string, version: string): Promise<string | undefined> {
    const all = [...this.#files.values()];
    const file = this.#files.get(plain(id)) ?? all.find(({ name, text }) => titled(titleOf(text, name), id));
    if (!file || !this.#may(file.source)) return undefined;
    unversioned(version);
    await this.#stored.drafts.settled();
    const kept = await this.#stored.drafts.find(draftKey(file.text, file.source));
    return kept ? textOf(kept) : open(file.text).text;
  }

  // Drafts of a canvas of the host are in its editor; published versions are on the host.
  async #draft(id: string, version: string): Promise<string | undefined> {
    const { drafts } = this.#stored;
    await drafts.settled();
    const means = ({ key, title, source }: Draft): boolean => {
      if (source.kind === "host") return key === `host:${id}` && version === "draft";
      return key === id || titled(title, id);
    };
    const there = drafts.list.get().find((draft) => this.#may(draft.source) && means(draft));
    const kept = there && await drafts.find(there.key);
    if (!kept) return undefined;
    unversioned(version);
    return textOf(kept);
  }

  async #hosted(id: string, version: string): Promise<string | undefined> {
    const { host } = this.#stored;
    if (!this.#stored.own() || host.state.get().status !== "open") return undefined;
    const path = `/api/v2/canvases/${encodeURIComponent(id)}`;
    if (version === "draft") return open((await host.canvas(id)).text).text;
    const { items = [] } = await host.request<{ items?: Version[] }>("GET", path + "/versions");
    const means = (each: Version): boolean => each.id === version || each.title === version;
    const chosen = items.find((each) => (version === "" ? each.published : means(each)));
    if (!chosen) {
      const unpublished = 'it is not published; publish it, or name a version or "draft"';
      throw new Error(version === "" ? unpublished : `no version "${version}"`);
    }
    const { dsl } = await host.request<{ dsl: unknown }>("GET", `${path}/versions/${encodeURIComponent(chosen.id)}`);
    return JSON.stringify(dsl);
  }

  // may reports whether the running canvas may run one of this source.
  #may({ kind }: Source): boolean {
    return this.#stored.own() || kind === "file" || kind === "link" || kind === "example";
  }
}

function unversioned(version: string): void {
  if (version === "" || version === "draft") return;
  throw new Error(`a page keeps no versions; version is "${version}", accepted are "" and "draft"`);
}

function textOf({ text, acts }: Kept): string {
  const opened = open(text);
  const { dsl } = acts.reduce((before, act) => before.act(act), new History(opened.dsl));
  return dsl === opened.dsl ? opened.text : rewrite(opened.text, opened.dsl, dsl);
}

// titleOf returns "" for a file that is not a canvas.
function titleOf(text: string, name: string): Words {
  try {
    return open(text, name).title;
  } catch {
    return "";
  }
}

function plain(name: string): string {
  return name.replace(/\.json$/i, "");
}

function titled(title: Words, id: string): boolean {
  const name = plain(id);
  return typeof title === "string" ? title === name : Object.values(title).includes(name);
}
