// A small search over passages that come with the page, so that Retrieval has
// something to find without a server. Words count by how rare they are; Chinese
// text is compared by pairs of characters.

import type { Chunk, Found, Retriever } from "@easel/engine";

/** Passage is a piece of a document. */
export interface Passage {
  dataset: string;
  document: string;
  content: string;
}

/** search returns a retriever over passages; a query without datasets finds none. */
export function search(passages: Passage[]): Retriever {
  const indexed = passages.map((passage, at) => ({
    passage,
    at,
    words: new Set(wordsOf(passage.content + " " + passage.document)),
  }));
  const spread = new Map<string, number>();
  for (const { words } of indexed) for (const word of words) spread.set(word, (spread.get(word) ?? 0) + 1);
  const rarity = (word: string): number => Math.log(1 + indexed.length / (spread.get(word) ?? 1));
  return ({ query, datasets, top_n: top }): Found => {
    const asked = new Set(wordsOf(query));
    const most = [...asked].reduce((sum, word) => sum + (spread.has(word) ? rarity(word) : 0), 0) || 1;
    const scored = indexed
      // a canvas that names none gets no passages of the page
      .filter(({ passage }) => datasets?.includes(passage.dataset))
      .map((each) => ({
        ...each,
        score: [...asked].reduce((sum, word) => sum + (each.words.has(word) ? rarity(word) : 0), 0) / most,
      }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.at - b.at)
      .slice(0, top ?? 8);
    return {
      chunks: scored.map(({ passage, at, score }) => chunkOf(passage, at, score)),
      doc_aggs: aggregate(scored.map(({ passage }) => passage)),
    };
  };
}

function chunkOf(passage: Passage, at: number, score: number): Chunk {
  const id = `${passage.dataset}-${at}`;
  return {
    id,
    chunk_id: id,
    content: passage.content,
    content_with_weight: passage.content,
    doc_id: passage.document,
    document_id: passage.document,
    docnm_kwd: passage.document,
    document_name: passage.document,
    kb_id: passage.dataset,
    similarity: Math.round(score * 1000) / 1000,
  };
}

function aggregate(passages: Passage[]): { doc_name: string; doc_id: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { document } of passages) counts.set(document, (counts.get(document) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ doc_name: name, doc_id: name, count }));
}

function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [run] of text.toLowerCase().matchAll(/\p{Script=Han}+|[\p{L}\p{N}]{2,}/gu)) {
    if (!/\p{Script=Han}/u.test(run)) words.push(run.replace(/s$/, ""));
    else for (let at = 0; at < run.length - 1; at++) words.push(run.slice(at, at + 2));
  }
  return words;
}
