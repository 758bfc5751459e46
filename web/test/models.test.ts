// Models of a host in the page: which one answers, and the choice for those that it lacks.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dsl } from "../canvas/dsl.ts";
import { Draft } from "../canvas/edit/draft.ts";
import { modelsOf, renameModels } from "../canvas/edit/models.ts";
import { preferHost } from "../run/default-model.ts";
import type { HostState } from "../run/host.ts";
import { firstChoice } from "../run/providers.ts";
import { Store } from "../run/store.ts";

const state = (part: Partial<HostState>): HostState => ({
  status: "open", name: "", canvases: [], total: 0, models: [], answers: "", scopes: [], ...part,
});

test("the host's model answers once there is one, until the person chooses", () => {
  const choice = new Store(firstChoice);
  const host = new Store(state({ status: "unknown" }));
  preferHost(choice, host);
  host.set(state({}));
  assert.equal(choice.get().kind, "offline", "a host without a model");
  const models = [{ id: "small@V", provider: "V", default: true }];
  host.set(state({ models, answers: "small@V" }));
  assert.deepEqual([choice.get().kind, choice.get().tools], ["host", true]);
  const before = choice.get();
  host.set(state({ models, answers: "small@V", name: "Ann" }));
  assert.equal(choice.get(), before, "nothing changed");
  host.set(state({ models: [{ id: "small@V", provider: "V", tools: false }], answers: "small@V" }));
  assert.equal(choice.get().tools, false);
  host.set(state({ status: "asking" }));
  assert.equal(choice.get().kind, "host", "it still connects");
  host.set(state({ status: "closed" }));
  assert.equal(choice.get().kind, "offline");
  choice.set({ ...choice.get(), kind: "scripted" });
  host.set(state({ models, answers: "small@V" }));
  assert.equal(choice.get().kind, "scripted", "the person's own choice stays");
});

test("models are replaced in steps, tools, settings and the graph, and nothing else is", () => {
  const dsl = {
    components: {
      a: {
        obj: {
          component_name: "Agent",
          params: {
            llm_id: "old@X",
            prompt: "old@X",
            tools: [{ params: { llm_id: "old@X" } }, { params: { llm_id: "{b@m}" } }],
          },
        },
        downstream: [],
        upstream: [],
      },
      b: { obj: { component_name: "LLM", params: { llm_id: "" } }, downstream: [], upstream: [] },
    },
    graph: { nodes: [{ id: "a", data: { form: { llm_id: "old@X" } } }], edges: [] },
    settings: { fallback_models: ["old@X", "spare@X", 7] },
  } as unknown as Dsl;
  assert.deepEqual([...modelsOf(dsl)], [["old@X", ["a"]], ["spare@X", []]]);
  const draft = new Draft(dsl);
  renameModels(draft, new Map([["old@X", "new@Y"], ["", "no"]]));
  const text = JSON.stringify(draft.dsl);
  const renamed = JSON.stringify(dsl).replaceAll('"llm_id":"old@X"', '"llm_id":"new@Y"');
  assert.equal(text, renamed.replace('["old@X"', '["new@Y"'));
  assert.equal(draft.changes.length, 4);
});
