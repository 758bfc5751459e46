// Ids of nodes whose component has a new name.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunOptions } from "@easel/engine";
import { dict, open } from "../canvas/dsl.ts";
import { RunIds } from "../canvas/earlier.ts";
import { specs } from "./specs.ts";

const node = (name: string): object => ({ obj: { component_name: name, params: {} }, downstream: [], upstream: [] });

test("ids with an earlier name of a component are converted for runs, and back", () => {
  const { dsl } = open(JSON.stringify({
    components: {
      File: node("File"), "Splitter:0": node("Splitter"), "HierarchicalMerger:Old": node("HierarchicalMerger"),
      Splitter: node("Splitter"), "TokenChunker:1": node("TokenChunker"), "Generate:2": node("Generate"),
    },
  }), "");
  const ids = new RunIds(dsl, specs);
  const runs = ["File", "TokenChunker:0", "TitleChunker:Old", "Splitter", "TokenChunker:1", "Generate:2"];
  assert.deepEqual(Object.keys(dsl.components).map((id) => ids.run(id)), runs);
  assert.deepEqual(runs.map((id) => ids.document(id)), Object.keys(dsl.components));
  const event = { event: "node_started", data: { component_id: "TokenChunker:0" } };
  assert.deepEqual(ids.event(event), { event: "node_started", data: { component_id: "Splitter:0" } });
  assert.deepEqual(ids.event({ event: "workflow_finished" }), { event: "workflow_finished" });
  const outputs = { result: 1 };
  const options: RunOptions = {
    pins: { "Splitter:0": outputs }, from: "Splitter:0", until: "HierarchicalMerger:Old",
    base: { outputs: { "Splitter:0": outputs }, variables: {} }, debug: { node: "Splitter:0", params: {} },
  };
  assert.deepEqual(ids.options(options), {
    pins: dict({ "TokenChunker:0": outputs }), from: "TokenChunker:0", until: "TitleChunker:Old",
    base: { outputs: dict({ "TokenChunker:0": outputs }), variables: {} },
    debug: { node: "TokenChunker:0", params: {} },
  });
});
