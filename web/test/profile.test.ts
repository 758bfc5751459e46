// The profile of a run, with the cases of the command `easel run --profile`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { RunEvent } from "@easel/engine";
import type { CanvasModel } from "../canvas/drawing.ts";
import { graphOf, profileOf, type Graph, type Profile } from "../run/profile.ts";

interface Case {
  name: string;
  graph: Graph;
  events: RunEvent[];
  profile: Profile;
}

const cases = JSON.parse(
  readFileSync(new URL("../../host/internal/cli/profile/testdata/cases.json", import.meta.url), "utf8"),
) as Case[];

for (const { name, graph, events, profile } of cases) {
  test(name, () => {
    const found = profileOf(events, graph);
    if (profile.path === null) assert.equal(found, undefined);
    else assert.deepEqual(found, profile);
  });
}

test("a node depends on nodes with an edge to it, and on nodes in its params", () => {
  const node = (id: string, params: object, parent?: string): unknown => ({ id, params, parent });
  const nodes = [
    node("begin", {}), node("LLM:A", { text: "{begin@q} {sys.query}" }),
    node("M", { text: ["{LLM:A@x}", "{No:Node@x}"] }, "LLM:A"),
  ];
  const edges = [{ source: "begin", target: "M", role: "flow" }, { source: "LLM:A", target: "begin", role: "error" }];
  const byId = new Map((nodes as { id: string }[]).map((each) => [each.id, each]));
  const model = { nodes, edges, byId } as unknown as CanvasModel;
  assert.deepEqual(graphOf(model), {
    begin: { parent: undefined, needs: [] },
    "LLM:A": { parent: undefined, needs: ["begin"] },
    M: { parent: "LLM:A", needs: ["begin", "LLM:A"] },
  });
});
