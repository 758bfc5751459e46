// One document in the list of a dataset.

import { useEffect, useState } from "react";
import type { Dataset, Datasets, DocumentState, StoredDocument, Subjects } from "../../run/datasets.ts";
import { textOf } from "../../run/metadata.ts";
import type { AreaKey } from "../../words/areas.en.ts";
import { shown } from "../../words/shown.ts";
import { Confirm, type Attempt } from "../area/parts.tsx";
import { useAreaText, useNamed } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { Icon } from "../icons.tsx";
import { seconds, sizeText } from "../text.ts";
import { ReadersDialog, readersText } from "./readers.tsx";
import { Unread } from "./unread.tsx";

const mostKeys = 3; // of its metadata that a document shows in the list

/** Row shows a document with what can be done with it. */
export function Row({ api, dataset, mayEdit, document, subjects, pipeline, chosen, attempt, onChoose, onChange }: {
  api: Datasets;
  dataset: Dataset;
  mayEdit: boolean;
  document: StoredDocument;
  /** Names for its readers. */
  subjects: Subjects | undefined;
  /** The title of its pipeline, if it is known. */
  pipeline: string | undefined;
  chosen: boolean;
  attempt: Attempt;
  onChoose(on: boolean): void;
  onChange(): void;
}): React.ReactNode {
  const a = useAreaText();
  const named = useNamed();
  const cut = document.pipeline ? (pipeline ?? a("dataset.by_pipeline")) : named("method", document.method);
  const reason = document.state === "failed" ? lastLine(document.messages) : undefined;
  return (
    <li data-state={document.state} data-off={document.enabled ? undefined : true}>
      {mayEdit && (
        <input
          type="checkbox" aria-label={a("document.choose", document.name)} checked={chosen}
          onChange={(event) => onChoose(event.target.checked)}
        />
      )}
      <div className="what">
        <a href={areaLink("knowledge", dataset.id, document.id)}>{shown(document.name)}</a>
        <small>
          {sizeText(document.size)} · {cut}
          {document.enabled ? "" : ` · ${a("document.off")}`}
        </small>
        <Keys document={document} readers={
          document.access && mayEdit ? a("readers.mark", readersText(a, subjects, document.access)) : undefined
        } />
        {reason !== undefined && <p className="reason"><Unread message={reason} /></p>}
      </div>
      <Progress document={document} />
      {mayEdit && <Acts api={api} dataset={dataset} document={document} attempt={attempt} onChange={onChange} />}
    </li>
  );
}

function Keys({ document: { metadata }, readers }: {
  document: StoredDocument;
  readers: string | undefined;
}): React.ReactNode {
  const keys = Object.entries(metadata);
  if (keys.length === 0 && !readers) return null;
  return (
    <span className="chips">
      {readers && <span className="chip"><Icon name="key" /> {readers}</span>}
      {keys.slice(0, mostKeys).map(([key, value]) => (
        <span key={key} className="chip">
          {key}: {textOf(value)}
        </span>
      ))}
      {keys.length > mostKeys && <span className="chip">+{keys.length - mostKeys}</span>}
    </span>
  );
}

const parseWords: Partial<Record<DocumentState, AreaKey>> = {
  unparsed: "document.parse_first", failed: "document.again",
};

function Acts({ api, dataset, document, attempt, onChange }: {
  api: Datasets;
  dataset: Dataset;
  document: StoredDocument;
  attempt: Attempt;
  onChange(): void;
}): React.ReactNode {
  const a = useAreaText();
  const active = document.state === "queued" || document.state === "running";
  const act = (work: () => Promise<unknown>): void => void attempt.run(work).then(onChange);
  const [enabled, setEnabled] = useState<boolean>(); // choice shown until the host confirms it
  useEffect(() => setEnabled(undefined), [document]);
  const one = [document.id];
  const [isReading, setReading] = useState(false);
  const told = async (work: ReturnType<Datasets["cancel"]>): Promise<void> => {
    const { refused } = await work;
    if (refused.length > 0) throw new Error(refused.map(({ message }) => message).join("; "));
  };
  return (
    <div className="acts">
      <label className="row" title={a("document.enabled")}>
        <input
          type="checkbox" aria-label={a("document.enabled_of", document.name)} checked={enabled ?? document.enabled}
          onChange={(event) => {
            setEnabled(event.target.checked);
            act(() => told(api.updateMany(dataset.id, one, { enabled: event.target.checked })));
          }}
        />
        <span>{a("document.searched")}</span>
      </label>
      {active ? (
        <button type="button" onClick={() => act(() => told(api.cancel(dataset.id, one)))}>
          <Icon name="stop" />
          {a("document.cancel")}
        </button>
      ) : (
        <button type="button" onClick={() => act(() => told(api.updateMany(dataset.id, one, { parse: true })))}>
          <Icon name="loop" />
          {a(parseWords[document.state] ?? "document.parse")}
        </button>
      )}
      <button
        type="button" className="icon-button" aria-label={a("readers.choose_of", document.name)}
        title={a("readers.label")} onClick={() => setReading(true)}
      >
        <Icon name="key" />
      </button>
      {isReading && (
        <ReadersDialog
          api={api} dataset={dataset} documents={[document]} onClose={() => setReading(false)}
          onSave={(set) => act(() => set(one))}
        />
      )}
      <Confirm
        icon label={a("document.delete_of", document.name)}
        sure={a("document.delete_lost", document.chunks.toLocaleString())}
        onDone={() => act(() => told(api.removeMany(dataset.id, one)))}
      />
    </div>
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
