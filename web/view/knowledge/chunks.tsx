// The chunks of a document in their order, with their place on the page.

import { useState } from "react";
import type { Dataset, Datasets, StoredChunk } from "../../run/datasets.ts";
import { Frame, type Crumb } from "../area/frame.tsx";
import { Confirm, Empty, Fault, Pager, sizeText, useAttempt, useLoaded, useWords } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { save } from "../save.ts";
import { Parses } from "./parses.tsx";
import { PagePlace } from "./place.tsx";

const size = 30;

/** Chunks shows a document. */
export function Chunks({
  api,
  dataset,
  id,
  crumbs,
}: {
  api: Datasets;
  dataset: Dataset;
  id: string;
  crumbs: Crumb[];
}): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const document = useLoaded(id, () => api.document(dataset.id, id));
  const { typed, words, type } = useWords();
  const [enabled, setEnabled] = useState("");
  const [page, setPage] = useState(1);
  const [adding, setAdding] = useState(false);
  const attempt = useAttempt();
  const list = useLoaded(`${page} ${enabled} ${words}`, () =>
    api.chunks(dataset.id, id, { page, page_size: size, words, enabled }),
  );
  const facts = document.value;
  const rows = list.value?.items ?? [];
  const enable = (chunk: StoredChunk, on: boolean): void => {
    list.change((value) => ({
      ...value,
      items: value.items.map((each) => (each === chunk ? { ...each, enabled: on } : each)),
    }));
    void attempt.run(() => api.updateChunk(dataset.id, id, chunk.id, { enabled: on })).then(list.reload);
  };
  const download = (): void =>
    void attempt.run(async () => save(await api.content(dataset.id, id), facts?.name ?? "document"));
  return (
    <Frame crumbs={[...crumbs, { label: facts?.name ?? a("document.one") }]}>
      {facts && (
        <p className="facts">
          {sizeText(facts.size)} · {a(`state.${facts.state}`)} · {" "}
          {a("document.chunks", facts.chunks.toLocaleString())} ·{" "}
          {a("document.tokens", facts.tokens.toLocaleString())}
        </p>
      )}
      {dataset.read_only && <p className="quiet">{a("dataset.read_only")}</p>}
      {facts?.messages && (
        <details className="log">
          <summary>{a("document.log")}</summary>
          <pre>{facts.messages}</pre>
        </details>
      )}
      {!dataset.read_only && <Earlier api={api} dataset={dataset.id} document={id} />}
      <div className="tools">
        <input
          type="search"
          value={typed}
          placeholder={a("chunk.find")}
          aria-label={a("chunk.find")}
          onChange={(event) => {
            type(event.target.value);
            setPage(1);
          }}
        />
        <select
          aria-label={a("chunk.which")}
          value={enabled}
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
        <button type="button" onClick={download}>
          <Icon name="save" />
          {a("document.download")}
        </button>
        {!dataset.read_only && (
          <button type="button" className="primary" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            {a("chunk.add")}
          </button>
        )}
      </div>
      <Fault text={document.fault ?? list.fault} onAgain={list.reload} />
      <Fault text={attempt.fault} />
      {adding && (
        <Edit
          label={a("chunk.add")}
          onClose={() => setAdding(false)}
          onSave={async (patch) => {
            await api.addChunk(dataset.id, id, patch);
            setAdding(false);
            list.reload();
          }}
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
      <ol className="chunks" start={(page - 1) * size + 1}>
        {rows.map((chunk, i) => (
          <ChunkCard
            key={chunk.id}
            number={(page - 1) * size + i + 1}
            chunk={chunk}
            words={words}
            readOnly={dataset.read_only}
            onSave={async (patch) => {
              await api.updateChunk(dataset.id, id, chunk.id, patch);
              list.reload();
            }}
            onEnable={(on) => enable(chunk, on)}
            onDelete={() => void attempt.run(() => api.removeChunk(dataset.id, id, chunk.id)).then(list.reload)}
          />
        ))}
      </ol>
      <Pager page={page} size={size} total={list.value?.total ?? 0} onPage={setPage} />
    </Frame>
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

type Save = (patch: { content: string; keywords: string[]; questions: string[] }) => Promise<void>;

function ChunkCard({
  number,
  chunk,
  words,
  readOnly,
  onSave,
  onEnable,
  onDelete,
}: {
  number: number;
  chunk: StoredChunk;
  words: string;
  readOnly: boolean;
  onSave: Save;
  onEnable(on: boolean): void;
  onDelete(): void;
}): React.ReactNode {
  const a = useAreaText();
  const [editing, setEditing] = useState(false);
  if (editing)
    return (
      <li>
        <Edit
          label={a("chunk.edit_of", number)}
          chunk={chunk}
          onClose={() => setEditing(false)}
          onSave={async (patch) => {
            await onSave(patch);
            setEditing(false);
          }}
        />
      </li>
    );
  return (
    <li className="chunk-card" data-off={chunk.enabled ? undefined : true}>
      <div className="chunk-head">
        <span className="facts">
          #{number}
          {chunk.kind && chunk.kind !== "text" ? ` · ${chunk.kind}` : ""}
          {chunk.edited ? ` · ${a("chunk.edited")}` : ""}
        </span>
        <span className="grow" />
        {!readOnly && (
          <>
            <label className="row">
              <input
                type="checkbox"
                aria-label={a("chunk.enabled_of", number)}
                checked={chunk.enabled}
                onChange={(event) => onEnable(event.target.checked)}
              />
              {a("document.searched")}
            </label>
            <button type="button" aria-label={a("chunk.edit_of", number)} onClick={() => setEditing(true)}>
              {a("chunk.edit")}
            </button>
            <Confirm icon label={a("chunk.delete_of", number)} sure={a("document.delete_one")} onDone={onDelete} />
          </>
        )}
      </div>
      <div className="chunk-body">
        <p className="chunk-text">
          <Marked text={chunk.content} words={words} />
        </p>
        <PagePlace positions={chunk.positions} />
      </div>
      {(chunk.keywords?.length ?? 0) > 0 && (
        <p className="chips">
          {chunk.keywords?.map((word) => (
            <span key={word} className="chip">
              {word}
            </span>
          ))}
        </p>
      )}
      {(chunk.questions?.length ?? 0) > 0 && (
        <ul className="quiet small">
          {chunk.questions?.map((question) => (
            <li key={question}>{question}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Marked shows where the words that were searched for stand. */
export function Marked({ text, words }: { text: string; words: string }): React.ReactNode {
  if (words === "") return text;
  const pattern = new RegExp(`(${words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})`, "giu");
  return text.split(pattern).map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part));
}

function Edit({
  label,
  chunk,
  onSave,
  onClose,
}: {
  label: string;
  chunk?: StoredChunk;
  onSave: Save;
  onClose(): void;
}): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const [content, setContent] = useState(chunk?.content ?? "");
  const [keywords, setKeywords] = useState((chunk?.keywords ?? []).join(", "));
  const [questions, setQuestions] = useState((chunk?.questions ?? []).join("\n"));
  const attempt = useAttempt();
  const list = (text: string, at: RegExp): string[] =>
    text
      .split(at)
      .map((each) => each.trim())
      .filter(Boolean);
  return (
    <form
      className="chunk-card edit"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        void attempt.run(() =>
          onSave({ content, keywords: list(keywords, /[,，、]/), questions: list(questions, /\n/) }),
        );
      }}
    >
      <label className="field">
        {a("chunk.content")}
        <textarea autoFocus required rows={6} value={content} onChange={(event) => setContent(event.target.value)} />
      </label>
      <label className="field">
        {a("chunk.keywords")}
        <input type="text" value={keywords} onChange={(event) => setKeywords(event.target.value)} />
      </label>
      <label className="field">
        {a("chunk.questions")}
        <textarea rows={2} value={questions} onChange={(event) => setQuestions(event.target.value)} />
      </label>
      <p className="quiet small">{a("chunk.edit_hint")}</p>
      <Fault text={attempt.fault} />
      <div className="tools end">
        <button type="button" onClick={onClose}>
          {t("error.close")}
        </button>
        <button type="submit" className="primary" disabled={attempt.busy || content.trim() === ""}>
          {a("save")}
        </button>
      </div>
    </form>
  );
}
