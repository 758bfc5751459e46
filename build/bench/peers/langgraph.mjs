// Runs a graph of tasks on LangGraph and prints how many seconds it took.

import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

setMaxListeners(0); // LangGraph adds one for each task, and Node warns from 11 on
const { unit_ms: unit, tasks } = JSON.parse(readFileSync(0, "utf8"));
const State = Annotation.Root({ done: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) });
const graph = new StateGraph(State);
for (const { id, delay } of tasks) {
  graph.addNode(id, async () => {
    await sleep(delay * unit);
    return { done: [id] };
  });
}
for (const { id, after } of tasks) {
  if (!after?.length) graph.addEdge(START, id);
  else if (after.length === 1) graph.addEdge(after[0], id);
  else graph.addEdge(after, id); // waits for all
}
graph.addNode("join", () => ({ done: ["join"] }));
graph.addEdge(tasks.map(({ id }) => id).filter((id) => !tasks.some(({ after }) => after?.includes(id))), "join");
graph.addEdge("join", END);
const app = graph.compile();
const began = performance.now();
const { done } = await app.invoke({ done: [] });
const took = (performance.now() - began) / 1000;
if (done.length !== tasks.length + 1) throw new Error(`ran ${done.join(", ")}`);
console.log(took);
