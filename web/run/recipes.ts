// Pipelines to start from: their steps in a row, each with the settings that differ from the
// defaults.

/** Recipe names a pipeline to start from. */
export type Recipe = "plain" | "headings" | "questions" | "summary" | "empty";

/** recipes lists them in the order in which they are offered. */
export const recipes: readonly Recipe[] = ["plain", "headings", "questions", "summary", "empty"];

const apart = 340; // between the left sides of boxes

/** StepOf is a step of a recipe. */
export interface StepOf {
  component: string;
  params: object;
}

/** pipelineText returns the document of a pipeline with steps in a row. */
export function pipelineText(steps: readonly StepOf[]): string {
  const row = steps.map(({ component, params }, i): [id: string, component: string, params: object] => [
    i === 0 ? component : `${component}:1`, component, params,
  ]);
  const beside = (at: number): string[] => row.slice(at, at + 1).map(([id]) => id);
  const components = row.map(([id, component_name, params], i) => [
    id,
    { obj: { component_name, params }, downstream: beside(i + 1), upstream: i > 0 ? beside(i - 1) : [] },
  ]);
  const nodes = row.map(([id, component, params], i) => ({
    id,
    type: "ragNode",
    position: { x: i * apart, y: 0 },
    data: { label: component, name: component, form: params },
  }));
  const edges = row.slice(1).map(([target], i) => ({
    id: `edge-${i}`, source: row[i]?.[0], target, sourceHandle: "start", targetHandle: "end",
  }));
  const graph = { nodes, edges };
  return JSON.stringify({ components: Object.fromEntries(components), graph, globals: {}, path: [], history: [] });
}
