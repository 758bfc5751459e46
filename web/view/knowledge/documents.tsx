// The documents of a dataset: upload by drop, state and progress as they change, and what can be
// done with one or many.

import { useMemo, useRef, useState } from "react";
import type { Dataset, Datasets, DocumentState, ListQuery, StoredDocument } from "../../run/datasets.ts";
import { Empty, Fault, Pager, useAttempt, useLoaded, useWords } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { useApp, useStore } from "../context.tsx";
import { useTaker } from "../drop.ts";
import { Icon } from "../icons.tsx";
import { BulkBar, BulkReport, useBulk } from "./bulk.tsx";
import { useSubjects } from "./readers.tsx";
import { Row } from "./row.tsx";
import { filesIn, useUploads, type Uploading } from "./uploads.ts";
import { UploadReport } from "./upload-report.tsx";
import { newer, useWatch } from "./watch.ts";

const size = 50;
const mostAtOnce = 1000; // documents that the host lists on a page
const states: DocumentState[] = ["done", "running", "queued", "failed", "canceled", "unparsed"];

type Chosen = ReadonlyMap<string, StoredDocument>;

/** Documents lists the documents of a dataset. */
export function Documents({ api, dataset, onIdle }: {
  api: Datasets;
  dataset: Dataset;
  onIdle(dataset: Dataset): void;
}): React.ReactNode {
  const a = useAreaText();
  const mayEdit = useMayEdit(dataset);
  const { typed, words, type } = useWords();
  const [state, setState] = useState("");
  const [page, setPage] = useState(1);
  const [chosen, setChosen] = useState<Chosen>(new Map());
  const attempt = useAttempt();
  const list = useLoaded(`${page} ${state} ${words}`, () =>
    api.documents(dataset.id, { page, page_size: size, words, state }),
  );
  const uploading = useUploads(api, dataset.id, list.reload);
  const watching = useWatch(api, dataset.id, list.reload, onIdle);
  const bulks = useBulk(list.reload);
  useDrop(dataset, mayEdit, uploading);
  const rows = (list.value?.items ?? []).map((document) => newer(document, watching.seen.get(document.id)));
  const total = list.value?.total ?? 0;
  const isFiltered = words !== "" || state !== "";
  const filter = (act: () => void): void => {
    act();
    setPage(1);
    setChosen(new Map());
  };
  return (
    <>
      <Tools
        typed={typed} state={state} mayEdit={mayEdit} uploading={uploading}
        onType={(text) => filter(() => type(text))} onState={(next) => filter(() => setState(next))}
      />
      <UploadReport uploading={uploading} />
      <BulkReport
        bulks={bulks} nameOf={(id) => chosen.get(id)?.name ?? rows.find((each) => each.id === id)?.name ?? id}
      />
      <Fault text={list.fault} onAgain={list.reload} />
      <Fault text={attempt.fault} />
      <Fault text={watching.fault && a("document.not_live", watching.fault)} onAgain={watching.again} />
      {list.value?.total === 0 && !isFiltered && (
        <Empty title={a("document.none")} text={a(dataset.read_only ? "dataset.read_only" : "document.none_hint")} />
      )}
      {list.value?.total === 0 && isFiltered && (
        <p className="quiet" role="status">
          {a("document.no_match")}
        </p>
      )}
      {rows.length > 0 && mayEdit && (
        <div className="tools batch" role="group" aria-label={a("document.chosen", chosen.size)}>
          <Choose
            api={api} dataset={dataset.id} rows={rows} total={total} query={{ words, state }}
            chosen={chosen} onChoose={setChosen}
          />
          {chosen.size > 0 && <BulkBar
            api={api} dataset={dataset} chosen={current(chosen, rows, watching.seen)} bulks={bulks}
            onGone={(ids) => setChosen((before) => new Map([...before].filter(([id]) => !ids.includes(id))))}
            onReplace={(document, file) =>
              void attempt.run(() => api.replace(dataset.id, document.id, file)).then(list.reload)}
          />}
        </div>
      )}
      {rows.length > 0 && (
        <List
          api={api} dataset={dataset} rows={rows} mayEdit={mayEdit} chosen={chosen} onChoose={setChosen}
          attempt={attempt} onChange={list.reload}
        />
      )}
      <Pager page={page} size={size} total={total} onPage={setPage} />
    </>
  );
}

// current returns the chosen documents as the list or the stream of changes has them now.
function current(chosen: Chosen, rows: readonly StoredDocument[], seen: Chosen): StoredDocument[] {
  const now = new Map(rows.map((row) => [row.id, row]));
  return [...chosen.values()].map((document) => now.get(document.id) ?? newer(document, seen.get(document.id)));
}

/** useMayEdit reports whether the person may change a dataset. */
export function useMayEdit(dataset: Dataset): boolean {
  return useStore(useApp().host.state, ({ scopes }) => scopes.includes("edit")) && !dataset.read_only;
}

function useDrop(dataset: Dataset, mayEdit: boolean, { add }: Uploading): void {
  const a = useAreaText();
  useTaker(
    useMemo(
      () => ({
        label: a("document.drop", dataset.name),
        take: (files: File[]) => {
          if (mayEdit) add(files);
          return mayEdit;
        },
        walk: (entries: FileSystemEntry[]) => {
          if (mayEdit) void filesIn(entries).then(add);
        },
      }),
      [a, dataset.name, mayEdit, add],
    ),
  );
}

function Tools({ typed, state, mayEdit, uploading, onType, onState }: {
  typed: string;
  state: string;
  mayEdit: boolean;
  uploading: Uploading;
  onType(text: string): void;
  onState(state: string): void;
}): React.ReactNode {
  const a = useAreaText();
  return (
    <div className="tools">
      <input
        type="search" value={typed} placeholder={a("document.find")} aria-label={a("document.find")}
        onChange={(event) => onType(event.target.value)}
      />
      <select aria-label={a("document.state")} value={state} onChange={(event) => onState(event.target.value)}>
        <option value="">{a("document.any_state")}</option>
        {states.map((each) => (
          <option key={each} value={each}>
            {a(`state.${each}`)}
          </option>
        ))}
      </select>
      <span className="grow" />
      {mayEdit && (
        <>
          <Pick uploading={uploading} isFolder />
          <Pick uploading={uploading} />
        </>
      )}
    </div>
  );
}

function Pick({ uploading, isFolder = false }: { uploading: Uploading; isFolder?: boolean }): React.ReactNode {
  const a = useAreaText();
  const picker = useRef<HTMLInputElement>(null);
  const label = a(isFolder ? "document.add_folder" : "document.add");
  return (
    <>
      <input
        ref={(element) => {
          picker.current = element;
          if (element && isFolder) element.webkitdirectory = true;
        }}
        type="file" multiple hidden aria-label={label}
        onChange={(event) => {
          uploading.add([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      <button type="button" className={isFolder ? undefined : "primary"} onClick={() => picker.current?.click()}>
        <Icon name={isFolder ? "open" : "keep"} />
        {label}
      </button>
    </>
  );
}

// Choose selects the documents of this page, or all that match the filter.
function Choose({ api, dataset, rows, total, query, chosen, onChoose }: {
  api: Datasets;
  dataset: string;
  rows: readonly StoredDocument[];
  total: number;
  query: Pick<ListQuery, "words" | "state">;
  chosen: Chosen;
  onChoose(chosen: Chosen): void;
}): React.ReactNode {
  const a = useAreaText();
  const attempt = useAttempt();
  const here = rows.every(({ id }) => chosen.has(id));
  const latest = useRef(query);
  latest.current = query;
  const all = (): void =>
    void attempt.run(async () => {
      const found = new Map<string, StoredDocument>();
      for (let page = 1; ; page++) {
        const { items, total: count } = await api.documents(dataset, { ...query, page, page_size: mostAtOnce });
        for (const each of items) found.set(each.id, each);
        if (items.length === 0 || page * mostAtOnce >= count) break;
      }
      // Else documents would be selected that the list does not show.
      if (latest.current.words === query.words && latest.current.state === query.state) onChoose(found);
    });
  return (
    <>
      <label className="row">
        <input
          type="checkbox" checked={here}
          ref={(element) => {
            if (element) element.indeterminate = !here && chosen.size > 0;
          }}
          onChange={(event) => {
            const next = new Map(chosen);
            for (const row of rows) event.target.checked ? next.set(row.id, row) : next.delete(row.id);
            onChoose(next);
          }}
        />
        {chosen.size > 0 ? a("document.chosen", chosen.size) : a("document.all_here")}
      </label>
      {here && total > chosen.size && (
        <button type="button" className="link" disabled={attempt.busy} onClick={all}>
          {a("document.all_matching", total.toLocaleString())}
        </button>
      )}
      {chosen.size > 0 && (
        <button type="button" className="link" onClick={() => onChoose(new Map())}>
          {a("document.choose_none")}
        </button>
      )}
      <Fault text={attempt.fault} />
    </>
  );
}

function List({ api, dataset, rows, mayEdit, chosen, attempt, onChoose, onChange }: {
  api: Datasets;
  dataset: Dataset;
  rows: readonly StoredDocument[];
  mayEdit: boolean;
  chosen: Chosen;
  attempt: ReturnType<typeof useAttempt>;
  onChoose(chosen: Chosen): void;
  onChange(): void;
}): React.ReactNode {
  const a = useAreaText();
  const named = rows.some(({ pipeline }) => pipeline);
  const { value: pipelines } = useLoaded(`pipelines ${named}`, async () => (named ? api.pipelines() : []));
  const people = mayEdit && rows.some(({ access }) => access?.some((entry) => entry !== "all"));
  const { value: subjects } = useSubjects(api, people);
  return (
    <ul className="entries" aria-label={a("dataset.documents")}>
      {rows.map((document) => (
        <Row
          key={document.id} api={api} dataset={dataset} mayEdit={mayEdit} document={document} attempt={attempt}
          subjects={subjects}
          pipeline={pipelines?.find(({ id }) => id === document.pipeline)?.title}
          chosen={chosen.has(document.id)} onChange={onChange}
          onChoose={(on) => {
            const next = new Map(chosen);
            if (on) next.set(document.id, document);
            else next.delete(document.id);
            onChoose(next);
          }}
        />
      ))}
    </ul>
  );
}
