// The settings of a dataset: name, how documents are cut, which model makes vectors, and its end.

import { useId, useState } from "react";
import type { Dataset, DatasetPatch, Datasets } from "../../run/datasets.ts";
import { Confirm, Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { JsonEdit } from "../value.tsx";
import { useUsing } from "./bulk.tsx";
import { CutChoice, CutPreview } from "./cut.tsx";

/** noEmbedding names no model: the dataset is searched by words whatever the default. */
const noEmbedding = "none";

/** Settings edits a dataset. */
export function Settings({
  api,
  dataset,
  onChange,
}: {
  api: Datasets;
  dataset: Dataset;
  onChange(dataset: Dataset): void;
}): React.ReactNode {
  const a = useAreaText();
  const id = useId();
  const [patch, setPatch] = useState<DatasetPatch>({});
  const [saved, setSaved] = useState(false);
  const attempt = useAttempt();
  const documents = useLoaded("documents", () => api.documents(dataset.id, { page_size: 50 }));
  const using = useUsing(api, dataset.id, true);
  const models = useLoaded("models", () => api.models("embedding"));
  const now = { ...dataset, ...patch };
  const set = (part: DatasetPatch): void => {
    setPatch({ ...patch, ...part });
    setSaved(false);
  };
  const changed = Object.keys(patch).length > 0;
  const cutsOtherwise = patch.method !== undefined || patch.pipeline !== undefined || patch.config !== undefined;
  const keep = (): void =>
    void attempt.run(async () => {
      onChange(await api.update(dataset.id, patch));
      setPatch({});
      setSaved(true);
    });
  const remove = (): void =>
    void attempt.run(async () => {
      await api.remove(dataset.id);
      location.hash = areaLink("knowledge");
    });
  return (
    <form
      className="dataset-settings"
      onSubmit={(event) => {
        event.preventDefault();
        keep();
      }}
    >
      <label className="field">
        {a("dataset.name")}
        <input
          type="text"
          required
          maxLength={128}
          value={now.name}
          onChange={(event) => set({ name: event.target.value })}
        />
      </label>
      <label className="field">
        {a("dataset.description")}
        <textarea rows={2} value={now.description} onChange={(event) => set({ description: event.target.value })} />
      </label>
      <CutChoice
        api={api}
        value={{ method: now.pipeline ? "" : now.method, pipeline: now.pipeline ?? "", config: now.config ?? {} }}
        onChange={set}
      />
      <CutPreview
        api={api} dataset={dataset.id} documents={documents.value?.items ?? []}
        cut={{ method: now.pipeline ? "" : now.method, pipeline: now.pipeline ?? "", config: now.config ?? {} }}
      />
      <details className="more">
        <summary>{a("dataset.config")}</summary>
        <JsonEdit
          key={JSON.stringify(dataset.config ?? {})}
          value={now.config ?? {}}
          label={a("dataset.config")}
          action={a("dataset.config_take")}
          onDone={(config) => set({ config: config as Record<string, unknown> })}
        />
      </details>
      {cutsOtherwise && (
        <p className="problem" data-severity="warning">
          {a("dataset.cut_hint")}
        </p>
      )}
      <label className="field">
        {a("dataset.model")}
        <input
          type="text"
          list={`${id}-models`}
          value={now.embedding_model}
          placeholder={a("dataset.words_only")}
          spellCheck={false}
          onChange={(event) => set({ embedding_model: event.target.value || noEmbedding })}
        />
        <datalist id={`${id}-models`}>
          {[noEmbedding, ...(models.value ?? [])].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <small>{a("dataset.model_hint")}</small>
      </label>
      <label className="field">
        {a("dataset.pagerank")}
        <input
          type="number"
          min={0}
          max={100}
          value={now.pagerank}
          onChange={(event) => set({ pagerank: Number(event.target.value) })}
        />
      </label>
      <label className="field row">
        <input type="checkbox" checked={now.team} onChange={(event) => set({ team: event.target.checked })} />
        {a("dataset.team")}
      </label>
      <Fault text={attempt.fault ?? models.fault ?? documents.fault} />
      <div className="tools">
        <button type="submit" className="primary" disabled={!changed || attempt.busy}>
          {a("save")}
        </button>
        {saved && (
          <span role="status" className="good">
            {a("saved")}
          </span>
        )}
        <span className="grow" />
        <Confirm
          label={a("dataset.delete")}
          sure={a("dataset.delete_sure", dataset.documents.toLocaleString(), dataset.chunks.toLocaleString()) + using}
          onDone={remove}
        />
      </div>
      <p className="quiet small">{a("dataset.id", dataset.id)}</p>
    </form>
  );
}
