// The acts of a person on a canvas, in order, with the current position: undo and redo move over
// whole acts. The file does not change; the canvas is the file with the acts applied.

import { own, type Dsl, type Params } from "./dsl.ts";
import { apply, same, type Change } from "./patch.ts";

/** Act is one step of undo. */
export interface Act {
  changes: readonly Change[];
  /** Acts in a row with the same key, as when a text is typed, are one step. */
  key?: string;
}

interface Done extends Act {
  /** The document before the act. */
  before: Dsl;
}

interface Undone {
  act: Done;
  /** The document after the act. */
  after: Dsl;
}

/** History is immutable; each act returns a new one. */
export class History {
  /** The document as it was opened. */
  readonly base: Dsl;
  /** The document now. */
  readonly dsl: Dsl;
  readonly #done: readonly Done[];
  readonly #undone: readonly Undone[];

  constructor(base: Dsl, dsl = base, done: readonly Done[] = [], undone: readonly Undone[] = []) {
    this.base = base;
    this.dsl = dsl;
    this.#done = done;
    this.#undone = undone;
  }

  get canUndo(): boolean {
    return this.#done.length > 0;
  }

  get canRedo(): boolean {
    return this.#undone.length > 0;
  }

  /** acts are those done so far, to be done again on another visit. */
  get acts(): readonly Act[] {
    return this.#done.map(({ changes, key }) => (key === undefined ? { changes } : { changes, key }));
  }

  /**
   * since lists the acts since the document was `dsl`; undefined when they were undone, or the
   * document never was that.
   */
  since(dsl: Dsl): readonly Act[] | undefined {
    if (dsl === this.dsl) return [];
    const from = this.#done.findIndex(({ before }) => before === dsl);
    return from < 0 ? undefined : this.acts.slice(from);
  }

  /** act adds an act, unless it has no changes. */
  act({ changes, key }: Act): History {
    if (changes.length === 0) return this;
    const dsl = apply(this.dsl, changes);
    const last = this.#done.at(-1);
    if (key === undefined || last?.key !== key) {
      const done = { changes, before: this.dsl, ...(key === undefined ? {} : { key }) };
      return new History(this.base, dsl, [...this.#done, done]);
    }
    const earlier = this.#done.slice(0, -1);
    const joined = compact([...last.changes, ...changes]);
    if (joined.length === 0) return new History(this.base, last.before, earlier);
    return new History(this.base, dsl, [...earlier, { changes: joined, before: last.before, key }]);
  }

  undo(): History {
    const act = this.#done.at(-1);
    if (!act) return this;
    return new History(this.base, act.before, this.#done.slice(0, -1), [...this.#undone, { act, after: this.dsl }]);
  }

  redo(): History {
    const next = this.#undone.at(-1);
    if (!next) return this;
    return new History(this.base, next.after, [...this.#done, next.act], this.#undone.slice(0, -1));
  }

  /** patch returns everything since the file was opened. */
  patch(): Change[] {
    return this.#done.flatMap(({ changes }) => changes);
  }

  /** edited lists the params of a node that differ from the file; none of a node that is new. */
  edited(node: string): Params {
    const now = own(this.dsl.components, node)?.obj.params ?? {};
    const then = own(this.base.components, node)?.obj.params;
    if (now === then || !then) return none;
    return Object.fromEntries(Object.entries(now).filter(([name, value]) => !same(own(then, name), value)));
  }
}

const none: Params = {};

/** compact joins consecutive changes of the same value, and drops those without effect. */
export function compact(changes: readonly Change[]): Change[] {
  const joined: Change[] = [];
  for (const change of changes) {
    const index = joined.findIndex(({ path }) => same(path, change.path));
    const first = joined[index];
    const only = index >= 0 && joined.slice(index + 1).every(({ path }) => apart(path, change.path));
    if (!first || !only || !("after" in first) || !("before" in change)) {
      joined.push(change);
      continue;
    }
    const { after: _, ...start } = first;
    const whole: Change = "after" in change ? { ...start, after: change.after } : start;
    if (!("before" in whole) && !("after" in whole)) joined.splice(index, 1);
    else if (same(whole.before, whole.after)) joined.splice(index, 1);
    else if (!("after" in whole) && change.at !== undefined) joined[index] = { ...whole, at: change.at };
    else joined[index] = whole;
  }
  return joined;
}

// apart reports whether neither path leads into the other, nor both to places in one list.
function apart(a: readonly unknown[], b: readonly unknown[]): boolean {
  const shared = a.findIndex((step, i) => step !== b[i]);
  return shared >= 0 && shared < b.length && typeof a[shared] === "string" && typeof b[shared] === "string";
}
