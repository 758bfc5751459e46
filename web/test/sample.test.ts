// Sample data: what is made, and that a failure leaves nothing behind.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { build } from "../canvas/model.ts";
import { open } from "../canvas/dsl.ts";
import type { Dataset, Datasets, StoredDocument } from "../run/datasets.ts";
import { Host, type HostState } from "../run/host.ts";
import { addSample, isSample, removeSample, sampleCanvas, type Recipe } from "../run/sample.ts";
import { files, sampleName } from "../run/sample-texts.ts";
import { Store } from "../run/store.ts";
import { specs } from "./specs.ts";

const recipe = JSON.parse(readFileSync(new URL("../run/sample.json", import.meta.url), "utf8")) as Recipe;

type Made = Parameters<typeof addSample>[1];

// site is a host that parses each document as it arrives, but for those named.
function site(bad = ""): { host: Parameters<typeof addSample>[0]; datasets: Made; has(): string[] } {
  const sets = new Map<string, string>();
  const canvases = new Map<string, string>();
  const documents: StoredDocument[] = [];
  const state = { answers: "", scopes: ["edit"] } as unknown as HostState;
  let ids = 0;
  return {
    has: () => [...sets.values(), ...canvases.values()],
    host: {
      state: new Store(state) as Host["state"],
      create: async (title: string) => {
        canvases.set(`c${++ids}`, title);
        return { id: `c${ids}`, rev: 1 };
      },
      request: (async (method: string, path: string) => {
        if (method === "GET") return { items: [...canvases].map(([id, title]) => ({ id, title })) };
        canvases.delete(path.split("/").at(-1) ?? "");
        return undefined;
      }) as Host["request"],
    },
    datasets: {
      list: async () => ({ items: [...sets].map(([id, name]) => ({ id, name }) as Dataset), total: sets.size }),
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
  const { host, datasets, has } = site();
  const { signal } = new AbortController();
  await addSample(host, datasets, recipe, "en", signal);
  assert.deepEqual(has(), [sampleName.en, sampleName.en]);
  await addSample(host, datasets, recipe, "zh", signal);
  assert.equal(has().length, 4, "nothing is replaced unasked");
  await removeSample(host, datasets);
  assert.deepEqual(has(), []);
});

test("a document that cannot be parsed leaves nothing behind", async () => {
  const [first = ""] = Object.keys(files.en);
  const { host, datasets, has } = site(first);
  await assert.rejects(addSample(host, datasets, recipe, "en", new AbortController().signal), /unreadable/);
  assert.deepEqual(has(), []);
});

test("leaving ends it", async () => {
  const { host, datasets, has } = site();
  const leave = new AbortController();
  const silent: Made = { ...datasets, documents: async () => ({ items: [], total: 0 }) };
  const made = addSample(host, silent, recipe, "en", leave.signal);
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
  assert.ok(isSample(sampleName.zh) && !isSample("Outdoor shop"));
  assert.deepEqual(Object.keys(files.en).length, Object.keys(files.zh).length);
});
