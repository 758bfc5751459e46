// The states of documents as they change, while their list is shown.

import { useCallback, useEffect, useRef, useState } from "react";
import type { Dataset, Datasets, StoredDocument } from "../../run/datasets.ts";
import { reasonOf } from "../reason.tsx";

/** newer returns a document as the list or the stream of changes has it, whichever is newer. */
export function newer(listed: StoredDocument, seen: StoredDocument | undefined): StoredDocument {
  return seen && seen.updated >= listed.updated ? seen : listed;
}

/** Watching has what the stream of changes told. */
export interface Watching {
  /** Documents that changed while the list was shown, as they are now. */
  seen: ReadonlyMap<string, StoredDocument>;
  fault?: string;
  again(): void;
}

/**
 * useWatch follows the states of documents. What ended before the stream begins is not in it, so
 * the list is read again then.
 */
export function useWatch(
  api: Datasets, dataset: string, reload: () => void, onIdle: (dataset: Dataset) => void,
): Watching {
  const [seen, setSeen] = useState<ReadonlyMap<string, StoredDocument>>(new Map());
  const [fault, setFault] = useState<string>();
  const [tries, setTries] = useState(0);
  const latest = useRef({ reload, onIdle });
  latest.current = { reload, onIdle };
  useEffect(() => {
    const stop = new AbortController();
    setFault(undefined);
    const changed = (document: StoredDocument): void => setSeen((all) => new Map(all).set(document.id, document));
    api
      .watch(dataset, stop.signal, changed, (value) => latest.current.onIdle(value), () => latest.current.reload())
      .then(
        () => {
          if (!stop.signal.aborted) setTries((n) => n + 1);
        }, // the host ended a stream that was there
        (err: unknown) => {
          if (!stop.signal.aborted) setFault(reasonOf(err));
        },
      );
    return () => stop.abort();
  }, [api, dataset, tries]);
  const again = useCallback(() => {
    setTries((n) => n + 1);
    latest.current.reload();
  }, []);
  return { seen, again, ...(fault === undefined ? {} : { fault }) };
}
