// The receiver of dropped files: the view that registered for them, else they are opened.

import { useEffect, useState } from "react";
import { Store } from "../run/store.ts";

/** Taker receives dropped files. */
export interface Taker {
  /** The text shown while files are dragged over the page. */
  label: string;
  /** take reports whether the files are taken; others are opened as canvases. */
  take(files: File[]): boolean;
  /** walk takes what is dropped when folders are among it; without it folders are left out. */
  walk?(entries: FileSystemEntry[]): void;
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

/**
 * useFiles passes files dropped on the page to the registered taker, or else to `take`. It reports
 * whether files are being dragged over the page.
 */
export function useFiles(take: (files: readonly File[]) => void): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const stop = (event: DragEvent): boolean => {
      if (!event.dataTransfer?.types.includes("Files")) return false;
      event.preventDefault();
      return true;
    };
    const dragover = (event: DragEvent): void => {
      if (stop(event)) setOver(true);
    };
    const dragleave = (event: DragEvent): void => {
      if (!event.relatedTarget) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      if (!stop(event)) return;
      const files = [...(event.dataTransfer?.files ?? [])];
      const entries = [...(event.dataTransfer?.items ?? [])].flatMap((item) => item.webkitGetAsEntry() ?? []);
      const taker = takers.get();
      if (taker?.walk && entries.some(({ isDirectory }) => isDirectory)) taker.walk(entries);
      else if (!taker?.take(files)) take(files);
    };
    addEventListener("dragover", dragover);
    addEventListener("dragleave", dragleave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", dragover);
      removeEventListener("dragleave", dragleave);
      removeEventListener("drop", drop);
    };
  }, [take]);
  return over;
}
