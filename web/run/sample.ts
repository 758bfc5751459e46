// Sample data: a dataset with three short documents, and a canvas that answers from it, to see
// answers with sources before there are documents of one's own.

import type { Datasets, StoredDocument } from "./datasets.ts";
import { HostError, type Host } from "./host.ts";
import { files, sampleName, words } from "./sample-texts.ts";

type Language = "en" | "zh";
type Asked = Pick<Host, "create" | "request" | "state">;
type Stored = Pick<Datasets, "get" | "create" | "remove" | "upload" | "watch" | "documents">;

/** Made are the ids of what one act made; the canvas is absent until the documents are parsed. */
export interface Made {
  dataset: string;
  canvas?: string;
}

/** Kept remembers what was made, in this browser: a title is not enough to delete anything. */
export interface Kept {
  get(): Made[];
  set(made: Made[]): void;
}

/** Sample is the remaining sample data, for the confirmation before it is removed. */
export interface Sample extends Made {
  /** Name and number of documents of the dataset, with those added since. */
  name?: string;
  documents?: number;
  title?: string;
}

const remembered = "easel.sample";

/** keptHere keeps the ids in the storage of the browser. */
export const keptHere: Kept = {
  get() {
    try {
      const made = JSON.parse(localStorage.getItem(remembered) ?? "[]") as unknown;
      return Array.isArray(made) ? made.filter((each: Made | null) => typeof each?.dataset === "string") : [];
    } catch {
      return []; // nothing is remembered
    }
  },
  set(made) {
    try {
      localStorage.setItem(remembered, JSON.stringify(made));
    } catch { /* a page may be forbidden to remember */ }
  },
};

const pathOf = (canvas: string): string => `/api/v2/canvases/${encodeURIComponent(canvas)}`;

/** findSample returns what this browser has made and the host still has for this person. */
export async function findSample(
  host: Pick<Host, "request">, datasets: Pick<Stored, "get">, kept: Kept,
): Promise<Sample[]> {
  const found = await Promise.all(kept.get().map(async ({ dataset, canvas }): Promise<Sample | undefined> => {
    const [set, drawn] = await Promise.all([
      orGone(datasets.get(dataset)),
      canvas === undefined ? undefined : orGone(host.request<{ title: string }>("GET", pathOf(canvas))),
    ]);
    if (!set && !drawn) return undefined;
    const { name, documents } = set ?? {};
    return { dataset, canvas, name, documents, title: drawn?.title };
  }));
  return found.filter((each) => each !== undefined);
}

// orGone returns undefined for what somebody else has deleted, or may not be seen by this person.
async function orGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (err) {
    if (err instanceof HostError && (err.status === 404 || err.status === 403)) return undefined;
    throw err;
  }
}

/**
 * addSample makes the sample data and returns the id of the canvas, when the documents can be
 * searched. What was made is removed again if that fails.
 */
export async function addSample(
  host: Asked, datasets: Stored, kept: Kept, recipe: Recipe, language: Language, signal: AbortSignal,
): Promise<string> {
  const dataset = await datasets.create({ name: sampleName[language], description: words[language].about });
  const others = (): Made[] => kept.get().filter((each) => each.dataset !== dataset.id);
  kept.set([...others(), { dataset: dataset.id }]); // also for a page that is closed before the end
  try {
    for (const [name, text] of Object.entries(files[language])) {
      await datasets.upload(dataset.id, new File([text], name, { type: "text/markdown" }), true, signal);
    }
    await parsed(datasets, dataset.id, Object.keys(files[language]).length, signal);
    const hasModel = host.state.get().answers !== "";
    const canvas = sampleCanvas(recipe, dataset.id, hasModel, language);
    const { id } = await host.create(sampleName[language], JSON.stringify(canvas));
    kept.set([...others(), { dataset: dataset.id, canvas: id }]);
    return id;
  } catch (err) {
    // The first failure is the one to report; a dataset that stays can be removed later.
    await datasets.remove(dataset.id).then(() => kept.set(others()), () => undefined);
    throw err;
  }
}

/** removeSample deletes what was found, and nothing else that has the same name. */
export async function removeSample(
  host: Pick<Host, "request">, datasets: Pick<Stored, "remove">, kept: Kept, found: Sample[],
): Promise<void> {
  for (const { dataset, canvas, name, title } of found) {
    if (canvas !== undefined && title !== undefined) await orGone(host.request("DELETE", pathOf(canvas)));
    if (name !== undefined) await orGone(datasets.remove(dataset));
    kept.set(kept.get().filter((each) => each.dataset !== dataset));
  }
}

// parsed waits until all documents are parsed; a failed one is an error.
async function parsed(datasets: Stored, id: string, count: number, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  signal.addEventListener("abort", () => stop.abort());
  const done = new Set<string>();
  let failed: StoredDocument | undefined;
  const see = (document: StoredDocument): void => {
    if (document.state === "done") done.add(document.id);
    if (document.state === "failed") failed = document;
    if (failed || done.size === count) stop.abort();
  };
  // Those that ended before the events begin are in the list.
  const list = (): void => void datasets.documents(id, {}).then(({ items }) => items.forEach(see), () => undefined);
  await datasets.watch(id, stop.signal, see, () => undefined, list).catch((err: unknown) => {
    if (!stop.signal.aborted) throw err;
  });
  signal.throwIfAborted();
  if (failed) throw new Error(`${failed.name}: ${failed.messages || failed.state}`);
}

/** Recipe is the canvas of the sample data; values that begin with $ are filled in. */
export interface Recipe {
  steps: { id: string; component: string; title: string; params: object; model?: boolean }[];
  /** References to what was found, and to what the model wrote. */
  passages: string;
  content: string;
}

/** sampleCanvas answers from a dataset: with a model by its words, else with the passages. */
export function sampleCanvas(recipe: Recipe, dataset: string, hasModel: boolean, language: Language): object {
  const texts = words[language];
  const values: Record<string, unknown> = {
    ...texts, dataset: [dataset], prompt: `${texts.prompt}\n\n${recipe.passages}`,
    content: [hasModel ? recipe.content : `${texts.found}\n\n${recipe.passages}`],
  };
  const fill = (_name: string, value: unknown): unknown =>
    typeof value === "string" && value.startsWith("$") ? values[value.slice(1)] : value;
  const all = JSON.parse(JSON.stringify(recipe.steps), fill) as Recipe["steps"];
  const steps = all.filter(({ model }) => hasModel || !model);
  const ids = steps.map(({ id }) => id);
  const components = Object.fromEntries(steps.map(({ id, component, params }, i) => [id, {
    obj: { component_name: component, params },
    upstream: ids.slice(Math.max(0, i - 1), i), downstream: ids.slice(i + 1, i + 2),
  }]));
  const nodes = steps.map(({ id, component, title, params }, i) => ({
    id, type: i === 0 ? "beginNode" : "ragNode", position: { x: i * 280, y: 0 },
    data: { label: component, name: title, form: params },
  }));
  const edges = ids.slice(1).map((target, i) => ({
    id: `edge-${i}`, source: ids[i], target, sourceHandle: "start", targetHandle: "end",
  }));
  return { components, graph: { nodes, edges }, globals: {}, path: [], history: [], retrieval: [] };
}
