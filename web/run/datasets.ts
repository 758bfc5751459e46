// Requests for the datasets of the host. Lists come in pages.

import { HostError, type Host } from "./host.ts";
import { serverEvents } from "./sse.ts";

/** Listed is one page of a list. */
export interface Listed<T> {
  items: T[];
  /** All that match, not only this page. */
  total: number;
}

/** Dataset is a collection of documents that is searched. */
export interface Dataset {
  id: string;
  name: string;
  description: string;
  embedding_model: string;
  /** While embedding_model replaces another: the model still in use, and the progress in chunks. */
  embedding?: { model: string; done: number; chunks: number };
  team: boolean;
  access: Policy;
  /** How documents are cut into chunks; empty with a pipeline. */
  method: string;
  /** Canvas that cuts documents. */
  pipeline?: string;
  config?: Record<string, unknown>;
  pagerank: number;
  /** Documents of a folder of the host; they change with its files only. */
  read_only: boolean;
  documents: number;
  chunks: number;
  tokens: number;
  created: string;
  updated: string;
}

/**
 * Readers lists who may read a document: "all", "user:ID" and "group:NAME". An empty list allows no
 * one, undefined applies the dataset's default.
 */
export type Readers = readonly string[] | undefined;

/** Policy decides who reads the documents of a dataset; without enforce all its users do. */
export interface Policy {
  enforce: boolean;
  /** For documents without a list; absent allows no one. */
  default?: Readers;
}

/** Subjects are the possible entries of a list of readers. */
export interface Subjects {
  people: { id: string; name: string; email: string }[];
  groups: string[];
}

/** DatasetPatch is the changeable part of a dataset. */
export type DatasetPatch = Partial<
  Pick<Dataset, "name" | "description" | "embedding_model" | "team" | "method" | "pipeline" | "config" | "pagerank">
>;

/** DocumentState is the state of a document's ingestion. */
export type DocumentState = "unparsed" | "queued" | "running" | "done" | "failed" | "canceled";

/** MetaValue is a value of a document's metadata; dates are texts of the form 2026-11-28. */
export type MetaValue = string | number | (string | number)[];

/** Cut is a way to cut documents into chunks: a method with its settings, or a pipeline. */
export interface Cut {
  method: string;
  pipeline: string;
  config: Record<string, unknown>;
}

/** Preview has the chunks that a cut would make of a document. */
export interface Preview {
  items: { content: string; kind?: string; tokens: number }[];
  total: number;
  tokens: number;
}

/** StoredDocument is a file of a dataset. */
export interface StoredDocument {
  id: string;
  name: string;
  size: number;
  method: string;
  pipeline?: string;
  config?: Record<string, unknown>;
  enabled: boolean;
  metadata: Record<string, MetaValue>;
  access?: Readers;
  state: DocumentState;
  /** 0 to 1; -1 when it failed. */
  progress: number;
  /** Lines of the last parse. */
  messages?: string;
  /** Documents before it in the queue. */
  ahead?: number;
  chunks: number;
  tokens: number;
  took_ms?: number;
  created: string;
  updated: string;
}

/** StoredParse is the result of one parse of a document. */
export interface StoredParse {
  id: string;
  document: string;
  document_name: string;
  method: string;
  pipeline?: string;
  pipeline_title?: string;
  /** Node that the pipeline started at, if not the first. */
  node?: string;
  state: DocumentState;
  messages: string;
  /** Of the document afterwards. */
  chunks: number;
  took_ms: number;
  ended: string;
}

/** StoredChunk is a piece of a document. */
export interface StoredChunk {
  id: string;
  content: string;
  keywords?: string[];
  questions?: string[];
  enabled: boolean;
  /** Added or changed by a person; parsing again keeps it. */
  edited: boolean;
  kind?: string;
  /** Page, left, right, top, bottom in points. */
  positions?: number[][];
  /** Changes with each edit of the chunk. */
  version?: string;
}

/** ChunkPatch is the changeable part of a chunk. */
export type ChunkPatch = Partial<Pick<StoredChunk, "content" | "keywords" | "questions" | "enabled" | "version">>;

/** Search is a search for chunks in datasets; omitted settings have the host's defaults. */
export interface Search {
  datasets: string[];
  documents?: string[];
  question: string;
  page?: number;
  page_size?: number;
  top_k?: number;
  threshold?: number;
  vector_weight?: number;
  fusion?: "weighted" | "rrf";
  rerank?: string;
  filter?: { or?: boolean; conditions: { key: string; operator: string; value: string }[] };
  highlight?: boolean;
  /** When nothing is found: correct unknown words, then ignore the threshold. */
  forgive?: boolean;
}

/** Hit is a chunk that was found. */
export interface Hit extends StoredChunk {
  dataset: string;
  document: string;
  document_name: string;
  similarity: number;
  /** Similarity by words, 0 to 1. */
  words: number;
  /** Similarity by vectors, -1 to 1. */
  vector: number;
  /** The text with the words that matched in <em>. */
  highlight?: string;
  metadata?: Record<string, MetaValue>;
}

/** SearchAnswer is the result of a search. */
export interface SearchAnswer {
  hits: Hit[];
  total: number;
  documents: { document: string; name: string; hits: number }[];
  /** Settings that had no effect, and why. */
  diagnostics?: string[];
  /** The question with its unknown words corrected. */
  suggestion?: string;
  /** Methods that found hits besides the words of the question. */
  used?: ("correction" | "any_word" | "synonyms" | "phrase")[];
  took_ms: number;
}

/** Refused is the result for the documents of a request. */
export interface Refused {
  accepted: number;
  refused: { document: string; code: string; message: string }[];
}

/** ListQuery chooses a page of a list. */
export interface ListQuery {
  page?: number;
  page_size?: number;
  words?: string;
  state?: string;
  enabled?: string;
  document?: string;
  orderby?: string;
  desc?: boolean;
}

const root = "/api/v2/datasets";
const mostOnPage = 1000; // the host's limit

/** Datasets makes the requests for datasets. */
export class Datasets {
  readonly #host: Pick<Host, "ask">;

  constructor(host: Pick<Host, "ask">) {
    this.#host = host;
  }

  /** projects are those in which the person has a role. */
  async projects(): Promise<{ id: string; name: string }[]> {
    return (await this.#get<{ items: { id: string; name: string }[] }>("/api/v2/projects")).items;
  }

  /** list returns a page of datasets; the project "" is the default one, undefined means all. */
  list(
    { project, ...query }: { page?: number; page_size?: number; words?: string; project?: string },
  ): Promise<Listed<Dataset>> {
    const text = search(query) || "?";
    return this.#get(root + text + (project === undefined ? "" : `&project=${encodeURIComponent(project)}`));
  }

  get(id: string): Promise<Dataset> {
    return this.#get(at(id));
  }

  /** find returns a dataset by its id or its name, or undefined. */
  async find(name: string): Promise<Dataset | undefined> {
    try {
      return await this.get(name);
    } catch (err) {
      if (!(err instanceof HostError) || err.status !== 404) throw err;
    }
    const { items } = await this.#get<Listed<Dataset>>(root + search({ name, page_size: 1 }));
    return items[0];
  }

  create(patch: DatasetPatch): Promise<Dataset> {
    return this.#send("POST", root, patch);
  }

  update(id: string, patch: DatasetPatch): Promise<Dataset> {
    return this.#send("PATCH", at(id), patch);
  }

  async remove(id: string): Promise<void> {
    await this.#host.ask("DELETE", at(id));
  }

  /** methods returns the ways in which documents can be cut into chunks. */
  async methods(): Promise<string[]> {
    return (await this.#get<{ items: { name: string }[] }>("/api/v2/chunk-methods")).items.map(({ name }) => name);
  }

  /** models returns the models of a kind that the host offers. */
  async models(kind: string): Promise<string[]> {
    const { items } = await this.#get<{ items: { id: string; kind: string }[] }>("/api/v2/models");
    return items.filter((model) => model.kind === kind).map(({ id }) => id);
  }

  documents(id: string, query: ListQuery): Promise<Listed<StoredDocument>> {
    return this.#get(`${at(id)}/documents${search(query)}`);
  }

  document(id: string, document: string): Promise<StoredDocument> {
    return this.#get(at(id, document));
  }

  /**
   * upload stores a file and queues it to be parsed. It refuses formats that no host reads and,
   * unless `copies` is set, files that the dataset has already.
   */
  async upload(id: string, file: File, copies: boolean, signal?: AbortSignal): Promise<StoredDocument> {
    const refuse = copies ? "unreadable" : "unreadable,duplicates";
    const path = `${at(id)}/documents?parse=true&refuse=${refuse}`;
    const response = await this.#host.ask("POST", path, formOf(file), signal ? { signal } : {});
    const { items } = (await response.json()) as Listed<StoredDocument>;
    return items[0] as StoredDocument; // one file, one document
  }

  /** replace stores another file for a document and queues it to be parsed. */
  async replace(id: string, document: string, file: File): Promise<void> {
    await this.#host.ask("PUT", `${at(id, document)}/content?parse=true`, formOf(file));
  }

  /** updateMany changes documents, and with parse queues them. */
  updateMany(
    id: string, documents: string[], patch: Partial<Cut> & { enabled?: boolean; parse?: boolean },
  ): Promise<Refused> {
    return this.#send("PATCH", `${at(id)}/documents`, { documents, ...patch });
  }

  removeMany(id: string, documents: string[]): Promise<Refused> {
    return this.#send("DELETE", `${at(id)}/documents`, { documents });
  }

  /** preview cuts a document and stores nothing. */
  preview(id: string, document: string, { method, pipeline, config }: Cut): Promise<Preview> {
    return this.#send("POST", `${at(id, document)}/preview`, pipeline ? { pipeline } : { method, config });
  }

  /** using returns the canvases that search a dataset. */
  async using(id: string): Promise<{ id: string; title: string }[]> {
    return (await this.#get<{ items: { id: string; title: string }[] }>(`${at(id)}/canvases`)).items;
  }

  /** pipelines returns the canvases of the host that cut documents. */
  async pipelines(): Promise<{ id: string; title: string }[]> {
    const path = "/api/v2/canvases?kind=pipeline&page_size=1000";
    return (await this.#get<Listed<{ id: string; title: string }>>(path)).items;
  }

  /** metadata returns how many documents have each value, by key. */
  async metadata(id: string): Promise<Map<string, Map<string, number>>> {
    const { keys } = await this.#get<{ keys: Record<string, Record<string, number>> }>(`${at(id)}/metadata`);
    return new Map(Object.entries(keys).map(([key, values]) => [key, new Map(Object.entries(values))]));
  }

  /** setMetadata sets keys of documents and deletes those in `remove`; other keys stay. */
  setMetadata(id: string, documents: string[], set: [string, MetaValue][], remove: string[]): Promise<unknown> {
    return this.#send("PATCH", `${at(id)}/metadata`, {
      documents,
      set: set.map(([key, value]) => ({ key, value })),
      delete: remove.map((key) => ({ key })),
    });
  }

  subjects(): Promise<Subjects> {
    return this.#get("/api/v2/subjects");
  }

  setPolicy(id: string, policy: Policy): Promise<Dataset> {
    return this.#send("PUT", `${at(id)}/access`, policy);
  }

  /** setReaders sets who reads documents. */
  async setReaders(id: string, documents: string[], access: Readers): Promise<Refused> {
    const answer = await this.#send<{ updated: number }>("PUT", `${at(id)}/access/documents`, { documents, access });
    return { accepted: answer.updated, refused: [] };
  }

  /** withoutReaders counts the documents that have no list. */
  async withoutReaders(id: string): Promise<number> {
    let count = 0;
    for (let page = 1; ; page++) {
      const { items, total } = await this.documents(id, { page, page_size: mostOnPage });
      count += items.filter(({ access }) => access === undefined).length;
      if (items.length === 0 || page * mostOnPage >= total) return count;
    }
  }

  cancel(id: string, documents: string[]): Promise<Refused> {
    return this.#send("POST", `${at(id)}/cancel`, { documents });
  }

  /** parses returns the results of parses, newest first. */
  parses(id: string, query: ListQuery): Promise<Listed<StoredParse>> {
    return this.#get(`${at(id)}/parses${search(query)}`);
  }

  /** content returns the file of a document. */
  async content(id: string, document: string): Promise<Blob> {
    return (await this.#host.ask("GET", `${at(id, document)}/content`)).blob();
  }

  /** watch calls changed with each document whose state changes, until the signal aborts. */
  async watch(
    id: string,
    signal: AbortSignal,
    changed: (document: StoredDocument) => void,
    idle: (dataset: Dataset) => void,
    begun: () => void = () => undefined,
  ): Promise<void> {
    const response = await this.#host.ask("GET", `${at(id)}/events`, undefined, {
      signal,
      accept: "text/event-stream",
    });
    begun();
    for await (const { name, data } of serverEvents(response)) {
      if (name === "document") changed(JSON.parse(data) as StoredDocument);
      else if (name === "idle") idle(JSON.parse(data) as Dataset);
    }
  }

  chunks(id: string, document: string, query: ListQuery): Promise<Listed<StoredChunk>> {
    return this.#get(`${at(id, document)}/chunks${search(query)}`);
  }

  addChunk(id: string, document: string, patch: ChunkPatch): Promise<StoredChunk> {
    return this.#send("POST", `${at(id, document)}/chunks`, patch);
  }

  updateChunk(id: string, document: string, chunk: string, patch: ChunkPatch): Promise<StoredChunk> {
    return this.#send("PATCH", at(id, document, chunk), patch);
  }

  chunk(id: string, document: string, chunk: string): Promise<StoredChunk> {
    return this.#get(at(id, document, chunk));
  }

  /** splitChunk keeps the first text in the chunk and adds one with the second behind it. */
  splitChunk(
    id: string, document: string, { id: chunk, version }: StoredChunk, first: string, second: string,
  ): Promise<StoredChunk> {
    return this.#send("POST", `${at(id, document, chunk)}/split`, { first, second, version });
  }

  /** mergeChunks adds text, keywords and questions of the next chunk to one, and removes it. */
  mergeChunks(id: string, document: string, chunk: StoredChunk, next: StoredChunk): Promise<StoredChunk> {
    return this.#send("POST", `${at(id, document, chunk.id)}/merge`, {
      with: next.id,
      content: `${chunk.content}\n${next.content}`,
      version: chunk.version,
      with_version: next.version,
    });
  }

  async removeChunk(id: string, document: string, chunk: string): Promise<void> {
    await this.#host.ask("DELETE", at(id, document, chunk));
  }

  search(query: Search): Promise<SearchAnswer> {
    return this.#send("POST", "/api/v2/search", query);
  }

  async #get<T>(path: string): Promise<T> {
    return (await (await this.#host.ask("GET", path)).json()) as T;
  }

  async #send<T>(method: string, path: string, body: unknown): Promise<T> {
    return (await (await this.#host.ask(method, path, body)).json()) as T;
  }
}

function formOf(file: File): FormData {
  const form = new FormData();
  form.append("file", file, file.name);
  return form;
}

function at(dataset: string, document?: string, chunk?: string): string {
  const part = (name: string, id: string | undefined): string =>
    id === undefined ? "" : `/${name}/${encodeURIComponent(id)}`;
  return `${root}/${encodeURIComponent(dataset)}${part("documents", document)}${part("chunks", chunk)}`;
}

// search formats the query of an address; empty values are left out.
function search(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
