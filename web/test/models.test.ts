// Models of a host in the page: which one answers, and the choice for those that it lacks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { build } from "../canvas/model.ts";
import type { Dsl } from "../canvas/dsl.ts";
import { Draft } from "../canvas/edit/draft.ts";
import { resourcesOf, settle } from "../canvas/edit/resources.ts";
import { preferHost } from "../run/default-model.ts";
import type { HostState } from "../run/host.ts";
import { firstChoice } from "../run/providers.ts";
import { Store } from "../run/store.ts";
import { specs } from "./specs.ts";

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
  assert.deepEqual([...resourcesOf(dsl).model], [["old@X", ["a"]], ["spare@X", []]]);
  const draft = new Draft(dsl);
  settle(draft, specs, build(dsl, specs), { model: new Map([["old@X", "new@Y"], ["", "no"]]) });
  const text = JSON.stringify(draft.dsl);
  const renamed = JSON.stringify(dsl).replaceAll('"llm_id":"old@X"', '"llm_id":"new@Y"');
  assert.equal(text, renamed.replace('["old@X"', '["new@Y"'));
  assert.equal(draft.changes.length, 4);
});

test("datasets, servers, secrets and plugins are found, replaced and removed in steps and tools", () => {
  const step = (component_name: string, params: object, downstream: string[] = [], upstream: string[] = []): object =>
    ({ obj: { component_name, params }, downstream, upstream });
  const agent = {
    tools: [
      { component_name: "plugin:mail@1", name: "mail", params: {} },
      { component_name: "Retrieval", name: "search", params: { kb_ids: ["d1", "{x@y}"] } },
    ],
    mcp: [{ mcp_id: "m1", tools: {} }, { mcp_id: "m2" }],
    custom_header: { Authorization: "Bearer {{secret:KEY}}" },
  };
  const dsl = {
    components: {
      begin: step("Begin", {}, ["R"]),
      R: step("Retrieval", { dataset_ids: ["d1", "d2", "d3"] }, ["P"], ["begin"]),
      P: step("plugin:mail@1", { to: "{{ secret:KEY }}" }, ["A"], ["R"]),
      A: step("Agent", agent, [], ["P"]),
    },
    graph: {
      nodes: ["begin", "R", "P", "A"].map((id) => ({ id, data: { label: id === "P" ? "plugin:mail@1" : id } })),
      edges: [],
    },
  } as unknown as Dsl;
  const lists = Object.entries(resourcesOf(dsl)).map(([kind, map]) => [kind, [...map.keys()].join()]);
  assert.deepEqual(Object.fromEntries(lists), {
    model: "", dataset: "d1,d2,d3", server: "m1,m2", secret: "KEY", component: "Begin,Retrieval,plugin:mail@1,Agent",
  });
  const made = (choices: Parameters<typeof settle>[3]): Dsl => {
    const draft = new Draft(dsl);
    settle(draft, specs, build(dsl, specs), choices);
    return draft.dsl;
  };

  const other = made({
    dataset: new Map([["d1", "d9"], ["d2", "d3"]]), server: new Map([["m1", "m9"], ["m2", ""]]),
    component: new Map([["plugin:mail@1", "plugin:post@2"]]),
  });
  const paramsOf = (of: Dsl, id: string): Record<string, unknown> => of.components[id]!.obj.params;
  assert.deepEqual(paramsOf(other, "R")["dataset_ids"], ["d9", "d3"]);
  assert.deepEqual(paramsOf(other, "A")["mcp"], [{ mcp_id: "m9", tools: {} }]);
  const [mail, search] = paramsOf(other, "A")["tools"] as { component_name: string; params: object }[];
  assert.equal(mail?.component_name, "plugin:post@2");
  assert.deepEqual(search?.params, { kb_ids: ["d9", "{x@y}"] });
  assert.equal(other.components["P"]?.obj.component_name, "plugin:post@2");
  assert.match(JSON.stringify(other.graph), /"P","data":\{"label":"plugin:post@2"/);

  const without = made({ component: new Map([["plugin:mail@1", ""]]), dataset: new Map([["d1", ""]]) });
  assert.deepEqual(Object.keys(without.components), ["begin", "R", "A"]);
  assert.deepEqual(without.components["R"]?.downstream, ["A"], "the steps around it are connected");
  assert.deepEqual(paramsOf(without, "R")["dataset_ids"], ["d2", "d3"]);
  assert.equal((paramsOf(without, "A")["tools"] as unknown[]).length, 1);
});
