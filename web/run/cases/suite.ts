// The tests of the open canvas: its cases, their plays and results, without views.

import { messageOf } from "@easel/engine";
import type { Dsl } from "../../canvas/dsl.ts";
import { RunIds } from "../../canvas/earlier.ts";
import type { Session } from "../session.ts";
import { Store } from "../store.ts";
import { obstacle, readCase, writeCase, type Case, type Obstacle } from "./case.ts";
import { compare } from "./compare.ts";
import type { Difference } from "./differences.ts";
import { expectation, renewed } from "./expect.ts";
import { caseOfTurns, conversation, settled } from "./make.ts";
import { play, type Observation } from "./play.ts";
import { callCounts, type CallCount } from "./report.ts";
import type { CaseStore, KeptCase } from "./store.ts";
import { get, list } from "./value.ts";

/** Against is the canvas that is tested: the open one with its edits, or that of the case. */
export type Against = "current" | "recorded";

/** Verdict is the outcome of a case. */
export type Verdict = "passed" | "failed" | "not_played";

/** Result is the last play of a case with one of the canvases. */
export interface Result {
  verdict: Verdict;
  /** Why it was not played; a message when the engine failed. */
  obstacle?: Obstacle;
  trouble?: string;
  differences: Difference[];
  /** Calls of models by node, if their number differs. */
  calls?: CallCount[] | undefined;
  observation?: Observation;
  /** The canvas that was played, as text. */
  canvas?: string;
  /** The open canvas that was played; undefined for that of the case. */
  dsl?: Dsl;
}

/** Entry is a case in the list. */
export interface Entry extends KeptCase {
  read?: Case;
  /** Code of the reason why it cannot be read. */
  fault?: string;
  results: Partial<Record<Against, Result>>;
  playing: boolean;
}

/** Undo is the change that can be undone: a removed case, or an accepted result. */
export interface Undo {
  kind: "removed" | "accepted";
  name: string;
  kept: KeptCase;
}

/** Shown is the state of the view. */
export interface Shown {
  /** Undefined until the cases are read. */
  entries?: Entry[] | undefined;
  against: Against;
  /** Cases are played again after edits. */
  follows: boolean;
  running: boolean;
  /** Cases are not stored: the browser refuses it. */
  passing: boolean;
  undo?: Undo | undefined;
}

/** Suite plays the cases of one session. */
export class Suite {
  readonly shown = new Store<Shown>({ against: "current", follows: false, running: false, passing: false });
  readonly #session: Session;
  readonly #store: CaseStore;
  #canvas = "";
  #opened = 0;
  #reading: Promise<void> | undefined;
  #stop = new AbortController();

  constructor(session: Session, store: CaseStore) {
    this.#session = session;
    this.#store = store;
    store.watch((canvas) => { if (canvas === this.#canvas) void this.#read(); });
  }

  /** open lists the cases of a canvas. */
  async open(canvas: string): Promise<void> {
    if (canvas === this.#canvas && this.shown.get().entries) return;
    this.#canvas = canvas;
    this.#opened++;
    this.shown.update({ entries: undefined, undo: undefined });
    this.#reading = this.#read();
    await this.#reading;
  }

  /** add stores case files of the open canvas; it throws a CaseFault for other texts. */
  async add(texts: readonly string[]): Promise<void> {
    texts.forEach(readCase);
    for (const text of texts) await this.#put(this.#new(text));
  }

  /**
   * save makes a case of a turn, and of those before it in the page; it throws a CaseError when it
   * cannot be played again.
   */
  async save(chosen: number, title: string): Promise<void> {
    const { engine, player, document, specs } = this.#session;
    const { turns } = player.play.get();
    const turn = turns[chosen];
    const dsl = document.get()?.dsl;
    const ids = new RunIds(dsl, specs.get());
    if (turn?.place === "host") {
      const made = readCase(await player.caseOf(turn));
      return this.keep({ ...made, name: questionOf(made) || title });
    }
    const led = conversation(turns, chosen);
    const made = await caseOfTurns(title, led, { engine: await engine, ids });
    await this.keep({ ...made, name: questionOf(made) || title });
  }

  /** keep stores a new case; the observation of its play becomes its expectation. */
  async keep(made: Case): Promise<void> {
    await this.#reading; // a list that is being read would lack it
    const named = { ...made, name: this.#free(made.name) };
    const why = obstacle(named, named.dsl, this.#known);
    const text = writeCase(why ? named : settled(named, await this.#play(named, named.canvas)));
    const kept = this.#new(text);
    await this.#put(kept);
    await this.run([kept.id]);
  }

  async rename(id: string, name: string): Promise<void> {
    const entry = this.#find(id);
    if (!entry?.read || name.trim() === "") return;
    await this.#put({ ...keptOf(entry), text: writeCase({ ...entry.read, name: name.trim() }) }, entry.results);
  }

  async remove(id: string): Promise<void> {
    const entry = this.#find(id);
    if (!entry) return;
    this.#change((entries) => entries.filter((each) => each.id !== id));
    this.shown.update({ undo: { kind: "removed", name: entry.read?.name ?? "", kept: keptOf(entry) } });
    await this.#stored(() => this.#store.drop(entry));
  }

  /** accept makes the result of a play the expectation, and its canvas that of the case. */
  async accept(id: string): Promise<void> {
    const entry = this.#find(id);
    const result = entry?.results[this.shown.get().against];
    if (!entry?.read || !result?.observation) return;
    const { read } = entry;
    const runs = read.runs.map((run, i) => {
      const inputs = Object.fromEntries(Object.entries(run).filter(([name]) => !wanted.has(name)));
      const next = expectation(result.observation?.runs[i] ?? {});
      const kept = Object.fromEntries(Object.entries(next).map(([name, value]) => [name, renewed(run[name], value)]));
      return { ...inputs, ...kept };
    });
    const canvas = result.canvas ?? read.canvas;
    this.shown.update({ undo: { kind: "accepted", name: read.name, kept: keptOf(entry) } });
    await this.#put({ ...keptOf(entry), text: writeCase({ ...read, canvas, runs }) });
    await this.run([id]);
  }

  async undo(): Promise<void> {
    const { undo } = this.shown.get();
    if (!undo) return;
    this.shown.update({ undo: undefined });
    await this.#put(undo.kept);
    if (undo.kind === "accepted") await this.run([undo.kept.id]);
  }

  /** dismiss drops the change that undo would revert. */
  dismiss(): void {
    this.shown.update({ undo: undefined });
  }

  /** run plays cases one after the other, all by default. */
  async run(ids?: readonly string[]): Promise<void> {
    const opened = this.#opened;
    const all = (this.shown.get().entries ?? []).filter(({ id, read }) => read && (!ids || ids.includes(id)));
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.shown.update({ running: true });
    for (const { id } of all) {
      if (opened !== this.#opened || signal.aborted) break;
      await this.#runOne(id, signal);
    }
    this.shown.update({ running: false });
  }

  /** stop ends the plays; cases that have not been played keep their results. */
  stop(): void {
    this.#stop.abort();
  }

  /** isStale reports whether the open canvas was edited since a result. */
  isStale({ dsl }: Result): boolean {
    const now = this.#session.document.get()?.dsl;
    if (!dsl || !now || dsl === now) return false;
    // Places of boxes have no effect on runs.
    const names = new Set([...Object.keys(dsl), ...Object.keys(now)]);
    names.delete("graph");
    return [...names].some((name) => dsl[name] !== now[name]);
  }

  async #runOne(id: string, signal: AbortSignal): Promise<void> {
    const { against } = this.shown.get();
    const read = this.#find(id)?.read;
    if (!read) return;
    this.#update(id, { playing: true });
    const result = await this.#result(read, against, signal);
    const entry = this.#find(id);
    if (!entry) return;
    this.#update(id, { playing: false, results: { ...entry.results, ...(result && { [against]: result }) } });
  }

  // result is undefined when the play was stopped.
  async #result(read: Case, against: Against, signal: AbortSignal): Promise<Result | undefined> {
    const document = against === "current" ? this.#session.document.get() : undefined;
    const canvas = document ? await this.#session.text() : read.canvas;
    const played = { canvas, ...(document ? { dsl: document.dsl } : {}) };
    const why = obstacle(read, document?.dsl ?? read.dsl, this.#known);
    if (why) return { verdict: "not_played", obstacle: why, differences: [], ...played };
    try {
      const observation = await this.#play(read, canvas, signal);
      if (observation.obstacle) {
        return { verdict: "not_played", obstacle: observation.obstacle, differences: [], ...played };
      }
      const differences = compare(read, observation);
      const verdict = differences.length === 0 ? "passed" : "failed";
      const calls = differences.some(({ part, rule }) => part === "call" && rule === "count")
        ? await this.#counted(read, observation) : undefined;
      return { verdict, differences, observation, calls, ...played };
    } catch (err) {
      if (signal.aborted) return undefined;
      return { verdict: "not_played", trouble: messageOf(err), differences: [], ...played };
    }
  }

  // counted compares calls by node. A file of `easel record` does not name nodes: its own canvas
  // shows them.
  async #counted(read: Case, seen: Observation): Promise<CallCount[] | undefined> {
    const known = callCounts(read.runs, seen.runs);
    if (known) return known;
    const recorded = await this.#play(read, read.canvas);
    const same = read.runs.every(({ llm_calls }, i) =>
      list(llm_calls).length === list(recorded.runs[i]?.["llm_calls"]).length);
    return same ? callCounts(recorded.runs, seen.runs) : undefined;
  }

  async #play(read: Case, canvas: string, signal?: AbortSignal): Promise<Observation> {
    const { engine, player } = this.#session;
    return play(read, canvas, { engine: await engine, code: player.scripts, signal });
  }

  readonly #known = (component: string): boolean => this.#session.specs.get().has(component);

  #new(text: string): KeptCase {
    return { id: crypto.randomUUID(), canvas: this.#canvas, added: Date.now(), text };
  }

  // free returns a name that no case has.
  #free(name: string): string {
    const names = new Set((this.shown.get().entries ?? []).map(({ read }) => read?.name));
    if (!names.has(name)) return name;
    for (let n = 2; ; n++) if (!names.has(`${name} ${n}`)) return `${name} ${n}`;
  }

  #find(id: string): Entry | undefined {
    return this.shown.get().entries?.find((each) => each.id === id);
  }

  #update(id: string, part: Partial<Entry>): void {
    this.#change((entries) => entries.map((each) => (each.id === id ? { ...each, ...part } : each)));
  }

  #change(next: (entries: Entry[]) => Entry[]): void {
    this.shown.update({ entries: next(this.shown.get().entries ?? []) });
  }

  async #put(kept: KeptCase, results: Entry["results"] = {}): Promise<void> {
    this.#change((entries) => {
      const entry = { ...entryOf(kept), results };
      const known = entries.some(({ id }) => id === kept.id);
      const next = known ? entries.map((each) => (each.id === kept.id ? entry : each)) : [...entries, entry];
      return next.sort((a, b) => a.added - b.added);
    });
    await this.#stored(() => this.#store.put(kept));
  }

  async #read(): Promise<void> {
    const canvas = this.#canvas;
    await this.#stored(async () => {
      const stored = await this.#store.list(canvas);
      if (canvas !== this.#canvas) return;
      const before = this.shown.get().entries ?? [];
      const entries = stored.map((kept) => {
        const known = before.find(({ id, text }) => id === kept.id && text === kept.text);
        return known ?? entryOf(kept);
      });
      this.shown.update({ entries });
    });
    if (canvas === this.#canvas && !this.shown.get().entries) this.shown.update({ entries: [] });
  }

  async #stored(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch {
      this.shown.update({ passing: true });
    }
  }
}

const wanted = new Set([
  "load_error", "events", "error", "llm_calls", "tool_calls", "searches", "tool_trace", "saved_memory", "debug_outputs",
  "dsl_after",
]);

function keptOf({ id, canvas, added, text }: Entry): KeptCase {
  return { id, canvas, added, text };
}

function entryOf(kept: KeptCase): Entry {
  try {
    return { ...kept, read: readCase(kept.text), results: {}, playing: false };
  } catch (err) {
    return { ...kept, fault: messageOf(err), results: {}, playing: false };
  }
}

/** questionOf returns the first question of a case, as a name. */
export function questionOf({ runs }: Case): string {
  const query = runs.map(({ kwargs }) => get(kwargs, "query")).find(Boolean);
  return typeof query === "string" ? query.trim().replaceAll(/\s+/g, " ").slice(0, 60) : "";
}
