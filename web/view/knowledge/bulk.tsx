// What can be done with the selected documents, how far it is, and what was not done.

import { useCallback, useRef, useState } from "react";
import { bulk, type Bulk } from "../../run/bulk.ts";
import type { Cut, Dataset, Datasets, Refused, StoredDocument } from "../../run/datasets.ts";
import { Confirm, useLoaded } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { reasonOf } from "../reason.tsx";
import { save } from "../save.ts";
import { CutChoice, CutPreview, isWhole } from "./cut.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { MetadataDialog } from "./metadata.tsx";
import { ReadersDialog } from "./readers.tsx";

type Act = (documents: string[]) => Promise<Refused>;

/** Working is an act on documents, running or ended. */
export interface Working {
  label: string;
  state: Bulk;
  act: Act;
  settled: readonly string[];
}

/** Bulks runs acts on documents, one after the other. */
export interface Bulks {
  working: Working | undefined;
  start(label: string, documents: readonly string[], act: Act, settled?: readonly string[]): void;
  dismiss(): void;
}

/** useBulk returns Bulks; onDone is called after each act. */
export function useBulk(onDone: () => void): Bulks {
  const [working, setWorking] = useState<Working>();
  const done = useRef(onDone);
  done.current = onDone;
  const start = useCallback<Bulks["start"]>((label, documents, act, settled = []) => {
    const changed = (state: Bulk): void => setWorking({ label, state, act, settled });
    void bulk(documents, act, changed, settled).then(() => done.current());
  }, []);
  return { working, start, dismiss: useCallback(() => setWorking(undefined), []) };
}

/** BulkReport shows the progress of an act, and the documents that it left. */
export function BulkReport({ bulks: { working, start, dismiss }, nameOf }: {
  bulks: Bulks;
  nameOf(id: string): string;
}): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  if (!working) return null;
  const { label, state: { total, done, refused, left, fault, running } } = working;
  return (
    <section
      className="bulk-report" aria-label={label} data-failed={fault !== undefined || refused.length > 0 || undefined}
    >
      <p role="status">
        <b>{label}:</b> {a("bulk.done", done.toLocaleString(), total.toLocaleString())}
      </p>
      {running && <progress max={total} value={total - left.length} aria-label={label} />}
      {fault !== undefined && (
        <p className="fault" role="alert">
          {a("bulk.stopped", left.length.toLocaleString(), reasonOf(fault))}{" "}
          <button type="button" onClick={() => start(label, left, working.act, working.settled)}>
            {a("bulk.rest")}
          </button>
        </p>
      )}
      {refused.length > 0 && (
        <details open={refused.length <= 5}>
          <summary>{a("bulk.refused", refused.length.toLocaleString())}</summary>
          <ul>
            {refused.map(({ document, message }) => (
              <li key={document}>
                <b>{nameOf(document)}</b>: {message}
              </li>
            ))}
          </ul>
        </details>
      )}
      {!running && (
        <button type="button" className="icon-button" aria-label={t("error.close")} onClick={dismiss}>
          <Icon name="cross" />
        </button>
      )}
    </section>
  );
}

/** BulkBar acts on the selected documents. */
export function BulkBar({ api, dataset, chosen, bulks, onReplace, onGone }: {
  api: Datasets;
  dataset: Dataset;
  chosen: readonly StoredDocument[];
  bulks: Bulks;
  onReplace(document: StoredDocument, file: File): void;
  onGone(ids: readonly string[]): void;
}): React.ReactNode {
  const a = useAreaText();
  const remove = async (part: string[]): ReturnType<Act> => {
    const answer = await api.removeMany(dataset.id, part);
    const kept = new Set(answer.refused.flatMap(({ document, code }) => (code === "not_found" ? [] : [document])));
    onGone(part.filter((id) => !kept.has(id)));
    return answer;
  };
  const [open, setOpen] = useState<"cut" | "metadata" | "readers">();
  const none = chosen.length === 0 || bulks.working?.state.running === true;
  const ids = chosen.map(({ id }) => id);
  const run = (label: string, act: Act, settled?: string[]): void => bulks.start(label, ids, act, settled);
  return (
    <>
      <button type="button" disabled={none} onClick={() => setOpen("cut")}>
        <Icon name="loop" />
        {a("bulk.parse")}
      </button>
      <button type="button" disabled={none} onClick={() => setOpen("metadata")}>
        <Icon name="list" />
        {a("meta.edit")}
      </button>
      <button type="button" disabled={none} onClick={() => setOpen("readers")}>
        <Icon name="key" />
        {a("readers.choose")}
      </button>
      <Switches
        none={none} onSwitch={(label, enabled) => run(label, (part) => api.updateMany(dataset.id, part, { enabled }))}
      />
      <button
        type="button" disabled={none} onClick={() => run(a("document.cancel"), (part) => api.cancel(dataset.id, part))}
      >
        <Icon name="stop" />
        {a("document.cancel")}
      </button>
      <button
        type="button" disabled={none}
        onClick={() => run(a("document.download"), (part) => downloadAll(api, dataset.id, chosen, part))}
      >
        <Icon name="save" />
        {a("document.download")}
      </button>
      {chosen.length === 1 && <Replace document={chosen[0]!} onReplace={onReplace} />}
      <Delete api={api} dataset={dataset} chosen={chosen} none={none} onDelete={() =>
        run(a("document.delete"), remove, ["not_found"])} />
      {open === "cut" && (
        <CutDialog
          api={api} dataset={dataset} documents={chosen} onClose={() => setOpen(undefined)}
          onSave={(patch) =>
            run(a("bulk.parse"), (part) => api.updateMany(dataset.id, part, { ...patch, parse: true }))}
        />
      )}
      {open === "readers" && (
        <ReadersDialog
          api={api} dataset={dataset} documents={chosen} onClose={() => setOpen(undefined)}
          onSave={(act) => run(a("readers.label"), act)}
        />
      )}
      {open === "metadata" && (
        <MetadataDialog
          api={api} dataset={dataset.id} documents={chosen} onClose={() => setOpen(undefined)}
          onSave={(act) => run(a("meta.edit"), async (part) => {
            await act(part);
            return { accepted: part.length, refused: [] };
          })}
        />
      )}
    </>
  );
}

function Switches({ none, onSwitch }: { none: boolean; onSwitch(label: string, on: boolean): void }): React.ReactNode {
  const a = useAreaText();
  return ([["bulk.on", true], ["bulk.off", false]] as const).map(([key, on]) => (
    <button key={key} type="button" disabled={none} onClick={() => onSwitch(a(key), on)}>
      <Icon name={on ? "check" : "off"} />
      {a(key)}
    </button>
  ));
}

/** Replace chooses another file for a document. */
export function Replace({ document, onReplace }: {
  document: StoredDocument;
  onReplace(document: StoredDocument, file: File): void;
}): React.ReactNode {
  const a = useAreaText();
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker} type="file" hidden aria-label={a("document.replace")}
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          event.target.value = "";
          if (file) onReplace(document, file);
        }}
      />
      <button type="button" onClick={() => picker.current?.click()}>
        <Icon name="keep" />
        {a("document.replace")}
      </button>
    </>
  );
}

// Delete names what is lost: chunks, and the canvases that search the dataset.
function Delete({ api, dataset, chosen, none, onDelete }: {
  api: Datasets;
  dataset: Dataset;
  chosen: readonly StoredDocument[];
  none: boolean;
  onDelete(): void;
}): React.ReactNode {
  const a = useAreaText();
  const using = useUsing(api, dataset.id, chosen.length > 0);
  const chunks = chosen.reduce((sum, each) => sum + each.chunks, 0).toLocaleString();
  return (
    <Confirm
      label={a("document.delete")} disabled={none} onDone={onDelete}
      sure={a("document.delete_sure", chosen.length, chunks) + using}
    />
  );
}

/** useUsing returns a sentence naming the canvases that search a dataset; "" without any. */
export function useUsing(api: Datasets, dataset: string, wanted: boolean): string {
  const a = useAreaText();
  const { value } = useLoaded(`${dataset} ${wanted}`, async () => (wanted ? api.using(dataset) : []));
  if (!value || value.length === 0) return "";
  const names = value.slice(0, 3).map(({ title }) => `“${title}”`).join(", ");
  return " " + a("dataset.used_by", value.length > 3 ? `${names}, +${value.length - 3}` : names);
}

async function downloadAll(
  api: Datasets, dataset: string, all: readonly StoredDocument[], part: string[],
): Promise<Refused> {
  for (const id of part) save(await api.content(dataset, id), all.find((each) => each.id === id)?.name ?? id);
  return { accepted: part.length, refused: [] };
}

function CutDialog({ api, dataset, documents, onSave, onClose }: {
  api: Datasets;
  dataset: Dataset;
  documents: readonly StoredDocument[];
  onSave(patch: Partial<Cut>): void;
  onClose(): void;
}): React.ReactNode {
  const a = useAreaText();
  const [first] = documents;
  const before: Cut = {
    method: first?.method ?? dataset.method, pipeline: first?.pipeline ?? "", config: first?.config ?? {},
  };
  const isOne = documents.every(
    ({ method, pipeline = "" }) => method === before.method && pipeline === before.pipeline,
  );
  const [cut, setCut] = useState<Cut>();
  const now = cut ?? before;
  const otherwise = cut && (cut.method !== before.method || cut.pipeline !== before.pipeline || !isOne);
  return (
    <FormDialog
      title={a("bulk.parse_of", documents.length)} className="cut-dialog" send={a("bulk.parse_of", documents.length)}
      isReady={isWhole(now)} onClose={onClose}
      onSend={(close) => {
        close();
        onSave(cut ?? {});
      }}
    >
      {!isOne && !cut && <p className="quiet small">{a("cut.differs")}</p>}
      <CutChoice api={api} value={now} onChange={setCut} />
      <CutPreview api={api} dataset={dataset.id} documents={documents.slice(0, 50)} cut={now} />
      {otherwise && <p className="problem" data-severity="warning">{a("cut.lost")}</p>}
    </FormDialog>
  );
}
