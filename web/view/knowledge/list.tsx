// The datasets of the host, page by page.

import { useState } from "react";
import type { Datasets } from "../../run/datasets.ts";
import { shown } from "../../words/shown.ts";
import { Empty, Fault, Pager, useAttempt, useLoaded, useWords } from "../area/parts.tsx";
import { useAreaText, useNamed } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { useLook, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { Pipelines } from "./pipelines.tsx";
import Sample from "./sample.tsx";

const size = 24;

/** DatasetList lists datasets and adds one. */
export function DatasetList({ api }: { api: Datasets }): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const named = useNamed();
  const language = useLook((look) => look.language);
  const { typed, words, type } = useWords();
  const [page, setPage] = useState(1);
  const [adding, setAdding] = useState(false);
  const [project, setProject] = useState<string>(); // undefined is all
  const { value, fault, reload } = useLoaded(`${page} ${words} ${project}`, () =>
    api.list({
      page, page_size: size, ...(words ? { words } : {}), ...(project === undefined ? {} : { project }),
    }),
  );
  const day = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
  const none = value?.total === 0;
  return (
    <>
      <div className="tools">
        <input
          type="search"
          value={typed}
          placeholder={a("dataset.find")}
          aria-label={a("dataset.find")}
          onChange={(event) => {
            type(event.target.value);
            setPage(1);
          }}
        />
        <ProjectFilter
          api={api} project={project}
          onChange={(next) => {
            setProject(next);
            setPage(1);
          }}
        />
        <span className="grow" />
        <button type="button" className="primary" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          {a("dataset.new")}
        </button>
      </div>
      <Fault text={fault} onAgain={reload} />
      {none && words === "" && project === undefined && (
        <Empty title={a("dataset.none")} text={a("dataset.none_hint")} />
      )}
      {value && words === "" && project === undefined && <Sample onChange={() => void reload()} />}
      {none && (words !== "" || project !== undefined) && (
        <p className="quiet" role="status">
          {t("host.empty")}
        </p>
      )}
      <ul className="cards">
        {value?.items.map((dataset) => (
          <li key={dataset.id}>
            <a className="card" href={areaLink("knowledge", dataset.id)}>
              <b>{shown(dataset.name)}</b>
              {dataset.description && <span>{shown(dataset.description)}</span>}
              <span className="facts">
                {a("dataset.counts", dataset.documents.toLocaleString(), dataset.chunks.toLocaleString())}
              </span>
              <span className="facts">
                {dataset.pipeline ? a("dataset.by_pipeline") : named("method", dataset.method)} ·{" "}
                {dataset.embedding_model || a("dataset.words_only")}
              </span>
              <small>{t("host.changed", day.format(new Date(dataset.updated)))}</small>
            </a>
          </li>
        ))}
      </ul>
      <Pager page={page} size={size} total={value?.total ?? 0} onPage={setPage} />
      <Pipelines api={api} />
      {adding && <NewDataset api={api} onClose={() => setAdding(false)} />}
    </>
  );
}

// ProjectFilter is there if there are several projects.
function ProjectFilter({ api, project, onChange }: {
  api: Datasets;
  project: string | undefined;
  onChange(project: string | undefined): void;
}): React.ReactNode {
  const a = useAreaText();
  const projects = useLoaded("projects", () => api.projects());
  if (!projects.value || projects.value.length < 2) return null;
  return (
    <select
      aria-label={a("project.one")} value={project ?? "all"}
      onChange={({ target }) => onChange(target.value === "all" ? undefined : target.value)}
    >
      <option value="all">{a("project.all")}</option>
      {projects.value.map(({ id, name }) => (
        <option key={id} value={id}>{shown(name) || a("project.default")}</option>
      ))}
    </select>
  );
}

function NewDataset({ api, onClose }: { api: Datasets; onClose(): void }): React.ReactNode {
  const a = useAreaText();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const attempt = useAttempt();
  const create = (): Promise<boolean> =>
    attempt.run(async () => {
      const { id } = await api.create({ name: name.trim(), description: description.trim() });
      location.hash = areaLink("knowledge", id);
    });
  return (
    <FormDialog
      title={a("dataset.new")} send={a("dataset.create")} isReady={!attempt.busy && name.trim() !== ""}
      onSend={() => void create()} onClose={onClose}
    >
      <label className="field">
        {a("dataset.name")}
        <input
          type="text"
          required
          maxLength={128}
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <label className="field">
        {a("dataset.description")}
        <textarea rows={2} value={description} onChange={(event) => setDescription(event.target.value)} />
      </label>
      <p className="quiet small">{a("dataset.new_hint")}</p>
      <Fault text={attempt.fault} />
    </FormDialog>
  );
}
