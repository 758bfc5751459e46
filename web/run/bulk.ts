// One act on many documents, in pieces, with its progress, the refused documents, and the rest when
// a piece fails.

import type { Refused } from "./datasets.ts";

/** Bulk is the state of an act on many documents. */
export interface Bulk {
  total: number;
  done: number;
  /** Documents that the host refused, with its reason. */
  refused: { document: string; message: string }[];
  /** Documents that were not tried, or whose answer did not arrive. */
  left: string[];
  /** Why it stopped before the end. */
  fault?: unknown;
  running: boolean;
}

/** piece is the number of documents of one request. */
export const piece = 20;

/**
 * bulk acts on documents and calls changed with each state. The first failure of a request stops
 * it: the documents of that request may have been changed, so they are left too. Repeating the act
 * must be harmless: `settled` lists the codes of documents on which it was done already.
 */
export async function bulk(
  documents: readonly string[],
  act: (documents: string[]) => Promise<Refused>,
  changed: (state: Bulk) => void,
  settled: readonly string[] = [],
): Promise<Bulk> {
  let state: Bulk = { total: documents.length, done: 0, refused: [], left: [...documents], running: true };
  const set = (part: Partial<Bulk>): void => changed((state = { ...state, ...part }));
  set({});
  while (state.left.length > 0) {
    const now = state.left.slice(0, piece);
    try {
      const { refused } = await act(now);
      const unmet = refused.filter(({ code }) => !settled.includes(code));
      set({
        done: state.done + now.length - unmet.length,
        refused: [...state.refused, ...unmet],
        left: state.left.slice(now.length),
      });
    } catch (fault) {
      set({ fault, running: false });
      return state;
    }
  }
  set({ running: false });
  return state;
}
