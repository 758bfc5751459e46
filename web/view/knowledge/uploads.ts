// Files on their way to a dataset: a few at once, each with its own result.

import { useCallback, useEffect, useRef, useState } from "react";
import type { Datasets } from "../../run/datasets.ts";
import { HostError } from "../../run/host.ts";
import { reasonOf } from "../reason.tsx";

/** Upload is a file that was given to a dataset. */
export interface Upload {
  id: number;
  file: File;
  state: "waiting" | "sending" | "stored" | "refused" | "duplicate";
  /** Why it was not stored. */
  reason?: string;
}

/** Uploading sends files, and keeps what became of each until it is dismissed. */
export interface Uploading {
  uploads: Upload[];
  add(files: File[]): void;
  /** again sends files that were not stored; copies are stored too. */
  again(ids: number[], copies: boolean): void;
  /** dismiss forgets files; those that wait are not sent. */
  dismiss(ids: number[]): void;
}

const together = 3;

/** useUploads stores files in a dataset. */
export function useUploads(api: Datasets, dataset: string, onStored: () => void): Uploading {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const queue = useRef<{ id: number; file: File; copies: boolean }[]>([]);
  const running = useRef(0);
  const count = useRef(0);
  const stored = useRef(onStored);
  stored.current = onStored;
  const stop = useRef(new AbortController());
  useEffect(() => {
    stop.current = new AbortController();
    return () => stop.current.abort();
  }, []);
  const set = useCallback((ids: readonly number[], state: Upload["state"], reason?: string) => {
    const why = reason === undefined ? {} : { reason };
    const changed = ({ id, file }: Upload): Upload => ({ id, file, state, ...why });
    setUploads((all) => all.map((each) => (ids.includes(each.id) ? changed(each) : each)));
  }, []);
  const next = useCallback(() => {
    for (let job = queue.current[0]; job !== undefined && running.current < together; job = queue.current[0]) {
      queue.current.shift();
      running.current++;
      const { id, file, copies } = job;
      set([id], "sending");
      void api
        .upload(dataset, file, copies, stop.current.signal)
        .then(() => set([id], "stored"))
        .catch((err: unknown) => {
          const isCopy = err instanceof HostError && err.code === "exists";
          set([id], isCopy ? "duplicate" : "refused", reasonOf(err));
        })
        .finally(() => {
          running.current--;
          if (queue.current.length === 0 && running.current === 0) stored.current();
          next();
        });
    }
  }, [api, dataset, set]);
  const add = useCallback(
    (files: File[]) => {
      const jobs = files.map((file) => ({ id: ++count.current, file, copies: false }));
      queue.current.push(...jobs);
      setUploads((all) => [...all, ...jobs.map(({ id, file }) => ({ id, file, state: "waiting" as const }))]);
      next();
    },
    [next],
  );
  const latest = useRef(uploads);
  latest.current = uploads;
  const again = useCallback(
    (ids: number[], copies: boolean) => {
      queue.current.push(...latest.current.flatMap(({ id, file }) => (ids.includes(id) ? { id, file, copies } : [])));
      set(ids, "waiting");
      next();
    },
    [next, set],
  );
  const dismiss = useCallback((ids: number[]) => {
    queue.current = queue.current.filter((job) => !ids.includes(job.id));
    setUploads((all) => all.filter((each) => !ids.includes(each.id)));
  }, []);
  return { uploads, add, again, dismiss };
}

/** filesIn returns the files in dropped folders, with those of folders in them. */
export async function filesIn(entries: readonly FileSystemEntry[]): Promise<File[]> {
  const out: File[] = [];
  for (const entry of entries) {
    if (entry.isFile) {
      out.push(await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail)));
      continue;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    // A reader returns a part of a folder at a time, and nothing at its end.
    for (;;) {
      const part = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
      if (part.length === 0) break;
      out.push(...(await filesIn(part)));
    }
  }
  return out;
}
