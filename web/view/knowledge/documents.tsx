// The documents of a dataset: upload by drop, state and progress as they change, and what can be
// done with one or many.

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Dataset, Datasets, DocumentState, Refused, StoredDocument } from "../../run/datasets.ts";
import {
  Confirm,
  Empty,
  Fault,
  Pager,
  sizeText,
  useAttempt,
  useLoaded,
  useWords,
  type Attempt,
} from "../area/parts.tsx";
import { useAreaText, useNamed } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { useTaker } from "../drop.ts";
import { Icon } from "../icons.tsx";
import { seconds } from "../text.ts";
import { useUploads, type Upload } from "./uploads.ts";
import { reasonOf } from "../reason.tsx";
import { Unread } from "./unread.tsx";

const size = 50;
const states: DocumentState[] = ["done", "running", "queued", "failed", "canceled", "unparsed"];

/** Documents lists the documents of a dataset. */
export function Documents({
  api,
  dataset,
  onIdle,
}: {
  api: Datasets;
  dataset: Dataset;
  onIdle(dataset: Dataset): void;
}): React.ReactNode {
  const a = useAreaText();
  const { typed, words, type } = useWords();
  const [state, setState] = useState("");
  const [page, setPage] = useState(1);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const attempt = useAttempt();
  const list = useLoaded(`${page} ${state} ${words}`, () =>
    api.documents(dataset.id, { page, page_size: size, words, state }),
  );
  const { uploads, add, dismiss } = useUploads(api, dataset.id, list.reload);
  const watching = useWatch(api, dataset.id, list.reload, onIdle);
  const picker = useRef<HTMLInputElement>(null);
  const readOnly = dataset.read_only;
  useTaker(
    useMemo(
      () => ({
        label: a("document.drop", dataset.name),
        take: (files: File[]) => {
          if (!readOnly) add(files);
          return !readOnly;
        },
      }),
      [a, dataset.name, readOnly, add],
    ),
  );
  const rows = (list.value?.items ?? []).map((document) => newer(document, watching.seen.get(document.id)));
  const filtered = words !== "" || state !== "";
  const picked = rows.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const done = (act: () => Promise<unknown>): void =>
    void attempt.run(act).then(() => {
      setChosen(new Set());
      list.reload();
    });
  return (
    <>
      <div className="tools">
        <input
          type="search"
          value={typed}
          placeholder={a("document.find")}
          aria-label={a("document.find")}
          onChange={(event) => {
            type(event.target.value);
            setPage(1);
          }}
        />
        <select
          aria-label={a("document.state")}
          value={state}
          onChange={(event) => {
            setState(event.target.value);
            setPage(1);
          }}
        >
          <option value="">{a("document.any_state")}</option>
          {states.map((each) => (
            <option key={each} value={each}>
              {a(`state.${each}`)}
            </option>
          ))}
        </select>
        <span className="grow" />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            add([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        {!readOnly && (
          <button type="button" className="primary" onClick={() => picker.current?.click()}>
            <Icon name="keep" />
            {a("document.add")}
          </button>
        )}
      </div>
      <Uploads uploads={uploads} onDismiss={dismiss} />
      <Fault text={list.fault} onAgain={list.reload} />
      <Fault text={attempt.fault} />
      <Fault text={watching.fault && a("document.not_live", watching.fault)} onAgain={watching.again} />
      {list.value?.total === 0 && !filtered && (
        <Empty title={a("document.none")} text={a(readOnly ? "dataset.read_only" : "document.none_hint")} />
      )}
      {list.value?.total === 0 && filtered && (
        <p className="quiet" role="status">
          {a("document.no_match")}
        </p>
      )}
      {rows.length > 0 && (
        <>
          {!readOnly && (
            <div className="tools batch" role="group" aria-label={a("document.chosen", picked.length)}>
              <label className="row">
                <input
                  type="checkbox"
                  checked={picked.length === rows.length}
                  onChange={(event) => setChosen(new Set(event.target.checked ? rows.map(({ id }) => id) : []))}
                />
                {picked.length > 0 ? a("document.chosen", picked.length) : a("document.all_here")}
              </label>
              <button
                type="button"
                disabled={picked.length === 0 || attempt.busy}
                onClick={() => done(async () => told(await api.parse(dataset.id, picked)))}
              >
                <Icon name="loop" />
                {a("document.parse")}
              </button>
              <button
                type="button"
                disabled={picked.length === 0 || attempt.busy}
                onClick={() => done(async () => told(await api.cancel(dataset.id, picked)))}
              >
                <Icon name="stop" />
                {a("document.cancel")}
              </button>
              <Confirm
                label={a("document.delete")}
                sure={a("document.delete_sure", picked.length, chunksOf(rows.filter(({ id }) => chosen.has(id))))}
                disabled={picked.length === 0 || attempt.busy}
                onDone={() => done(() => removeAll(api, dataset.id, picked))}
              />
            </div>
          )}
          <ul className="entries" aria-label={a("dataset.documents")}>
            {rows.map((document) => (
              <Row
                key={document.id}
                api={api}
                dataset={dataset.id}
                readOnly={readOnly}
                document={document}
                chosen={chosen.has(document.id)}
                attempt={attempt}
                onChange={list.reload}
                onChoose={(on) =>
                  setChosen((before) => {
                    const next = new Set(before);
                    if (on) next.add(document.id);
                    else next.delete(document.id);
                    return next;
                  })
                }
              />
            ))}
          </ul>
        </>
      )}
      <Pager page={page} size={size} total={list.value?.total ?? 0} onPage={setPage} />
    </>
  );
}

function chunksOf(documents: readonly StoredDocument[]): string {
  return documents.reduce((sum, { chunks }) => sum + chunks, 0).toLocaleString();
}

// told throws for the documents that a request was refused for.
function told({ refused }: Refused): void {
  if (refused.length > 0) throw new Error(refused.map(({ message }) => message).join("; "));
}

async function removeAll(api: Datasets, dataset: string, documents: string[]): Promise<void> {
  for (const id of documents) await api.removeDocument(dataset, id);
}

// newer returns a document as the list or the stream of changes has it, whichever is newer.
function newer(listed: StoredDocument, seen: StoredDocument | undefined): StoredDocument {
  return seen && seen.updated >= listed.updated ? seen : listed;
}

interface Watching {
  /** Documents that changed while the list was shown, as they are now. */
  seen: ReadonlyMap<string, StoredDocument>;
  fault?: string;
  again(): void;
}

// useWatch follows the states of documents while the list is shown. What ended before the stream
// begins is not in it, so the list is read again then.
function useWatch(api: Datasets, dataset: string, reload: () => void, onIdle: (dataset: Dataset) => void): Watching {
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

function Uploads({ uploads, onDismiss }: { uploads: Upload[]; onDismiss(id: number): void }): React.ReactNode {
  const a = useAreaText();
  if (uploads.length === 0) return null;
  return (
    <ul className="uploads" aria-live="polite">
      {uploads.map(({ id, name, fault, sending }) => (
        <li key={id} data-failed={fault === undefined ? undefined : true}>
          {fault === undefined && <span className="spinner" aria-hidden="true" />}
          <span>
            {fault === undefined
              ? a(sending ? "upload.sending" : "upload.waiting", name)
              : a("upload.failed", name, fault)}
          </span>
          {(fault !== undefined || !sending) && (
            <button
              type="button"
              className="icon-button"
              aria-label={a("upload.dismiss", name)}
              onClick={() => onDismiss(id)}
            >
              <Icon name="cross" />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Row({
  api,
  dataset,
  readOnly,
  document,
  chosen,
  attempt,
  onChoose,
  onChange,
}: {
  api: Datasets;
  dataset: string;
  readOnly: boolean;
  document: StoredDocument;
  chosen: boolean;
  attempt: Attempt;
  onChoose(on: boolean): void;
  onChange(): void;
}): React.ReactNode {
  const a = useAreaText();
  const named = useNamed();
  const active = document.state === "queued" || document.state === "running";
  const act = (work: () => Promise<unknown>): void => void attempt.run(work).then(onChange);
  const [enabled, setEnabled] = useState<boolean>(); // what was chosen, until the host says so
  useEffect(() => setEnabled(undefined), [document]);
  const enable = (on: boolean): void => {
    setEnabled(on);
    act(() => api.enable(dataset, document.id, on));
  };
  const reason = document.state === "failed" ? lastLine(document.messages) : undefined;
  return (
    <li data-state={document.state}>
      {!readOnly && (
        <input
          type="checkbox"
          aria-label={a("document.choose", document.name)}
          checked={chosen}
          onChange={(event) => onChoose(event.target.checked)}
        />
      )}
      <div className="what">
        <a href={areaLink("knowledge", dataset, document.id)}>{document.name}</a>
        <small>
          {sizeText(document.size)} · {document.pipeline ? a("dataset.by_pipeline") : named("method", document.method)}
          {document.enabled ? "" : ` · ${a("document.off")}`}
        </small>
        {reason !== undefined && <p className="reason"><Unread message={reason} /></p>}
      </div>
      <Progress document={document} />
      {!readOnly && (
        <div className="acts">
          <label className="row" title={a("document.enabled")}>
            <input
              type="checkbox"
              aria-label={a("document.enabled_of", document.name)}
              checked={enabled ?? document.enabled}
              onChange={(event) => enable(event.target.checked)}
            />
            <span>{a("document.searched")}</span>
          </label>
          {active ? (
            <button type="button" onClick={() => act(async () => told(await api.cancel(dataset, [document.id])))}>
              <Icon name="stop" />
              {a("document.cancel")}
            </button>
          ) : (
            <button type="button" onClick={() => act(async () => told(await api.parse(dataset, [document.id])))}>
              <Icon name="loop" />
              {a(document.state === "unparsed" ? "document.parse_first" : "document.parse")}
            </button>
          )}
          <Confirm
            icon
            label={a("document.delete_of", document.name)}
            sure={a("document.delete_lost", document.chunks.toLocaleString())}
            onDone={() => act(() => api.removeDocument(dataset, document.id))}
          />
        </div>
      )}
    </li>
  );
}

function Progress({
  document: { state, progress, ahead, chunks, took_ms: took },
}: {
  document: StoredDocument;
}): React.ReactNode {
  const a = useAreaText();
  if (state === "running") {
    return (
      <div className="how">
        <progress max={1} value={Math.max(0, progress)} aria-label={a("state.running")} />
        <small>{Math.round(Math.max(0, progress) * 100)} %</small>
      </div>
    );
  }
  const more =
    state === "done"
      ? ` · ${a("document.chunks", chunks.toLocaleString())}${took ? ` · ${seconds(took / 1000)}` : ""}`
      : state === "queued" && ahead
        ? ` · ${a("document.ahead", ahead)}`
        : "";
  return (
    <div className="how">
      <span className="badge state">{a(`state.${state}`)}</span>
      <small>{more}</small>
    </div>
  );
}

/** lastLine returns the text of the last line of a log, without its time. */
export function lastLine(log: string | undefined): string | undefined {
  return (
    log
      ?.trim()
      .split("\n")
      .at(-1)
      ?.replace(/^[\d:]+ (\[ERROR\] )?/, "")
      .trim() || undefined
  );
}
