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
  host: Asked, datasets: Stored, language: Language, signal: AbortSignal,
): Promise<string> {
  const dataset = await datasets.create({ name: sampleName[language], description: words[language].about });
  try {
    for (const [name, text] of Object.entries(files[language])) {
      await datasets.upload(dataset.id, new File([text], name, { type: "text/markdown" }), true, signal);
    }
    await parsed(datasets, dataset.id, Object.keys(files[language]).length, signal);
    const hasModel = host.state.get().answers !== "";
    const { id } = await host.create(sampleName[language], JSON.stringify(sampleCanvas(dataset.id, hasModel, language)));
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

/** sampleCanvas answers from a dataset: with a model by its words, else with the passages. */
export function sampleCanvas(dataset: string, hasModel: boolean, language: Language): object {
  const { greeting, questions, prompt, found, nothing, search, answer, reply } = words[language];
  const passages = "{Retrieval:Sample@formalized_content}";
  const steps: [id: string, component: string, title: string, params: object][] = [
    ["begin", "Begin", "Start", { mode: "conversational", prologue: greeting, questions }],
    ["Retrieval:Sample", "Retrieval", search, {
      query: "{sys.query}", dataset_ids: [dataset], top_n: 3, empty_response: nothing,
    }],
    ...(hasModel ? [["LLM:Sample", "LLM", answer, {
      llm_id: "", sys_prompt: `${prompt}\n\n${passages}`, prompts: [{ role: "user", content: "{sys.query}" }], cite: true,
    }] as [string, string, string, object]] : []),
    ["Message:Sample", "Message", reply, {
      content: [hasModel ? "{LLM:Sample@content}" : `${found}\n\n${passages}`],
    }],
  ];
  const ids = steps.map(([id]) => id);
  const components = Object.fromEntries(steps.map(([id, component_name, , params], i) => [id, {
    obj: { component_name, params }, upstream: ids.slice(Math.max(0, i - 1), i), downstream: ids.slice(i + 1, i + 2),
  }]));
  const nodes = steps.map(([id, label, name, form], i) => ({
    id, type: label === "Begin" ? "beginNode" : "ragNode", position: { x: i * 280, y: 0 }, data: { label, name, form },
  }));
  const edges = ids.slice(1).map((target, i) => ({
    id: `edge-${i}`, source: ids[i], target, sourceHandle: "start", targetHandle: "end",
  }));
  return { components, graph: { nodes, edges }, globals: {}, path: [], history: [], retrieval: [] };
}
