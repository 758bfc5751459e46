// Files on their way to a dataset: a few at once, each with its own end.

import { useCallback, useEffect, useRef, useState } from "react";
import type { Datasets } from "../../run/datasets.ts";
import { reasonOf } from "../reason.tsx";

/** Upload is a file that was given to a dataset and is not stored yet. */
export interface Upload {
  id: number;
  name: string;
  sending: boolean;
  /** Why it was not stored. */
  fault?: string;
}

const together = 3;

/** useUploads stores files in a dataset; what failed stays in the list until it is dismissed. */
export function useUploads(
  api: Datasets,
  dataset: string,
  onStored: () => void,
): { uploads: Upload[]; add(files: File[]): void; dismiss(id: number): void } {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const queue = useRef<{ id: number; file: File }[]>([]);
  const running = useRef(0);
  const count = useRef(0);
  const stored = useRef(onStored);
  stored.current = onStored;
  const stop = useRef(new AbortController());
  useEffect(() => {
    stop.current = new AbortController();
    return () => stop.current.abort();
  }, []);
  const next = useCallback(() => {
    for (let job = queue.current[0]; job !== undefined && running.current < together; job = queue.current[0]) {
      queue.current.shift();
      running.current++;
      const { id, file } = job;
      setUploads((all) => all.map((each) => (each.id === id ? { ...each, sending: true } : each)));
      void api
        .upload(dataset, file, stop.current.signal)
        .then(
          () => {
            setUploads((all) => all.filter((each) => each.id !== id));
            stored.current();
          },
          (err: unknown) =>
            setUploads((all) =>
              all.map((each) => (each.id === id ? { ...each, sending: false, fault: reasonOf(err) } : each)),
            ),
        )
        .finally(() => {
          running.current--;
          next();
        });
    }
  }, [api, dataset]);
  const add = useCallback(
    (files: File[]) => {
      const jobs = files.map((file) => ({ id: ++count.current, file }));
      queue.current.push(...jobs);
      setUploads((all) => [...all, ...jobs.map(({ id, file }) => ({ id, name: file.name, sending: false }))]);
      next();
    },
    [next],
  );
  const dismiss = useCallback((id: number) => {
    queue.current = queue.current.filter((job) => job.id !== id);
    setUploads((all) => all.filter((each) => each.id !== id));
  }, []);
  return { uploads, add, dismiss };
}
