// The settings of a dataset: name, how documents are cut, which model makes vectors, and its end.

import { useId, useState } from "react";
import type { Dataset, DatasetPatch, Datasets } from "../../run/datasets.ts";
import { Confirm, Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useAreaText, useNamed } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { useApp } from "../context.tsx";
import { JsonEdit } from "../value.tsx";

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
  const named = useNamed();
  const { host } = useApp();
  const id = useId();
  const [patch, setPatch] = useState<DatasetPatch>({});
  const [saved, setSaved] = useState(false);
  const attempt = useAttempt();
  const methods = useLoaded("methods", () => api.methods());
  const models = useLoaded("models", () => api.models("embedding"));
  const pipelines = host.state.get().canvases;
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
      <label className="field">
        {a("dataset.method")}
        <select
          value={now.pipeline ? "" : now.method}
          onChange={(event) =>
            set(event.target.value === "" ? { method: "" } : { method: event.target.value, pipeline: "" })
          }
        >
          <option value="">{a("dataset.by_pipeline")}</option>
          {[...new Set([...(methods.value ?? []), now.method].filter(Boolean))].map((name) => (
            <option key={name} value={name}>
              {named("method", name)}
            </option>
          ))}
        </select>
      </label>
      {(now.pipeline || now.method === "") && (
        <label className="field">
          {a("dataset.pipeline")}
          <input
            type="text"
            list={`${id}-pipelines`}
            value={now.pipeline ?? ""}
            placeholder={a("dataset.pipeline_hint")}
            spellCheck={false}
            onChange={(event) => set({ pipeline: event.target.value.trim(), method: "" })}
          />
          <datalist id={`${id}-pipelines`}>
            {pipelines.map((canvas) => (
              <option key={canvas.id} value={canvas.id}>
                {canvas.title}
              </option>
            ))}
          </datalist>
        </label>
      )}
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
      <Fault text={attempt.fault ?? methods.fault ?? models.fault} />
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
          sure={a("dataset.delete_sure", dataset.documents.toLocaleString(), dataset.chunks.toLocaleString())}
          onDone={remove}
        />
      </div>
      <p className="quiet small">{a("dataset.id", dataset.id)}</p>
    </form>
  );
}
