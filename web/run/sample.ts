// Sample data: a dataset with three short documents, and a canvas that answers from it, to see
// answers with sources before there are documents of one's own.

import type { Dataset, Datasets, StoredDocument } from "./datasets.ts";
import type { Host } from "./host.ts";
import { files, sampleName, words } from "./sample-texts.ts";

type Language = "en" | "zh";
type Asked = Pick<Host, "create" | "request" | "state">;
type Stored = Pick<Datasets, "list" | "create" | "remove" | "upload" | "watch" | "documents">;

/** isSample reports whether a dataset or a canvas is of the sample data. */
export function isSample(name: string): boolean {
  return name === sampleName.en || name === sampleName.zh;
}

/** findSample returns the datasets of the sample data. */
export async function findSample(datasets: Pick<Stored, "list">): Promise<Dataset[]> {
  const found = await Promise.all([...new Set(Object.values(sampleName))].map((name) =>
    datasets.list({ words: name, page_size: 10 })));
  return found.flatMap(({ items }) => items).filter(({ name }) => isSample(name));
}

/**
 * addSample makes the sample data and returns the id of the canvas, when the documents can be
 * searched. What was made is removed again if that fails.
 */
export async function addSample(
  host: Asked, datasets: Stored, recipe: Recipe, language: Language, signal: AbortSignal,
): Promise<string> {
  const dataset = await datasets.create({ name: sampleName[language], description: words[language].about });
  try {
    for (const [name, text] of Object.entries(files[language])) {
      await datasets.upload(dataset.id, new File([text], name, { type: "text/markdown" }), true, signal);
    }
    await parsed(datasets, dataset.id, Object.keys(files[language]).length, signal);
    const hasModel = host.state.get().answers !== "";
    const canvas = sampleCanvas(recipe, dataset.id, hasModel, language);
    const { id } = await host.create(sampleName[language], JSON.stringify(canvas));
    return id;
  } catch (err) {
    await datasets.remove(dataset.id).catch(() => undefined); // the first failure is the one to report
    throw err;
  }
}

/** removeSample deletes the sample data with its canvases. */
export async function removeSample(host: Pick<Host, "request">, datasets: Stored): Promise<void> {
  for (const { id } of await findSample(datasets)) await datasets.remove(id);
  for (const name of new Set(Object.values(sampleName))) {
    const path = `/api/v2/canvases?${new URLSearchParams({ keywords: name, page_size: "10" })}`;
    const { items = [] } = await host.request<{ items?: { id: string; title: string }[] }>("GET", path);
    for (const { id, title } of items) {
      if (isSample(title)) await host.request("DELETE", `/api/v2/canvases/${encodeURIComponent(id)}`);
    }
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
