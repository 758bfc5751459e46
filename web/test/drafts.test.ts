// Drafts of tabs that share a canvas: the journal of a killed tab is merged into the draft with the
// changes of other tabs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { IDBFactory, IDBObjectStore, IDBTransaction } from "fake-indexeddb";
import { diff } from "../canvas/diff.ts";
import { open, type Dsl } from "../canvas/dsl.ts";
import { History } from "../canvas/history.ts";
import type { Act } from "../canvas/history.ts";
import { apply } from "../canvas/patch.ts";
import { Drafts, type Kept } from "../run/drafts.ts";

const source = { kind: "host" as const, origin: { id: "c", rev: 1, title: "Shared" } };
const key = "host:c";
const text = JSON.stringify({
  components: {
    a: { obj: { component_name: "LLM", params: { sys_prompt: "A" } }, downstream: [], upstream: [] },
    b: { obj: { component_name: "LLM", params: { sys_prompt: "B" } }, downstream: [], upstream: [] },
  },
});

/** Memory is the part of localStorage that the journal uses; its entries are its properties. */
class Memory {
  setItem(name: string, value: string): void {
    if (!Object.isFrozen(this)) (this as Record<string, unknown>)[name] = value;
  }
  getItem(name: string): string | null {
    return ((this as Record<string, unknown>)[name] as string | undefined) ?? null;
  }
  removeItem(name: string): void {
    if (!Object.isFrozen(this)) delete (this as Record<string, unknown>)[name];
  }
}

const prompt = (dsl: Dsl, id: string): unknown => dsl.components[id]?.obj.params["sys_prompt"];

function change(dsl: Dsl, id: string, value: string): Act {
  const next = structuredClone(dsl) as Dsl;
  (next.components[id] as NonNullable<Dsl["components"][string]>).obj.params["sys_prompt"] = value;
  return { changes: diff(dsl, next) };
}

/** Tab is a page with the canvas open. */
class Tab {
  readonly drafts: Drafts;
  history = new History(open(text).dsl);
  joined = 0;
  killed = false;

  constructor(database: IDBFactory, storage: Memory) {
    this.drafts = new Drafts({ database, storage: storage as unknown as Storage }, {
      edited: () => {
        if (this.killed) throw new Error("killed");
        return this.#edited();
      },
      join: (copy, synced) => {
        this.joined++;
        const theirs = copy.acts.reduce((before, act) => before.act(act), new History(open(copy.text).dsl));
        const ours = diff(synced, this.history.dsl);
        this.history = theirs.act({ changes: diff(theirs.dsl, apply(theirs.dsl, ours)) });
        return { merged: true, theirs: theirs.dsl };
      },
      moved: () => assert.fail("no canvas was stored"),
    });
    this.drafts.begin(key, this.#edited(), false);
  }

  write(id: string, value: string): void {
    this.history = this.history.act(change(this.history.dsl, id, value));
    this.drafts.changed(this.#edited());
  }

  /** take changes the canvas and takes it back: the very document from before is shown again. */
  async take(id: string, value: string, turns: number): Promise<void> {
    const before = this.history;
    this.write(id, value);
    await turn(turns);
    this.history = before;
    this.drafts.changed(this.#edited());
  }

  #edited(): Parameters<Drafts["begin"]>[1] {
    const opened = open(text);
    return { number: 1, source, opened, base: { dsl: this.history.base, text }, history: this.history };
  }
}

async function turn(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}

const shown = (kept: Kept | undefined): Dsl => {
  assert.ok(kept);
  return kept.acts.reduce((before, act) => before.act(act), new History(open(kept.text).dsl)).dsl;
};

// Either of the two may be first in the database.
for (const turns of [0, 1, 2, 3, 5, 8, 13]) {
  test(`input of a killed tab survives a tab that writes ${turns} turns after the start of its recovery`, async () => {
    const database = new IDBFactory();
    const storage = new Memory();
    const other = new Tab(database, storage);
    other.write("b", "B1");
    await other.drafts.settled();
    const left = change(shown(await other.drafts.find(key)), "a", "A, typed");
    storage.setItem(`easel.unwritten:${JSON.stringify([key, "killed"])}`, JSON.stringify({ acts: [left] }));

    const survivor = new Drafts({ database, storage: storage as unknown as Storage }, {
      edited: () => undefined,
      join: () => assert.fail("nothing is open"),
      moved: () => assert.fail("nothing is open"),
    });
    const found = survivor.find(key);
    await turn(turns);
    other.write("b", "B2");
    await other.drafts.settled();
    await found;
    other.write("b", "B3");
    await other.drafts.settled();
    const dsl = shown(await survivor.find(key));
    assert.deepEqual([prompt(dsl, "a"), prompt(dsl, "b")], ["A, typed", "B3"]);
  });
}

test("input survives a tab that is killed at any moment of a write", async () => {
  for (let typed = 0; typed < 12; typed++) {
    for (let killed = 0; killed < 12; killed++) {
      const database = new IDBFactory();
      const storage = new Memory();
      const victim = new Tab(database, storage);
      victim.write("a", "A, t");
      await turn(typed);
      victim.write("a", "A, typed");
      await turn(killed);
      victim.killed = true; // a write that has begun ends, and no other begins
      Object.freeze(storage);
      await victim.drafts.settled();

      const left = Object.assign(new Memory(), storage);
      const survivor = new Drafts({ database, storage: left as unknown as Storage }, {
        edited: () => undefined,
        join: () => assert.fail("nothing is open"),
        moved: () => assert.fail("nothing is open"),
      });
      const dsl = shown(await survivor.find(key, { text, title: "Shared", source }));
      assert.equal(prompt(dsl, "a"), "A, typed", `typed after ${typed} turns, killed after ${killed} more`);
    }
  }
});

test("the text of a canvas is not read again for each edit", async () => {
  const database = new IDBFactory();
  const tab = new Tab(database, new Memory());
  tab.write("a", "A1");
  await tab.drafts.settled();
  const { prototype } = IDBObjectStore as unknown as { prototype: { get(key: string): unknown; name: string } };
  const { get } = prototype;
  const read: string[] = [];
  prototype.get = function (this: typeof prototype, name: string) {
    read.push(this.name);
    return get.call(this, name);
  };
  try {
    for (const value of ["A2", "A3", "A4"]) {
      tab.write("a", value);
      await tab.drafts.settled();
    }
  } finally {
    prototype.get = get;
  }
  assert.deepEqual(read, ["drafts", "drafts", "drafts"]);
  assert.equal(prompt(shown(await tab.drafts.find(key)), "a"), "A4");
});

test("a draft whose changes the host has stored meanwhile is written without them", async () => {
  const opened = open(text);
  const history = new History(opened.dsl).act(change(opened.dsl, "a", "A1"));
  let now = { number: 1, source, opened, base: { dsl: opened.dsl, text }, history };
  const drafts = new Drafts({ database: new IDBFactory(), storage: new Memory() as unknown as Storage }, {
    edited: () => now,
    join: () => assert.fail("no other tab writes"),
    moved: () => assert.fail("no canvas was stored"),
  });
  drafts.begin(key, { ...now, history: new History(opened.dsl) }, false);
  drafts.changed(now);
  await drafts.settled();
  const kept = await drafts.find(key);
  assert.equal(kept?.acts.length, 1);

  now = { ...now, number: 2 };
  drafts.begin(key, now, false, kept.version);
  const stored = text.replace('"A"', '"A1"');
  now = { ...now, base: { dsl: history.dsl, text: stored } };
  drafts.changed(now);
  await drafts.settled();
  const written = await drafts.find(key);
  assert.deepEqual([written?.acts, written?.text], [[], stored]);
});

test("a change that is taken back while it is written is not stored", async () => {
  for (let turns = 0; turns < 30; turns++) {
    const tab = new Tab(new IDBFactory(), new Memory());
    tab.write("b", "B1");
    await tab.drafts.settled();
    await tab.take("a", "A1", turns);
    await tab.drafts.settled();
    assert.equal(prompt(shown(await tab.drafts.find(key)), "a"), "A", `after ${turns} turns`);
  }
});

test("a change at any moment of a write is stored", async () => {
  for (let turns = 0; turns < 30; turns++) {
    const tab = new Tab(new IDBFactory(), new Memory());
    tab.write("a", "A1");
    await turn(turns);
    tab.write("a", "A2");
    await tab.drafts.settled();
    assert.equal(prompt(shown(await tab.drafts.find(key)), "a"), "A2", `after ${turns} turns`);
  }
});

test("a journal ends only after the commit of the draft", async () => {
  const { prototype } = IDBTransaction as unknown as { prototype: { commit(): void } };
  const { commit } = prototype;
  const storage = new Memory();
  let during: string[] | undefined;
  prototype.commit = function (this: IDBTransaction) {
    this.addEventListener("complete", () => (during ??= Object.keys(storage)));
    commit.call(this);
  };
  try {
    const tab = new Tab(new IDBFactory(), storage);
    tab.write("a", "A1");
    await tab.drafts.settled();
  } finally {
    prototype.commit = commit;
  }
  assert.equal(during?.length, 1);
  assert.deepEqual(Object.keys(storage), []);
});

// own are drafts of canvases that were made in this browser.
class Own {
  readonly drafts: Drafts;
  now: Parameters<Drafts["begin"]>[1] | undefined;
  estimate: StorageEstimate = { usage: 0, quota: 1e9 };
  #number = 0;

  constructor(database = new IDBFactory()) {
    this.drafts = new Drafts({ database, estimate: () => Promise.resolve(this.estimate) }, {
      edited: () => this.now,
      join: () => assert.fail("no other tab writes"),
      moved: () => assert.fail("no other tab stores"),
    });
  }

  async open(key: string, copy: boolean): Promise<void> {
    const opened = open(text);
    const made = { kind: "new" as const, ...(copy ? { copy: true as const } : {}) };
    const base = { dsl: opened.dsl, text };
    this.now = { number: ++this.#number, source: made, opened, base, history: new History(opened.dsl) };
    this.drafts.begin(key, this.now, true);
    await this.drafts.settled();
  }

  async edit(value: string): Promise<void> {
    assert.ok(this.now);
    const { history } = this.now;
    this.now = { ...this.now, history: history.act(change(history.dsl, "a", value)) };
    this.drafts.changed(this.now);
    await this.drafts.settled();
  }
}

test("every edited draft is kept, however many there are", async () => {
  const own = new Own();
  for (let i = 0; i < 100; i++) {
    await own.open(`new:${i}`, true);
    await own.edit(`A${i}`);
  }
  assert.equal(own.drafts.list.get().length, 100);
  assert.equal(prompt(shown(await own.drafts.find("new:0")), "a"), "A0");
});

test("unedited copies are no drafts, and the oldest of them go", async () => {
  const own = new Own();
  await own.open("new:edited", true);
  await own.edit("A1");
  for (let i = 0; i < 40; i++) await own.open(`new:${i}`, true);
  assert.deepEqual(own.drafts.list.get().map(({ key }) => key), ["new:edited"]);
  assert.equal(await own.drafts.find("new:0"), undefined);
  assert.ok(await own.drafts.find("new:39"), "a reload shows it");
  await own.open("new:kept", false);
  assert.deepEqual(own.drafts.list.get().map(({ key }) => key), ["new:kept", "new:edited"], "made of nothing else");
});

test("a full storage is announced before and after it refuses, and written once there is room", async () => {
  const own = new Own();
  await own.open("new:large", true);
  await own.edit("A".repeat(1000));
  const large = own.drafts.list.get()[0];
  assert.ok(large && await own.drafts.size(large) > 1000);
  await own.open("new:1", true);
  await own.edit("A1");
  assert.deepEqual([own.drafts.room.get(), own.drafts.working.get()], ["enough", true]);
  own.estimate = { usage: 995e6, quota: 1e9 };
  await own.edit("A2");
  assert.deepEqual([own.drafts.room.get(), own.drafts.working.get()], ["low", true]);

  const { prototype } = IDBObjectStore as unknown as { prototype: { put(...args: unknown[]): unknown } };
  const { put } = prototype;
  prototype.put = () => { throw new DOMException("no space", "QuotaExceededError"); };
  try {
    await own.edit("A3");
    assert.deepEqual([own.drafts.room.get(), own.drafts.working.get()], ["full", false]);
  } finally {
    prototype.put = put;
  }
  own.estimate = { usage: 0, quota: 1e9 };
  await own.drafts.drop("new:large");
  assert.deepEqual([own.drafts.room.get(), own.drafts.working.get()], ["enough", true]);
  assert.equal(prompt(shown(await own.drafts.find("new:1")), "a"), "A3");
});

test("an edit made while the host stores a canvas is in its draft", async () => {
  const own = new Own();
  await own.open("new:1", true);
  await own.edit("A1");
  const stored = own.now;
  await own.edit("A2");
  assert.ok(stored && own.now);
  own.now = { ...own.now, source, base: { dsl: stored.history.dsl, text: text.replace('"A"', '"A1"') } };
  await own.drafts.moved(source.origin);
  assert.equal(await own.drafts.find("new:1"), undefined);
  assert.equal(prompt(shown(await own.drafts.find(key)), "a"), "A2");
});
