// The receiver of dropped files: the view that registered for them, else they are opened.

import { useEffect } from "react";
import { Store } from "../run/store.ts";

/** Taker receives dropped files. */
export interface Taker {
  /** The text shown while files are dragged over the page. */
  label: string;
  /** take reports whether the files are taken; others are opened as canvases. */
  take(files: File[]): boolean;
}

/** takers holds the view that takes files; undefined opens them. */
export const takers = new Store<Taker | undefined>(undefined);

/** useTaker makes a view the taker of dropped files while it is shown; undefined takes none. */
export function useTaker(taker: Taker | undefined): void {
  useEffect(() => {
    if (!taker) return;
    takers.set(taker);
    return () => {
      if (takers.get() === taker) takers.set(undefined);
    };
  }, [taker]);
}
