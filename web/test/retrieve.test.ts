// The place of a canvas's searches: the page, the host, or neither; and its warnings.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Found } from "@easel/engine";
import { Datasets, type Dataset, type Search } from "../run/datasets.ts";
import { HostError, type HostState } from "../run/host.ts";
import { everywhere } from "../run/retrieve.ts";
import { Store } from "../run/store.ts";

const context = { signal: new AbortController().signal };
const local = ({ datasets }: { datasets?: string[] }): Found => ({
  chunks: (datasets ?? []).includes("tea") ? [{ id: "l", content: "local", similarity: 0.4 } as never] : [],
});

// site returns a host with the dataset "Shop" of id ds1, and its searches.
function site(status: HostState["status"]): {
  host: { state: Store<HostState> };
  datasets: Pick<Datasets, "find" | "search">;
  sent: Search[];
} {
  const sent: Search[] = [];
  const shop = { id: "ds1", name: "Shop" } as Dataset;
  const hit = {
    id: "h",
    content: "remote",
    document: "d",
    document_name: "a.md",
    dataset: "ds1",
    similarity: 0.7,
    words: 0.9,
    vector: 0.1,
    enabled: true,
    edited: false,
  };
  return {
    host: {
      state: new Store<HostState>({
        status, name: "", canvases: [], total: 0, models: [], answers: "", scopes: [],
      }),
    },
    sent,
    datasets: {
      find: (name) => Promise.resolve(name === "ds1" || name === "Shop" ? shop : undefined),
      search: (query) => {
        sent.push(query);
        return Promise.resolve({ hits: [hit], total: 1, documents: [], took_ms: 1 });
      },
    },
  };
}

test("datasets of the host are searched for a signed-in user, with the settings of the node", async () => {
  const { host, datasets, sent } = site("open");
  const search = everywhere(local, new Set(["tea"]), host, datasets, () => true);
  const found = await search(
    {
      query: "q",
      datasets: ["tea", "Shop", "gone"],
      top_n: 3,
      top_k: 50,
      similarity_threshold: 0.3,
      keyword_weight: 0.6,
      filter: { logic: "or", manual: [{ key: "year", op: "=", value: 2026 }] },
    },
    context,
  );
  assert.deepEqual(
    found.chunks.map(({ content, similarity, term_similarity: words, vector_similarity: vector }) => [
      content,
      similarity,
      words,
      vector,
    ]),
    [
      ["remote", 0.7, 0.9, 0.1],
      ["local", 0.4, undefined, undefined],
    ],
  );
  assert.deepEqual([found.absent, found.relayed], [["gone"], ["Shop"]]);
  assert.deepEqual(sent, [
    {
      datasets: ["ds1"],
      question: "q",
      page_size: 3,
      top_k: 50,
      threshold: 0.3,
      vector_weight: 0.4,
      filter: { or: true, conditions: [{ key: "year", operator: "=", value: "2026" }] },
    },
  ]);
  assert.deepEqual(found.doc_aggs, [{ doc_name: "a.md", doc_id: "d", count: 1 }]);
});

for (const [why, status, may] of [
  ["the person is not signed in", "closed", true],
  ["the canvas is a stranger's", "open", false],
] as const) {
  test(`the host is not searched when ${why}`, async () => {
    const { host, datasets, sent } = site(status);
    const found = await everywhere(
      local,
      new Set(["tea"]),
      host,
      datasets,
      () => may,
    )({ query: "q", datasets: ["ds1", "tea"] }, context);
    assert.deepEqual([found.absent, found.relayed, sent.length, found.chunks.length], [["ds1"], [], 0, 1]);
  });
}

test("a dataset is found by its id, else by its name; other failures are errors", async () => {
  const paths: string[] = [];
  const answers: Record<string, unknown> = {
    "/api/v2/datasets/ds1": { id: "ds1" },
    "/api/v2/datasets?name=Shop&page_size=1": { items: [{ id: "ds1" }], total: 1 },
    "/api/v2/datasets?name=x&page_size=1": { items: [], total: 0 },
  };
  const datasets = new Datasets({
    ask: (_method, path) => {
      paths.push(path);
      if (path.endsWith("/down")) return Promise.reject(new HostError(500, "down"));
      return answers[path]
        ? Promise.resolve(Response.json(answers[path]))
        : Promise.reject(new HostError(404, "no dataset"));
    },
  });
  assert.equal((await datasets.find("ds1"))?.id, "ds1");
  assert.equal((await datasets.find("Shop"))?.id, "ds1");
  assert.equal(await datasets.find("x"), undefined);
  await assert.rejects(datasets.find("down"), /down/);
});

test("a search looks up a bounded number of datasets, each once", async () => {
  const { host, datasets, sent } = site("open");
  let asked = 0;
  const counted = { ...datasets, find: (name: string) => (asked++, datasets.find(name)) };
  const search = everywhere(local, new Set(["tea"]), host, counted, () => true);
  await search({ query: "q", datasets: Array.from({ length: 500 }, () => "Shop") }, context);
  assert.deepEqual([asked, sent.length], [1, 1]);
  const many = Array.from({ length: 5000 }, (_, i) => `d${i}`);
  await assert.rejects(async () => search({ query: "q", datasets: many }, context), /5000 datasets; at most 100/);
  assert.equal(asked, 1);
});
