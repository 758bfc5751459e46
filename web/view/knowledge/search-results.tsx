// The hits of a search in one mode, and why each has its score.

import type { Dataset, Hit, Search, SearchAnswer } from "../../run/datasets.ts";
import { textOf } from "../../run/metadata.ts";
import { shown } from "../../words/shown.ts";
import { Empty, Pager } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { PagePlace } from "./place.tsx";

/** Mode chooses by what a search compares the question with chunks. */
export type Mode = "both" | "words" | "meaning";

/** Found is the answer to a search in one mode. */
export interface Found {
  mode: Mode;
  query: Search;
  answer: SearchAnswer;
}

/** Results shows the hits of one mode; others are the same question in other modes. */
export function Results({ dataset, found, others, onPage }: {
  dataset: Dataset;
  found: Found;
  others: readonly Found[];
  onPage(page: number): void;
}): React.ReactNode {
  const a = useAreaText();
  const { mode, query, answer } = found;
  const { page = 1, page_size: size = 10, threshold = 0, vector_weight: weight = 0 } = query;
  const label = others.length > 0 ? a(`search.mode_${mode}`) : a("search.results");
  return (
    <section aria-label={label}>
      {others.length > 0 && <h2>{label}</h2>}
      <p className="facts" role="status">
        {a("search.found", answer.total.toLocaleString(), answer.took_ms)} ·{" "}
        {a("search.with", threshold.toFixed(2), query.fusion === "rrf" ? "RRF" : weight.toFixed(2), query.top_k ?? 0)}
        {query.rerank && ` · ${query.rerank}`}
      </p>
      {answer.suggestion && !answer.used?.includes("correction") && (
        <p className="facts">{a("search.suggestion", answer.suggestion)}</p>
      )}
      {answer.used?.map((means) => (
        <p key={means} className="problem" data-severity="info">
          {a(`search.used_${means}`, answer.suggestion ?? "")}
        </p>
      ))}
      {answer.diagnostics?.map((text) => (
        <p key={text} className="problem" data-severity="warning">
          {text}
        </p>
      ))}
      {answer.total === 0 && <Empty title={a("search.none")} text={a("search.none_hint")} />}
      <ol className="chunks">
        {answer.hits.map((hit, i) => (
          <HitCard
            key={hit.id} dataset={dataset} number={(page - 1) * size + i + 1} hit={hit} found={found} others={others}
          />
        ))}
      </ol>
      <Pager page={page} size={size} total={answer.total} onPage={onPage} />
    </section>
  );
}

function HitCard({ dataset, number, hit, found, others }: {
  dataset: Dataset;
  number: number;
  hit: Hit;
  found: Found;
  others: readonly Found[];
}): React.ReactNode {
  const a = useAreaText();
  return (
    <li className="chunk-card">
      <div className="chunk-head">
        <b>#{number}</b>{" "}
        <a href={areaLink("knowledge", dataset.id, hit.document, hit.id)}>{shown(hit.document_name)}</a>
        <span className="grow" />
        <dl className="scores">
          <Score name={a("search.similarity")} value={hit.similarity} strong />
          <Score name={a("search.words")} value={hit.words} />
          <Score name={a("search.vectors")} value={hit.vector} />
        </dl>
      </div>
      <div className="chunk-body">
        <p className="chunk-text">
          <Highlighted hit={hit} />
        </p>
        <PagePlace positions={hit.positions} />
      </div>
      {others.length > 0 && (
        <p className="facts">
          {others.map((other) => {
            const at = other.answer.hits.findIndex(({ id }) => id === hit.id);
            const rank = ((other.query.page ?? 1) - 1) * (other.query.page_size ?? 10) + at + 1;
            const name = a(`search.mode_${other.mode}`);
            return at < 0 ? a("search.not_in", name) : a("search.rank_in", name, rank);
          }).join(" · ")}
        </p>
      )}
      <Why dataset={dataset} hit={hit} found={found} />
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

// piecesOf separates the text of a hit at the marks that the host puts around words that matched.
function piecesOf({ highlight, content }: Hit): { text: string; isMatch: boolean }[] {
  const bare = (text: string): string => text.replace(/<\/?em>/g, "");
  if (!highlight || bare(highlight) !== bare(content)) return [{ text: content, isMatch: false }];
  return highlight.split(/<em>(.*?)<\/em>/s).map((text, i) => ({ text, isMatch: i % 2 === 1 }));
}

function Highlighted({ hit }: { hit: Hit }): React.ReactNode {
  return piecesOf(hit).map(({ text, isMatch }, i) => (isMatch ? <mark key={i}>{text}</mark> : text));
}

const near = 0.0015; // of two scores that are written with three digits
const digits = (score: number): string => score.toFixed(3);

// Why lists the words that matched and the parts of the score.
function Why({ dataset, hit, found: { query } }: { dataset: Dataset; hit: Hit; found: Found }): React.ReactNode {
  const a = useAreaText();
  const weight = query.vector_weight ?? 0;
  const words = [...new Set(piecesOf(hit).filter(({ isMatch }) => isMatch).map(({ text }) => text.toLowerCase()))];
  const asked = query.question.toLowerCase();
  const keywords = (hit.keywords ?? []).filter((word) => asked.includes(word.toLowerCase()));
  const sum = hit.words * (1 - weight) + hit.vector * weight;
  const isSum = Math.abs(sum - hit.similarity) < near;
  return (
    <details className="why">
      <summary>{a("search.why")}</summary>
      <ul>
        <li>{words.length > 0 ? a("search.why_words", words.join(", ")) : a("search.why_no_words")}</li>
        {keywords.length > 0 && <li>{a("search.why_keywords", keywords.join(", "))}</li>}
        {dataset.embedding_model && weight > 0 && (
          <li>{a("search.why_meaning", hit.vector.toFixed(3), dataset.embedding_model)}</li>
        )}
        <li>
          {query.fusion === "rrf"
            ? a("search.why_rrf")
            : weight === 0 ? a("search.why_words_only", digits(hit.words)) : a("search.why_sum",
              digits(hit.words), (1 - weight).toFixed(2), digits(hit.vector), weight.toFixed(2), digits(sum))}
        </li>
        {!isSum && query.fusion !== "rrf" && (
          <li>{a(query.rerank ? "search.why_rerank" : "search.why_boost", (hit.similarity - sum).toFixed(3))}</li>
        )}
        {Object.entries(hit.metadata ?? {}).slice(0, 5).map(([key, value]) => (
          <li key={key}>
            {key}: {textOf(value)}
          </li>
        ))}
      </ul>
    </details>
  );
}
