// Sample data: what is made, and that a failure leaves nothing behind.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { build } from "../canvas/model.ts";
import { open } from "../canvas/dsl.ts";
import type { Dataset, Datasets, StoredDocument } from "../run/datasets.ts";
import { type Host, HostError, type HostState } from "../run/host.ts";
import { addSample, findSample, removeSample, sampleCanvas, type Kept, type Made, type Recipe } from "../run/sample.ts";
import { files, sampleName } from "../run/sample-texts.ts";
import { Store } from "../run/store.ts";
import { specs } from "./specs.ts";

const recipe = JSON.parse(readFileSync(new URL("../run/sample.json", import.meta.url), "utf8")) as Recipe;

type Stored = Parameters<typeof addSample>[1];

// site is a host that parses each document as it arrives, but for those named.
function site(bad = ""): { host: Parameters<typeof addSample>[0]; datasets: Stored; kept: Kept; has(): string[] } {
  const sets = new Map<string, string>();
  const canvases = new Map<string, string>();
  const documents: StoredDocument[] = [];
  const state = { answers: "", scopes: ["edit"] } as unknown as HostState;
  let ids = 0;
  let made: Made[] = [];
  return {
    kept: { get: () => made, set: (all) => void (made = all) },
    has: () => [...sets.values(), ...canvases.values()],
    host: {
      state: new Store(state) as Host["state"],
      create: async (title: string) => {
        canvases.set(`c${++ids}`, title);
        return { id: `c${ids}`, rev: 1 };
      },
      request: (async (method: string, path: string) => {
        const id = path.split("/").at(-1) ?? "";
        const title = canvases.get(id);
        if (title === undefined) throw new HostError(404, "no such canvas");
        if (method === "DELETE") canvases.delete(id);
        return { id, title };
      }) as Host["request"],
    },
    datasets: {
      get: async (id) => {
        const name = sets.get(id);
        if (name === undefined) throw new HostError(404, "no such dataset");
        return { id, name, documents: documents.length } as Dataset;
      },
      create: async ({ name = "" }) => {
        sets.set(`d${++ids}`, name);
        return { id: `d${ids}`, name } as Dataset;
      },
      remove: async (id) => void sets.delete(id),
      upload: async (_id, file) => {
        const state = file.name === bad ? "failed" : "done";
        documents.push({ id: file.name, name: file.name, state, messages: "unreadable" } as unknown as StoredDocument);
        return documents.at(-1) as StoredDocument;
      },
      documents: async () => ({ items: documents, total: documents.length }),
      watch: (async (_id, signal, _changed, _idle, begun) => {
        begun?.();
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      }) as Datasets["watch"],
    },
  };
}

test("sample data are a dataset and a canvas, made by one act and gone in one act", async () => {
  const { host, datasets, kept, has } = site();
  const { signal } = new AbortController();
  await addSample(host, datasets, kept, recipe, "en", signal);
  assert.deepEqual(has(), [sampleName.en, sampleName.en]);
  await addSample(host, datasets, kept, recipe, "zh", signal);
  assert.equal(has().length, 4, "nothing is replaced unasked");
  const found = await findSample(host, datasets, kept);
  assert.deepEqual(found.map(({ name, documents, title }) => [name, documents, title]), [
    [sampleName.en, 6, sampleName.en], [sampleName.zh, 6, sampleName.zh],
  ]);
  await removeSample(host, datasets, kept, found);
  assert.deepEqual(has(), []);
  assert.deepEqual(kept.get(), []);
});

test("a person's own dataset and canvas of the same title are not the sample data", async () => {
  const { host, datasets, kept, has } = site();
  await datasets.create({ name: sampleName.en });
  const { id: mine } = await host.create(sampleName.en, "{}");
  assert.deepEqual(await findSample(host, datasets, kept), []);
  const canvas = await addSample(host, datasets, kept, recipe, "en", new AbortController().signal);
  assert.equal(has().length, 4);
  await removeSample(host, datasets, kept, await findSample(host, datasets, kept));
  assert.deepEqual(has(), [sampleName.en, sampleName.en]);
  assert.deepEqual(await host.request("GET", `/api/v2/canvases/${mine}`), { id: mine, title: sampleName.en });
  await assert.rejects(host.request("GET", `/api/v2/canvases/${canvas}`), { status: 404 });
});

test("what was deleted already is no obstacle, and a failing host leaves the rest for the next time", async () => {
  const { host, datasets, kept, has } = site();
  const canvas = await addSample(host, datasets, kept, recipe, "en", new AbortController().signal);
  const found = await findSample(host, datasets, kept);
  await host.request("DELETE", `/api/v2/canvases/${canvas}`);
  const down: Stored = { ...datasets, remove: () => Promise.reject(new HostError(500, "out of order")) };
  await assert.rejects(removeSample(host, down, kept, found), /out of order/);
  const [left] = await findSample(host, datasets, kept);
  assert.equal(left?.name, sampleName.en);
  assert.equal(left?.title, undefined);
  await removeSample(host, datasets, kept, [left]);
  assert.deepEqual(has(), []);
});

test("a page that is closed in the middle leaves a dataset that can be removed", async () => {
  const { host, datasets, kept, has } = site();
  const never: Stored = { ...datasets, upload: () => new Promise(() => undefined) };
  void addSample(host, never, kept, recipe, "en", new AbortController().signal);
  await new Promise(setImmediate);
  const found = await findSample(host, datasets, kept);
  assert.equal(found.length, 1);
  await removeSample(host, datasets, kept, found);
  assert.deepEqual(has(), []);
});

test("a document that cannot be parsed leaves nothing behind", async () => {
  const [first = ""] = Object.keys(files.en);
  const { host, datasets, kept, has } = site(first);
  await assert.rejects(addSample(host, datasets, kept, recipe, "en", new AbortController().signal), /unreadable/);
  assert.deepEqual(has(), []);
});

test("leaving ends it", async () => {
  const { host, datasets, kept, has } = site();
  const leave = new AbortController();
  const silent: Stored = { ...datasets, documents: async () => ({ items: [], total: 0 }) };
  const made = addSample(host, silent, kept, recipe, "en", leave.signal);
  setImmediate(() => leave.abort());
  await assert.rejects(made, { name: "AbortError" });
  assert.deepEqual(has(), []);
});

test("the canvas is sound in both languages, with and without a model", () => {
  for (const language of ["en", "zh"] as const) {
    for (const hasModel of [true, false]) {
      const { dsl } = open(JSON.stringify(sampleCanvas(recipe, "d", hasModel, language)));
      const model = build(dsl, specs);
      assert.equal(model.nodes.length, hasModel ? 4 : 3);
      assert.equal(model.edges.length, model.nodes.length - 1);
      assert.ok(model.nodes.every(({ spec }) => spec));
    }
  }
  assert.deepEqual(Object.keys(files.en).length, Object.keys(files.zh).length);
});
