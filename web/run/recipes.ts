// Pipelines to start from: their steps in a row, each with the settings that differ from the
// defaults.

/** Recipe names a pipeline to start from. */
export type Recipe = "plain" | "headings" | "questions" | "summary" | "empty";

/** recipes lists them in the order in which they are offered. */
export const recipes: readonly Recipe[] = ["plain", "headings", "questions", "summary", "empty"];

type StepOf = [component: string, params: Record<string, unknown>];

const kinds = {
  pdf: { suffix: ["pdf"], output_format: "json", parse_method: "DeepDOC" },
  spreadsheet: { suffix: ["xls", "xlsx", "csv"], output_format: "html" },
  doc: { suffix: ["docx"], output_format: "json" },
  slides: { suffix: ["pptx"], output_format: "json" },
  "text&markdown": { suffix: ["md", "markdown", "txt"], output_format: "json" },
  html: { suffix: ["html", "htm"], output_format: "json" },
};
const read: StepOf = ["Parser", { setups: kinds }];
const byLength: StepOf = ["TokenChunker", { chunk_token_size: 512, delimiters: ["\n"] }];
const markdown = ["^#[^#]", "^##[^#]", "^###[^#]", "^####[^#]"];
const byHeadings: StepOf = ["TitleChunker", { hierarchy: 3, levels: [markdown] }];
const index: StepOf = ["Tokenizer", { search_method: ["full_text", "embedding"], fields: "text" }];

function ask(field: string, prompt: string): StepOf {
  return ["Extractor", { field_name: field, sys_prompt: prompt, prompts: "{TokenChunker:1@chunks}" }];
}

const steps: Record<Recipe, StepOf[]> = {
  plain: [read, byLength, index],
  headings: [read, byHeadings, index],
  questions: [read, byLength, ask("questions", "Write three questions that the text answers, one a line."), index],
  summary: [read, byLength, ask("summary", "Summarize the text in two sentences."), index],
  empty: [],
};

const apart = 340; // between the left sides of boxes

/** recipeText returns the document of a recipe. */
export function recipeText(recipe: Recipe): string {
  const row: [id: string, component: string, params: Record<string, unknown>][] = [
    ["File", "File", {}],
    ...steps[recipe].map(([component, params]): [string, string, Record<string, unknown>] => [
      `${component}:1`, component, params,
    ]),
  ];
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
  return JSON.stringify({ components: Object.fromEntries(components), graph: { nodes, edges }, globals: {}, path: [], history: [] });
}
