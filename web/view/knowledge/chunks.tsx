// The chunks of a document in their order, with their place on the page.

import { useState } from "react";
import type { Dataset, Datasets, StoredChunk, StoredDocument } from "../../run/datasets.ts";
import { HostError } from "../../run/host.ts";
import { Frame, type Crumb } from "../area/frame.tsx";
import {
  Empty, Fault, Pager, useAttempt, useLoaded, useWords, type Attempt, type Loaded,
} from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { save } from "../save.ts";
import { sizeText } from "../text.ts";
import { Replace } from "./bulk.tsx";
import { ChunkCard } from "./chunk-card.tsx";
import { ChunkEdit, isTyped, type ChunkActs } from "./chunk-edit.tsx";
import { useMayEdit } from "./documents.tsx";
import { Parses } from "./parses.tsx";

const size = 30;

/** Chunks shows a document, and first a chunk of it that the address names. */
export function Chunks({ api, dataset, id, cited, crumbs }: {
  api: Datasets;
  dataset: Dataset;
  id: string;
  cited: string | undefined;
  crumbs: Crumb[];
}): React.ReactNode {
  const a = useAreaText();
  const document = useLoaded(id, () => api.document(dataset.id, id));
  const attempt = useAttempt();
  const mayEdit = useMayEdit(dataset);
  const facts = document.value;
  return (
    <Frame crumbs={[...crumbs, { label: facts?.name ?? a("document.one") }]}>
      {facts && <Facts document={facts} />}
      {dataset.read_only && <p className="quiet">{a("dataset.read_only")}</p>}
      {!dataset.read_only && <Earlier api={api} dataset={dataset.id} document={id} />}
      <Fault text={document.fault} onAgain={document.reload} />
      <Fault text={attempt.fault} />
      {cited !== undefined ? (
        <Cited key={cited} api={api} dataset={dataset} id={id} chunk={cited} mayEdit={mayEdit} attempt={attempt} />
      ) : (
        <ChunkList api={api} dataset={dataset} id={id} mayEdit={mayEdit} attempt={attempt}>
          <button
            type="button"
            onClick={() =>
              void attempt.run(async () => save(await api.content(dataset.id, id), facts?.name ?? "document"))}
          >
            <Icon name="save" />
            {a("document.download")}
          </button>
          {mayEdit && facts && (
            <Replace
              document={facts}
              onReplace={(_, file) => void attempt.run(() => api.replace(dataset.id, id, file)).then(document.reload)}
            />
          )}
        </ChunkList>
      )}
    </Frame>
  );
}

function Facts({ document }: { document: StoredDocument }): React.ReactNode {
  const a = useAreaText();
  return (
    <>
      <p className="facts">
        {sizeText(document.size)} · {a(`state.${document.state}`)} · {" "}
        {a("document.chunks", document.chunks.toLocaleString())} ·{" "}
        {a("document.tokens", document.tokens.toLocaleString())}
      </p>
      {document.messages && (
        <details className="log">
          <summary>{a("document.log")}</summary>
          <pre>{document.messages}</pre>
        </details>
      )}
    </>
  );
}

// Cited shows the chunk that an answer cites, alone.
function Cited({ api, dataset, id, chunk, mayEdit, attempt }: {
  api: Datasets;
  dataset: Dataset;
  id: string;
  chunk: string;
  mayEdit: boolean;
  attempt: Attempt;
}): React.ReactNode {
  const a = useAreaText();
  const list = useLoaded(chunk, async () => {
    const found = await orGone(api.chunk(dataset.id, id, chunk));
    return { items: found ? [found] : [], total: found ? 1 : 0 };
  });
  return (
    <>
      <div className="tools">
        <a className="button" href={areaLink("knowledge", dataset.id, id)}>
          {a("chunk.show_all")}
        </a>
      </div>
      <Fault text={list.fault} onAgain={list.reload} />
      {list.value?.total === 0 && <Empty title={a("chunk.cited_gone")} text={a("chunk.cited_gone_hint")} />}
      <Cards
        api={api} dataset={dataset} id={id} list={list} first={undefined} words="" mayEdit={mayEdit} attempt={attempt}
      />
    </>
  );
}

// orGone is a chunk, or undefined when it does not exist any more.
async function orGone(chunk: Promise<StoredChunk>): Promise<StoredChunk | undefined> {
  try {
    return await chunk;
  } catch (err) {
    if (err instanceof HostError && err.status === 404) return undefined;
    throw err;
  }
}

function ChunkList({ api, dataset, id, mayEdit, attempt, children }: {
  api: Datasets;
  dataset: Dataset;
  id: string;
  mayEdit: boolean;
  attempt: Attempt;
  children: React.ReactNode;
}): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const { typed, words, type } = useWords();
  const [enabled, setEnabled] = useState("");
  const [page, setPage] = useState(1);
  const [adding, setAdding] = useState(false);
  const list = useLoaded(`${page} ${enabled} ${words}`, () =>
    api.chunks(dataset.id, id, { page, page_size: size, words, enabled }),
  );
  const add: ChunkActs["add"] = async (patch) => void (await list.after(() => api.addChunk(dataset.id, id, patch)));
  return (
    <>
      <div className="tools">
        <input
          type="search" value={typed} placeholder={a("chunk.find")} aria-label={a("chunk.find")}
          onChange={(event) => {
            type(event.target.value);
            setPage(1);
          }}
        />
        <select
          aria-label={a("chunk.which")} value={enabled}
          onChange={(event) => {
            setEnabled(event.target.value);
            setPage(1);
          }}
        >
          <option value="">{a("chunk.all")}</option>
          <option value="true">{a("chunk.on")}</option>
          <option value="false">{a("chunk.off")}</option>
        </select>
        <span className="grow" />
        {children}
        {mayEdit && (
          <button type="button" className="primary" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            {a("chunk.add")}
          </button>
        )}
      </div>
      <Fault text={list.fault} onAgain={list.reload} />
      {adding && (
        <ChunkEdit
          label={a("chunk.add")} draft={id}
          acts={{ save: add, add, latest: async () => undefined, close: () => setAdding(false) }}
        />
      )}
      {list.value?.total === 0 &&
        (words || enabled ? (
          <p className="quiet" role="status">
            {t("host.empty")}
          </p>
        ) : (
          <Empty title={a("chunk.none")} text={a("chunk.none_hint")} />
        ))}
      <Cards
        api={api} dataset={dataset} id={id} list={list} first={(page - 1) * size + 1} words={words} mayEdit={mayEdit}
        attempt={attempt} isWhole={words === "" && enabled === ""}
      />
      <Pager page={page} size={size} total={list.value?.total ?? 0} onPage={setPage} />
    </>
  );
}

// Cards lists chunks. A chunk that is edited stays open when it is not in the list any more.
function Cards({ api, dataset, id, list, first, words, isWhole = false, mayEdit, attempt }: {
  api: Datasets;
  dataset: Dataset;
  id: string;
  list: Loaded<{ items: StoredChunk[]; total: number }>;
  first: number | undefined;
  words: string;
  /** The list leaves no chunk out: one follows the other in the document. */
  isWhole?: boolean;
  mayEdit: boolean;
  attempt: Attempt;
}): React.ReactNode {
  const a = useAreaText();
  const [editing, setEditing] = useState<ReadonlyMap<string, StoredChunk>>(new Map());
  const rows = list.value?.items ?? [];
  const close = (chunk: StoredChunk): void =>
    setEditing((now) => new Map([...now].filter(([each]) => each !== chunk.id)));
  const edit = (chunk: StoredChunk, number: number | undefined): React.ReactNode => (
    <ChunkEdit
      label={a("chunk.edit_of", number ?? "")} draft={chunk.id} chunk={chunk}
      acts={{
        // The list is read again only after a success: a form whose chunk leaves it starts again.
        save: (patch) => api.updateChunk(dataset.id, id, chunk.id, patch).then(list.reload),
        split: (one, two, version) =>
          api.splitChunk(dataset.id, id, version === undefined ? chunk : { ...chunk, version }, one, two)
            .then(list.reload),
        add: (patch) => api.addChunk(dataset.id, id, patch).then(list.reload),
        latest: () => orGone(api.chunk(dataset.id, id, chunk.id)),
        close: () => close(chunk),
      }}
    />
  );
  const after = (act: () => Promise<unknown>): void => void attempt.run(() => list.after(act));
  const away = [...editing.values()].filter((chunk) => !rows.some((row) => row.id === chunk.id));
  return (
    <>
      {away.map((chunk) => (
        <div key={chunk.id}>
          <p className="problem" data-severity="warning">{a("chunk.away")}</p>
          {edit(chunk, undefined)}
        </div>
      ))}
      <ol className="chunks" start={first}>
        {rows.map((chunk, i) => {
          const number = first === undefined ? undefined : first + i;
          const next = first === undefined ? undefined : rows[i + 1];
          const begun = editing.get(chunk.id);
          if (begun) return <li key={chunk.id}>{edit(begun, number)}</li>;
          return (
            <ChunkCard
              key={chunk.id} number={number} chunk={chunk} words={words} isTyped={isTyped(chunk.id)}
              acts={mayEdit ? {
                edit: () => setEditing(new Map(editing).set(chunk.id, chunk)),
                enable: (enabled) => {
                  list.change((value) => ({
                    ...value, items: value.items.map((each) => (each === chunk ? { ...each, enabled } : each)),
                  }));
                  after(() => api.updateChunk(dataset.id, id, chunk.id, { enabled }));
                },
                remove: () => after(() => api.removeChunk(dataset.id, id, chunk.id)),
                ...(next && isWhole
                  ? { merge: () => after(() => api.mergeChunks(dataset.id, id, chunk, next)) }
                  : {}),
              } : undefined}
            />
          );
        })}
      </ol>
    </>
  );
}

// Earlier lists the parses of a document, which are read when it is opened.
function Earlier({ api, dataset, document }: { api: Datasets; dataset: string; document: string }): React.ReactNode {
  const a = useAreaText();
  const [open, setOpen] = useState(false);
  return (
    <details className="log" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{a("parse.all")}</summary>
      {open && <Parses api={api} dataset={dataset} document={document} />}
    </details>
  );
}
