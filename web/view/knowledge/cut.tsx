// How documents are cut: a method or a pipeline by its name, and what it makes of a document before
// anything is saved.

import { useId, useState } from "react";
import type { Cut, Datasets, Preview } from "../../run/datasets.ts";
import { en, type AreaKey } from "../../words/areas.en.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useAreaText, useNamed } from "../area/text.ts";
import { Icon } from "../icons.tsx";
import { Unread } from "./unread.tsx";

/** sized are the methods with a size of chunks. */
const sized = new Set(["structure", "naive", "email", "book", "laws", "manual", "paper"]);
const tokens = "chunk_token_num";

/** CutChoice chooses a method with its size, or a pipeline of the host. */
export function CutChoice({
  api,
  value,
  onChange,
}: {
  api: Datasets;
  value: Cut;
  onChange(value: Cut): void;
}): React.ReactNode {
  const a = useAreaText();
  const methods = useLoaded("methods", () => api.methods());
  const pipelines = useLoaded("pipelines", () => api.pipelines());
  const group = useId();
  const names = [...new Set([...(methods.value ?? []), value.method].filter(Boolean))];
  const order = (name: string): number => (name === "structure" ? 0 : name === "naive" ? 1 : 2);
  const byPipeline = value.method === "" || value.pipeline !== "";
  return (
    <fieldset className="cut">
      <legend>{a("dataset.method")}</legend>
      <Fault text={methods.fault ?? pipelines.fault} onAgain={() => void methods.reload().then(pipelines.reload)} />
      <div className="cut-methods">
        {names.sort((x, y) => order(x) - order(y) || x.localeCompare(y)).map((name) => (
          <Method
            key={name} group={group} name={name} checked={!byPipeline && value.method === name}
            onChoose={() => onChange({ ...value, method: name, pipeline: "" })}
          />
        ))}
        <label data-on={byPipeline || undefined}>
          <input
            type="radio" name={group} checked={byPipeline}
            onChange={() => onChange({ ...value, method: "", pipeline: pipelines.value?.[0]?.id ?? "" })}
          />
          <span>
            <b>{a("dataset.pipeline")}</b>
            <small>{a("cut.pipeline")}</small>
          </span>
        </label>
      </div>
      {byPipeline ? (
        <PipelineChoice list={pipelines.value} value={value} onChange={onChange} />
      ) : (
        sized.has(value.method) && <Size value={value} onChange={onChange} />
      )}
    </fieldset>
  );
}

function Method({ group, name, checked, onChoose }: {
  group: string;
  name: string;
  checked: boolean;
  onChoose(): void;
}): React.ReactNode {
  const a = useAreaText();
  const named = useNamed();
  const line = `cut.${name}`;
  return (
    <label data-on={checked || undefined}>
      <input type="radio" name={group} checked={checked} onChange={onChoose} />
      <span>
        <b>{named("method", name)}</b>
        {Object.hasOwn(en, line) && <small>{a(line as AreaKey)}</small>}
      </span>
    </label>
  );
}

function PipelineChoice({ list, value, onChange }: {
  list: { id: string; title: string }[] | undefined;
  value: Cut;
  onChange(value: Cut): void;
}): React.ReactNode {
  const a = useAreaText();
  if (list?.length === 0 && value.pipeline === "") return <p className="quiet small">{a("cut.no_pipeline")}</p>;
  const known = list?.some(({ id }) => id === value.pipeline) ?? true;
  return (
    <label className="field">
      {a("dataset.pipeline")}
      <select
        value={value.pipeline} required
        onChange={(event) => onChange({ ...value, method: "", pipeline: event.target.value })}
      >
        <option value="">{a("cut.choose_pipeline")}</option>
        {!known && <option value={value.pipeline}>{a("cut.gone_pipeline", value.pipeline)}</option>}
        {list?.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function Size({ value, onChange }: { value: Cut; onChange(value: Cut): void }): React.ReactNode {
  const a = useAreaText();
  const size = value.config[tokens];
  return (
    <label className="field cut-size">
      {a("cut.size")}
      <input
        type="number" min={1} max={8192} placeholder="512" value={typeof size === "number" ? size : ""}
        onChange={(event) => {
          const { [tokens]: _, ...rest } = value.config;
          const number = Number(event.target.value);
          onChange({ ...value, config: number >= 1 ? { ...rest, [tokens]: Math.trunc(number) } : rest });
        }}
      />
    </label>
  );
}

/** isWhole reports whether a cut names a method or a pipeline. */
export function isWhole({ method, pipeline }: Cut): boolean {
  return method !== "" || pipeline !== "";
}

/** CutPreview shows what a cut makes of one of some documents; nothing is stored. */
export function CutPreview({ api, dataset, documents, cut }: {
  api: Datasets;
  dataset: string;
  documents: readonly { id: string; name: string }[];
  cut: Cut;
}): React.ReactNode {
  const a = useAreaText();
  const [chosen, setChosen] = useState("");
  const [made, setMade] = useState<{ of: string; preview: Preview }>();
  const attempt = useAttempt();
  const id = documents.some((each) => each.id === chosen) ? chosen : documents[0]?.id;
  const of = JSON.stringify([id, cut]);
  if (id === undefined) return <p className="quiet small">{a("cut.no_document")}</p>;
  const look = (): void =>
    void attempt.run(async () => setMade({ of, preview: await api.preview(dataset, id, cut) }));
  return (
    <section className="cut-preview" aria-label={a("cut.preview")} aria-busy={attempt.busy}>
      <div className="tools">
        {documents.length > 1 && (
          <select aria-label={a("document.one")} value={id} onChange={(event) => setChosen(event.target.value)}>
            {documents.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
        <button type="button" disabled={attempt.busy || !isWhole(cut)} onClick={look}>
          <Icon name="search" />
          {documents.length > 1 ? a("cut.preview") : a("cut.preview_of", documents[0]?.name ?? "")}
        </button>
        {attempt.busy && <span className="spinner" aria-hidden="true" />}
      </div>
      {attempt.fault !== undefined && <p className="fault" role="alert"><Unread message={attempt.fault} /></p>}
      {made && <Made preview={made.preview} isOld={made.of !== of} />}
    </section>
  );
}

function Made({ preview, isOld }: { preview: Preview; isOld: boolean }): React.ReactNode {
  const a = useAreaText();
  return (
    <>
      <p className="facts" role="status">
        {a("cut.made", preview.total.toLocaleString(), preview.tokens.toLocaleString())}
        {isOld && ` · ${a("cut.old")}`}
      </p>
      <ol className="cut-made" tabIndex={0} aria-label={a("cut.preview")} data-old={isOld || undefined}>
        {preview.items.map(({ content, tokens: size }, i) => (
          <li key={i}>
            <small>#{i + 1} · {a("document.tokens", size)}</small>
            <p>{content}</p>
          </li>
        ))}
      </ol>
      {preview.items.length < preview.total && (
        <p className="quiet small">{a("cut.first", preview.items.length)}</p>
      )}
    </>
  );
}
