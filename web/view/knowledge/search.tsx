// A test of searches in a dataset: hits by words, by meaning and by both, in columns
// if wanted, with filters by metadata, and why each hit has its score.

import { useState } from "react";
import type { Dataset, Datasets, Search } from "../../run/datasets.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { Icon } from "../icons.tsx";
import { Filters, filterOf, type FilterRow } from "./search-filters.tsx";
import { Results, type Found, type Mode } from "./search-results.tsx";

const size = 10;

const modes: readonly Mode[] = ["both", "words", "meaning"];

interface Knobs {
  threshold: number;
  weight: number;
  topK: number;
  fusion: "weighted" | "rrf";
  rerank: string;
}

const usual: Knobs = { threshold: 0.2, weight: 0.3, topK: 1024, fusion: "weighted", rerank: "" };

// queryOf makes the search of a mode; words and meaning are the ends of the weight.
function queryOf(dataset: string, question: string, mode: Mode, knobs: Knobs, filter: Search["filter"]): Search {
  const { threshold, topK, fusion, rerank } = knobs;
  return {
    datasets: [dataset], question, page: 1, page_size: size, threshold, top_k: topK, highlight: true, forgive: true,
    vector_weight: mode === "both" ? knobs.weight : mode === "words" ? 0 : 1,
    fusion: mode === "both" ? fusion : "weighted",
    ...(rerank.trim() ? { rerank: rerank.trim() } : {}),
    ...(filter ? { filter } : {}),
  };
}

/** SearchTest searches a dataset as a canvas would. */
export function SearchTest({ api, dataset }: { api: Datasets; dataset: Dataset }): React.ReactNode {
  const a = useAreaText();
  const hasMeaning = dataset.embedding_model !== "";
  const [question, setQuestion] = useState("");
  const [mode, setMode] = useState<Mode | "compare">("both");
  const [knobs, setKnobs] = useState(usual);
  const [rows, setRows] = useState<FilterRow[]>([]);
  const [isAny, setAny] = useState(false);
  const [found, setFound] = useState<Found[]>([]);
  const attempt = useAttempt();
  const keys = useLoaded(dataset.id, () => api.metadata(dataset.id));
  const one = async (each: Mode, query: Search): Promise<Found> =>
    ({ mode: each, query, answer: await api.search(query) });
  const ask = (): void =>
    void attempt.run(async () => {
      const filter = filterOf(rows, isAny);
      const wanted = mode === "compare" ? modes : [hasMeaning ? mode : "words"];
      const query = (each: Mode): Search => queryOf(dataset.id, question.trim(), each, knobs, filter);
      setFound(await Promise.all(wanted.map((each) => one(each, query(each)))));
    });
  const turn = (before: Found, page: number): void =>
    void attempt.run(async () => {
      const next = await one(before.mode, { ...before.query, page });
      setFound((all) => all.map((each) => (each === before ? next : each)));
    });
  return (
    <div className="search-test">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <div className="tools">
          <input
            type="search" required value={question} placeholder={a("search.question")} aria-label={a("search.question")}
            onChange={(event) => setQuestion(event.target.value)}
          />
          <button type="submit" className="primary" disabled={attempt.busy || question.trim() === ""}>
            <Icon name="search" />
            {a("search.run")}
          </button>
        </div>
        {hasMeaning ? (
          <Modes mode={mode} onChange={setMode} />
        ) : (
          <p className="quiet small">{a("search.words_only")}</p>
        )}
        <Filters keys={keys.value} rows={rows} isAny={isAny} onChange={setRows} onAny={setAny} />
        <Fault text={keys.fault} onAgain={keys.reload} />
        <details className="more">
          <summary>{a("search.knobs")}</summary>
          <KnobFields knobs={knobs} hasMeaning={hasMeaning} onChange={setKnobs} />
        </details>
      </form>
      <Fault text={attempt.fault} />
      {found.length > 0 && (
        <div className="modes" data-count={found.length}>
          {found.map((each) => (
            <Results key={each.mode} dataset={dataset} found={each} others={found.filter((other) => other !== each)}
              onPage={(page) => turn(each, page)} />
          ))}
        </div>
      )}
    </div>
  );
}

function Modes({ mode, onChange }: {
  mode: Mode | "compare";
  onChange(mode: Mode | "compare"): void;
}): React.ReactNode {
  const a = useAreaText();
  return (
    <fieldset className="segments">
      <legend className="sr">{a("search.mode")}</legend>
      {([...modes, "compare"] as const).map((each) => (
        <label key={each} data-on={mode === each || undefined}>
          <input type="radio" name="search-mode" checked={mode === each} onChange={() => onChange(each)} />
          {a(`search.mode_${each}`)}
        </label>
      ))}
    </fieldset>
  );
}

function KnobFields({ knobs, hasMeaning, onChange }: {
  knobs: Knobs;
  hasMeaning: boolean;
  onChange(knobs: Knobs): void;
}): React.ReactNode {
  const a = useAreaText();
  const range = (key: "threshold" | "weight", label: string, disabled = false): React.ReactNode => (
    <label className="field">
      {label}
      <input
        type="range" min={0} max={1} step={0.05} value={knobs[key]} disabled={disabled}
        onChange={(event) => onChange({ ...knobs, [key]: Number(event.target.value) })}
      />
    </label>
  );
  return (
    <fieldset className="knobs">
      <legend className="sr">{a("search.knobs")}</legend>
      {range("threshold", a("search.threshold", knobs.threshold.toFixed(2)))}
      {hasMeaning &&
        range(
          "weight", a("search.weight", knobs.weight.toFixed(2), (1 - knobs.weight).toFixed(2)), knobs.fusion === "rrf",
        )}
      {hasMeaning && (
        <label className="field">
          {a("search.top_k")}
          <input
            type="number" min={1} max={10000} value={knobs.topK}
            onChange={(event) => onChange({ ...knobs, topK: Number(event.target.value) || 1 })}
          />
        </label>
      )}
      {hasMeaning && (
        <label className="field">
          {a("search.fusion")}
          <select
            value={knobs.fusion}
            onChange={(event) => onChange({ ...knobs, fusion: event.target.value as Knobs["fusion"] })}
          >
            <option value="weighted">{a("search.weighted")}</option>
            <option value="rrf">{a("search.rrf")}</option>
          </select>
        </label>
      )}
      <label className="field">
        {a("search.rerank")}
        <input
          type="text" value={knobs.rerank} placeholder={a("search.no_rerank")}
          onChange={(event) => onChange({ ...knobs, rerank: event.target.value })}
        />
      </label>
    </fieldset>
  );
}
