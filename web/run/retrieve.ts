// The search of a canvas: in the passages of the page, and in the datasets of the host for
// signed-in people.

import { EngineError, type Chunk, type Retriever } from "@easel/engine";
import type { Datasets, Hit, Search } from "./datasets.ts";
import type { Host } from "./host.ts";
import type { Searched } from "./substitutes.ts";

/** Searcher searches datasets and lists those that it has. */
export type Searcher = (...args: Parameters<Retriever>) => Promise<Searched>;

interface Query {
  query: string;
  top_n?: number;
  top_k?: number;
  similarity_threshold?: number;
  keyword_weight?: number;
  rerank?: string;
  filter?: { logic?: string; manual?: { key: string; op: string; value: unknown }[] };
}

const mostDatasets = 100; // of the host that one search looks up

/** everywhere searches the passages of the page and, if `may` allows it, datasets of the host. */
export function everywhere(
  local: Retriever,
  here: ReadonlySet<string>,
  host: Pick<Host, "state">,
  datasets: Pick<Datasets, "find" | "search">,
  may: () => boolean,
): Searcher {
  return async (query, context) => {
    const asked = query.datasets ?? [];
    const away = [...new Set(asked)].filter((name) => !here.has(name));
    const isAway = away.length > 0 && !asked.some((name) => here.has(name));
    const found = isAway ? { chunks: [] } : await local(query, context);
    if (away.length === 0 || host.state.get().status !== "open" || !may())
      return { ...found, absent: away, relayed: [] };
    if (away.length > mostDatasets)
      throw new EngineError("provider", `a search in ${away.length} datasets; at most ${mostDatasets} can be named`);
    const named = await Promise.all(away.map(async (name) => [name, await datasets.find(name)] as const));
    const absent = named.flatMap(([name, dataset]) => (dataset ? [] : [name]));
    const there = named.flatMap(([, dataset]) => dataset ?? []);
    if (there.length === 0) return { ...found, absent, relayed: [] };
    const { hits } = await datasets.search(
      searchOf(
        there.map(({ id }) => id),
        query as Query,
      ),
    );
    const chunks = [...found.chunks, ...hits.map(chunkOf)]
      .sort((a, b) => similarity(b) - similarity(a))
      .slice(0, query.top_n ?? 8);
    return {
      chunks,
      doc_aggs: [...(found.doc_aggs ?? []), ...aggregate(hits)],
      absent,
      relayed: there.map(({ name }) => name),
    };
  };
}

function searchOf(
  datasets: string[],
  {
    query,
    top_n: top,
    top_k: candidates,
    similarity_threshold: threshold,
    keyword_weight: words,
    rerank,
    filter,
  }: Query,
): Search {
  const conditions = (filter?.manual ?? []).map(({ key, op, value }) => ({
    key,
    operator: op,
    value: String(value ?? ""),
  }));
  return {
    datasets,
    question: query,
    page_size: Math.max(1, top ?? 8),
    ...(candidates ? { top_k: candidates } : {}),
    ...(threshold === undefined ? {} : { threshold }),
    ...(words === undefined ? {} : { vector_weight: 1 - words }),
    ...(rerank ? { rerank } : {}),
    ...(conditions.length > 0 ? { filter: { or: filter?.logic === "or", conditions } } : {}),
  };
}

function chunkOf({
  id,
  content,
  document,
  document_name: name,
  dataset,
  similarity: score,
  words,
  vector,
  positions,
  metadata,
}: Hit): Chunk {
  return {
    id,
    chunk_id: id,
    content,
    content_with_weight: content,
    doc_id: document,
    document_id: document,
    docnm_kwd: name,
    document_name: name,
    kb_id: dataset,
    similarity: score,
    term_similarity: words,
    vector_similarity: vector,
    ...(positions ? { positions } : {}),
    ...(metadata ? { document_metadata: metadata } : {}),
  };
}

function similarity(chunk: Chunk): number {
  return typeof chunk["similarity"] === "number" ? chunk["similarity"] : 0;
}

function aggregate(hits: Hit[]): { doc_name: string; doc_id: string; count: number }[] {
  const counts = new Map<string, { doc_name: string; doc_id: string; count: number }>();
  for (const { document, document_name: name } of hits) {
    const known = counts.get(document) ?? { doc_name: name, doc_id: document, count: 0 };
    counts.set(document, { ...known, count: known.count + 1 });
  }
  return [...counts.values()];
}
