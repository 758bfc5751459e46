// One canvas that several people, or several tabs, change: stored changes of others are merged with
// the local ones. Settings that both changed wait for the person's choice; until then the local
// canvas does not change.

import { diff } from "../canvas/diff.ts";
import type { CanvasModel } from "../canvas/drawing.ts";
import { open, type Dsl, type Opened } from "../canvas/dsl.ts";
import { History, type Act } from "../canvas/history.ts";
import { mirror } from "../canvas/edit/mirror.ts";
import { merge, settle, type Conflict } from "../canvas/merge.ts";
import { rebase } from "../canvas/rebase.ts";
import type { Origin } from "./host.ts";
import type { Base, Document } from "./document.ts";
import { Store } from "./store.ts";

/** Shareable is the owner of the open canvas. */
export interface Shareable {
  readonly document: { get(): Document | undefined };
  readonly origin: { get(): Origin | undefined };
  drawing(dsl: Dsl): CanvasModel;
  replace(history: History, stored?: { opened: Opened; base: Base; origin: Origin | undefined }): void;
}

/** Theirs is the document stored by another person or tab. */
interface Theirs {
  opened: Opened;
  base: Base;
  origin: Origin | undefined;
  /** Acts on it that the host does not have: those of another tab. */
  history: History;
}

/** Rival is a stored document that cannot be merged without a choice. */
export interface Rival {
  conflicts: readonly Conflict[];
  /** It is the draft of another tab, not a revision of the host. */
  tab: boolean;
}

/** Copy is a stored document with the acts since, as another tab wrote it. */
export interface Copy {
  text: string;
  acts: readonly Act[];
  origin: Origin | undefined;
}

/** Sharing merges what others store into the open canvas of a session. */
export class Sharing {
  /** The document that waits for a choice. */
  readonly rival = new Store<Rival | undefined>(undefined);
  readonly #session: Shareable;
  #waiting: { theirs: Theirs; from: Dsl } | undefined;

  constructor(session: Shareable) {
    this.#session = session;
  }

  /** forget drops the document that waits for a choice, because another canvas is opened. */
  forget(): void {
    this.#waiting = undefined;
    this.rival.set(undefined);
  }

  /**
   * receive takes a newer revision of the host. It reports whether it is merged; otherwise a choice
   * is required.
   */
  receive(text: string, origin: Origin): boolean {
    const document = this.#session.document.get();
    const known = this.#session.origin.get();
    if (!document || known?.id !== origin.id || origin.rev <= known.rev) return true;
    return this.#merge(theirsOf({ text, acts: [], origin }), document.base.dsl, false);
  }

  /**
   * join takes the draft that another tab wrote; `synced` is the last document that both tabs had.
   * It returns their document, and whether it is merged; otherwise a choice is required.
   */
  join(copy: Copy, synced: Dsl): { merged: boolean; theirs: Dsl } {
    const theirs = theirsOf(copy);
    return { merged: this.#merge(theirs, synced, true), theirs: theirs.history.dsl };
  }

  /** choose settles the conflicts: those with the given keys keep our values, the others theirs. */
  choose(ours: ReadonlySet<string>): void {
    const waiting = this.#waiting;
    const document = this.#session.document.get();
    if (!waiting || !document) return;
    const { theirs, from } = waiting;
    this.#apply(theirs, from, this.#mirrored(settle(merge(from, document.dsl, theirs.history.dsl), ours), theirs));
    this.forget();
  }

  #merge(theirs: Theirs, from: Dsl, tab: boolean): boolean {
    const document = this.#session.document.get();
    if (!document) return true;
    const { dsl, conflicts } = merge(from, document.dsl, theirs.history.dsl);
    if (conflicts.length > 0) {
      this.#waiting = { theirs, from };
      this.rival.set({ conflicts, tab });
      return false;
    }
    this.forget();
    this.#apply(theirs, from, this.#mirrored(dsl, theirs));
    return true;
  }

  #mirrored(merged: Dsl, theirs: Theirs): Dsl {
    const sides = [theirs.history.dsl, this.#session.document.get()?.dsl ?? merged];
    if (sides.includes(merged)) return merged;
    return mirror(merged, sides, (dsl) => this.#session.drawing(dsl));
  }

  // apply shows the merged document. Acts stay separate steps of undo if possible.
  #apply({ opened, base, origin, history }: Theirs, from: Dsl, merged: Dsl): void {
    const document = this.#session.document.get();
    if (!document) return;
    if ((origin?.rev ?? 0) < (this.#session.origin.get()?.rev ?? 0)) {
      // The other tab has not merged the changes of this one yet.
      this.#session.replace(document.history.act({ changes: diff(document.dsl, merged) }));
    } else if (history.canUndo) {
      this.#session.replace(history.act({ changes: diff(history.dsl, merged) }), { opened, base, origin });
    } else {
      const rebased = rebase(document.history, from, history.dsl, merged);
      const stored = { opened, base: { ...base, dsl: rebased.base }, origin };
      this.#session.replace(rebased.history, stored);
    }
  }
}

function theirsOf({ text, acts, origin }: Copy): Theirs {
  const opened = open(text);
  const history = acts.reduce((before, act) => before.act(act), new History(opened.dsl));
  return { opened, base: { dsl: opened.dsl, text }, origin, history };
}
