// Rebases the unstored acts of a person on a document that another person has stored.

import { diff } from "./diff.ts";
import type { Dsl } from "./dsl.ts";
import { History } from "./history.ts";
import { apply, PatchError, same } from "./patch.ts";

/** Rebased is a history, and the stored document in it. */
export interface Rebased {
  history: History;
  base: Dsl;
}

/**
 * rebase returns a history that ends in `merged`, after the stored document changed from `from` to
 * `to`. Each act stays a step of undo if the other changes do not affect it; otherwise the unstored
 * acts become one step, and earlier ones are dropped.
 */
export function rebase(history: History, from: Dsl, to: Dsl, merged: Dsl): Rebased {
  if (same(history.dsl, to)) return { history, base: history.dsl }; // nothing is unstored
  const found = replayed(history, from, to, merged);
  return found ?? { history: new History(to).act({ changes: diff(to, merged) }), base: to };
}

function replayed(history: History, from: Dsl, to: Dsl, merged: Dsl): Rebased | undefined {
  const { acts } = history;
  const since = history.since(from);
  if (!since) return undefined;
  try {
    let moved = new History(apply(history.base, diff(from, to)));
    let base = moved.dsl;
    for (const [at, act] of acts.entries()) {
      moved = moved.act(act);
      if (at < acts.length - since.length) base = moved.dsl;
    }
    return same(base, to) && same(moved.dsl, merged) ? { history: moved, base } : undefined;
  } catch (err) {
    if (err instanceof PatchError) return undefined;
    throw err;
  }
}
