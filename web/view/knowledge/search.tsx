// A test of searches in a dataset: what is found, how alike by words and by vectors, and with which
// settings.

import { useState } from "react";
import type { Dataset, Datasets, Hit, Search, SearchAnswer } from "../../run/datasets.ts";
import { Empty, Fault, Pager, useAttempt } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { Icon } from "../icons.tsx";
import { PagePlace } from "./place.tsx";

const size = 10;

interface Found {
  query: Search;
  answer: SearchAnswer;
}

/** SearchTest searches a dataset as a canvas would. */
export function SearchTest({ api, dataset }: { api: Datasets; dataset: Dataset }): React.ReactNode {
  const a = useAreaText();
  const [question, setQuestion] = useState("");
  const [threshold, setThreshold] = useState(0.2);
  const [weight, setWeight] = useState(0.3);
  const [topK, setTopK] = useState(1024);
  const [fusion, setFusion] = useState<"weighted" | "rrf">("weighted");
  const [rerank, setRerank] = useState("");
  const [found, setFound] = useState<Found>();
  const attempt = useAttempt();
  const ask = (page: number, again?: Search): void =>
    void attempt.run(async () => {
      const query: Search = again
        ? { ...again, page }
        : {
            datasets: [dataset.id],
            question: question.trim(),
            page,
            page_size: size,
            threshold,
            vector_weight: weight,
            top_k: topK,
            fusion,
            highlight: true,
            ...(rerank.trim() ? { rerank: rerank.trim() } : {}),
          };
      setFound({ query, answer: await api.search(query) });
    });
  return (
    <div className="search-test">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ask(1);
        }}
      >
        <div className="tools">
          <input
            type="search"
            required
            value={question}
            placeholder={a("search.question")}
            aria-label={a("search.question")}
            onChange={(event) => setQuestion(event.target.value)}
          />
          <button type="submit" className="primary" disabled={attempt.busy || question.trim() === ""}>
            <Icon name="search" />
            {a("search.run")}
          </button>
        </div>
        <fieldset className="knobs">
          <legend className="sr">{a("dataset.settings")}</legend>
          <label className="field">
            {a("search.threshold", threshold.toFixed(2))}
            <input
              type="range"
              min={0}
              max={1}
              step={0.05}
              value={threshold}
              onChange={(event) => setThreshold(Number(event.target.value))}
            />
          </label>
          <label className="field">
            {a("search.weight", weight.toFixed(2), (1 - weight).toFixed(2))}
            <input
              type="range"
              min={0}
              max={1}
              step={0.05}
              value={weight}
              disabled={fusion === "rrf"}
              onChange={(event) => setWeight(Number(event.target.value))}
            />
          </label>
          <label className="field">
            {a("search.top_k")}
            <input
              type="number"
              min={1}
              max={10000}
              value={topK}
              onChange={(event) => setTopK(Number(event.target.value) || 1)}
            />
          </label>
          <label className="field">
            {a("search.fusion")}
            <select value={fusion} onChange={(event) => setFusion(event.target.value as "weighted" | "rrf")}>
              <option value="weighted">{a("search.weighted")}</option>
              <option value="rrf">{a("search.rrf")}</option>
            </select>
          </label>
          <label className="field">
            {a("search.rerank")}
            <input
              type="text"
              value={rerank}
              placeholder={a("search.no_rerank")}
              onChange={(event) => setRerank(event.target.value)}
            />
          </label>
        </fieldset>
        {!dataset.embedding_model && <p className="quiet small">{a("search.words_only")}</p>}
      </form>
      <Fault text={attempt.fault} />
      {found && <Results api={dataset.id} found={found} onPage={(page) => ask(page, found.query)} />}
    </div>
  );
}

function Results({
  api: dataset,
  found: { query, answer },
  onPage,
}: {
  api: string;
  found: Found;
  onPage(page: number): void;
}): React.ReactNode {
  const a = useAreaText();
  const { page = 1, threshold = 0, vector_weight: weight = 0 } = query;
  return (
    <section aria-label={a("search.results")}>
      <p className="facts" role="status">
        {a("search.found", answer.total.toLocaleString(), answer.took_ms)} ·{" "}
        {a("search.with", threshold.toFixed(2), query.fusion === "rrf" ? "RRF" : weight.toFixed(2), query.top_k ?? 0)}
        {query.rerank && ` · ${query.rerank}`}
      </p>
      {answer.diagnostics?.map((text) => (
        <p key={text} className="problem" data-severity="warning">
          {text}
        </p>
      ))}
      {answer.total === 0 && <Empty title={a("search.none")} text={a("search.none_hint")} />}
      <ol className="chunks">
        {answer.hits.map((hit, i) => (
          <HitCard key={hit.id} dataset={dataset} number={(page - 1) * size + i + 1} hit={hit} words={query.question} />
        ))}
      </ol>
      <Pager page={page} size={size} total={answer.total} onPage={onPage} />
    </section>
  );
}

function HitCard({
  dataset,
  number,
  hit,
  words,
}: {
  dataset: string;
  number: number;
  hit: Hit;
  words: string;
}): React.ReactNode {
  const a = useAreaText();
  return (
    <li className="chunk-card">
      <div className="chunk-head">
        <b>#{number}</b> <a href={areaLink("knowledge", dataset, hit.document)}>{hit.document_name}</a>
        <span className="grow" />
        <dl className="scores">
          <Score name={a("search.similarity")} value={hit.similarity} strong />
          <Score name={a("search.words")} value={hit.words} />
          <Score name={a("search.vectors")} value={hit.vector} />
        </dl>
      </div>
      <div className="chunk-body">
        <p className="chunk-text">
          <Words text={hit.content} words={words} />
        </p>
        <PagePlace positions={hit.positions} />
      </div>
    </li>
  );
}

function Score({ name, value, strong = false }: { name: string; value: number; strong?: boolean }): React.ReactNode {
  return (
    <div data-strong={strong || undefined}>
      <dt>{name}</dt>
      <dd>
        {value.toFixed(3)}
        <meter min={0} max={1} value={Math.max(0, value)} aria-hidden="true" />
      </dd>
    </div>
  );
}

// Words marks each word of the question that stands in the text.
function Words({ text, words }: { text: string; words: string }): React.ReactNode {
  const list = [...new Set(words.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]{3,}/gu) ?? [])].map((word) =>
    word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
  );
  if (list.length === 0) return text;
  const parts = text.split(new RegExp(`(${list.join("|")})`, "giu"));
  return parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part));
}
