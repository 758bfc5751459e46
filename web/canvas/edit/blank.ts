// The initial canvas.

import type { Specs } from "../drawing.ts";
import { dict } from "../dsl.ts";
import { Draft } from "./draft.ts";
import { addNode } from "./nodes.ts";

/** blank returns the text of a canvas that has a start and nothing else. */
export function blank(specs: Specs, title: string): string {
  return JSON.stringify({ title, dsl: empty(specs).dsl });
}

/** empty returns the draft of a canvas that has a start and nothing else. */
export function empty(specs: Specs): Draft {
  const globals = {
    "sys.query": "",
    "sys.user_id": "",
    "sys.conversation_turns": 0,
    "sys.files": [],
    "sys.history": [],
  };
  const draft = new Draft({
    components: dict({}),
    globals,
    variables: {},
    graph: { nodes: [], edges: [] },
    settings: { scheduling: "eager" },
    history: [],
    memory: [],
    path: [],
    retrieval: [],
  });
  const start = [...specs.values()].find(({ role, pipeline }) => role === "start" && !pipeline);
  if (start) addNode(draft, specs, start.name, start.name.toLowerCase(), { x: 0, y: 0 });
  return draft;
}
