// How parses of documents ended: of a dataset, or of one document.

import { useState } from "react";
import type { Datasets, StoredParse } from "../../run/datasets.ts";
import { shown } from "../../words/shown.ts";
import { Fault, Pager, useLoaded } from "../area/parts.tsx";
import { useAreaText, useNamed } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { useLook } from "../context.tsx";
import { seconds } from "../text.ts";

const size = 20;

/** Parses lists parses, newest first; those of one document without its name. */
export function Parses({
  api,
  dataset,
  document,
}: {
  api: Datasets;
  dataset: string;
  document?: string;
}): React.ReactNode {
  const a = useAreaText();
  const [page, setPage] = useState(1);
  const list = useLoaded(`${page}`, () =>
    api.parses(dataset, { page, page_size: size, ...(document === undefined ? {} : { document }) }),
  );
  return (
    <section aria-label={a("dataset.parses")}>
      <Fault text={list.fault} onAgain={list.reload} />
      {list.value?.total === 0 && (
        <p className="quiet" role="status">
          {a("parse.none")}
        </p>
      )}
      <ul className="entries">
        {list.value?.items.map((parse) => (
          <Parse key={parse.id} dataset={dataset} parse={parse} named={document === undefined} />
        ))}
      </ul>
      <Pager page={page} size={size} total={list.value?.total ?? 0} onPage={setPage} />
    </section>
  );
}

function Parse({ dataset, parse, named }: { dataset: string; parse: StoredParse; named: boolean }): React.ReactNode {
  const a = useAreaText();
  const words = useNamed();
  const language = useLook((look) => look.language);
  const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });
  return (
    <li data-state={parse.state}>
      <div className="what">
        {named && <a href={areaLink("knowledge", dataset, parse.document)}>{shown(parse.document_name)}</a>}
        <small>
          {time.format(new Date(parse.ended))} ·{" "}
          {parse.pipeline ? parse.pipeline_title || parse.pipeline : words("method", parse.method)}
          {parse.node ? ` · ${a("parse.from", parse.node)}` : ""}
        </small>
        <details className="log">
          <summary>{a("parse.lines")}</summary>
          <pre>{parse.messages}</pre>
        </details>
      </div>
      <div className="how">
        <span className="badge state">{a(`state.${parse.state}`)}</span>
        <small>
          {" "}
          · {a("document.chunks", parse.chunks.toLocaleString())}
          {parse.took_ms > 0 ? ` · ${seconds(parse.took_ms / 1000)}` : ""}
        </small>
      </div>
    </li>
  );
}
