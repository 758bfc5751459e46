// The page's handling of revisions that its host reports.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, type Dsl } from "../canvas/dsl.ts";
import { build } from "../canvas/model.ts";
import { History } from "../canvas/history.ts";
import type { Document } from "../run/document.ts";
import { HostError, type Host, type Origin } from "../run/host.ts";
import { Sharing, type Shareable } from "../run/sharing.ts";
import { Store } from "../run/store.ts";
import { Together } from "../run/together.ts";

const textOf = (prompt: string): string =>
  JSON.stringify({
    components: { a: { obj: { component_name: "LLM", params: { sys_prompt: prompt } }, downstream: [], upstream: [] } },
  });

const prompt = (dsl: Dsl | undefined): unknown => dsl?.components["a"]?.obj.params["sys_prompt"];

/** Page is the part of a session that others use. */
class Page implements Shareable {
  readonly origin = new Store<Origin | undefined>({ id: "c", rev: 1 });
  readonly document: Store<Document | undefined>;
  readonly sharing = new Sharing(this);

  constructor(text: string) {
    const opened = open(text);
    const history = new History(opened.dsl);
    const base = { dsl: opened.dsl, text };
    const source = { kind: "host", origin: { id: "c", rev: 1 } } as const;
    this.document = new Store({ number: 1, source, opened, base, history, dsl: history.dsl } as unknown as Document);
  }

  drawing(dsl: Dsl): ReturnType<typeof build> {
    return build(dsl, new Map());
  }

  replace: Shareable["replace"] = (history, stored) => {
    const now = this.document.get() as Document;
    this.document.set({ ...now, ...(stored && { base: stored.base }), history, dsl: history.dsl });
    if (stored) this.origin.set(stored.origin);
  };

  async text(): Promise<string> {
    return JSON.stringify(this.document.get()?.dsl);
  }

  stored(origin: Origin): void {
    this.origin.set(origin);
  }
}

/** Revisions is a host with one canvas, which reports its revisions at the test's request. */
class Revisions {
  readonly state = new Store({ status: "open" });
  rev = 1;
  #events: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(public stored: string) {}

  async ask(_method: string, path: string): Promise<Response> {
    if (path.includes("/versions?")) throw new HostError(400, "unknown query parameter");
    if (path.endsWith("/versions")) return Response.json({ items: [{ author: "Ana" }] });
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#events = controller) });
    return new Response(body);
  }

  async canvas(id: string): Promise<{ text: string; title: string; origin: Origin }> {
    return { text: this.stored, title: "", origin: { id, rev: this.rev } };
  }

  /** report creates a revision and sends it to the page. */
  report(text = this.stored): void {
    this.stored = text;
    this.rev++;
    this.#events?.enqueue(new TextEncoder().encode(`event: revision\ndata: {"rev":${this.rev}}\n\n`));
  }

  end(): void {
    this.#events?.close();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}

async function follow(): Promise<{ page: Page; host: Revisions; together: Together }> {
  const page = new Page(textOf("first"));
  const host = new Revisions(textOf("first"));
  const together = new Together(host as unknown as Host, page); // follows once the host's state changes
  host.state.set({ ...host.state.get() });
  await turn();
  return { page, host, together };
}

test("a revision is announced only if it changes something", async () => {
  const { page, host, together } = await follow();
  host.report();
  await until(() => page.origin.get()?.rev === 2);
  host.report(textOf("second"));
  await until(() => page.origin.get()?.rev === 3);
  await turn();
  assert.equal(prompt(page.document.get()?.dsl), "second");
  assert.equal(together.merged.get(), 1);
  assert.equal(together.author.get(), "Ana", "who saved it is named");
  page.origin.set(undefined);
  host.end();
});

test("the user's own publication is not announced as a change of others, in either order of events", async () => {
  for (const early of [true, false]) {
    const { page, host, together } = await follow();
    await together.publish(async (rev) => {
      assert.equal(rev, 1);
      if (early) host.report();
      for (let i = 0; i < 20; i++) await turn();
      return { rev: 2 };
    });
    assert.equal(page.origin.get()?.rev, 2);
    if (!early) host.report();
    for (let i = 0; i < 20; i++) await turn();
    assert.equal(together.merged.get(), 0);
    page.origin.set(undefined);
    host.end();
  }
});
