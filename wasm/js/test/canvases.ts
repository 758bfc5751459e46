// Small canvases for tests.

export type Params = Record<string, unknown>;
export type Dsl = {
  components: Record<
    string,
    { obj: { component_name: string; params: Params }; downstream: string[]; upstream: string[] }
  >;
};

/** chain connects nodes in a row; the kind is the part of an id before the colon. */
export function chain(...nodes: [id: string, params?: Params][]): Dsl {
  const components = Object.fromEntries(
    nodes.map(([id, params = {}], i) => [
      id,
      {
        obj: { component_name: id === "begin" ? "Begin" : (id.split(":")[0] as string), params },
        downstream: nodes[i + 1] ? [nodes[i + 1]?.[0] as string] : [],
        upstream: nodes[i - 1] ? [nodes[i - 1]?.[0] as string] : [],
      },
    ]),
  );
  return { components };
}

/** chat calls a model and sends its answer. */
export const chat = chain(
  ["begin"],
  ["LLM:A", { llm_id: "m", prompts: "{sys.query}" }],
  ["Message:A", { content: ["It says: {LLM:A@content}"] }],
);

/** form pauses for a form with one field. */
export const form = chain(
  ["begin"],
  ["UserFillUp:A", { enable_tips: true, tips: "name?", inputs: { name: { name: "name", type: "line" } } }],
  ["Message:A", { content: ["Hello {UserFillUp:A@name}"] }],
);

/** agent has one tool that the host offers. */
export const agent = chain(
  ["begin"],
  [
    "Agent:A",
    {
      llm_id: "m",
      sys_prompt: "You help.",
      prompts: [{ role: "user", content: "{sys.query}" }],
      max_rounds: 3,
      cite: false,
      tools: [{ component_name: "TavilySearch", name: "Search", params: {} }],
    },
  ],
  ["Message:A", { content: ["{Agent:A@content}"] }],
);

/** long returns a chain of Message nodes. */
export function long(nodes: number): Dsl {
  return chain(
    ["begin"],
    ...Array.from({ length: nodes }, (_, i): [string, Params] => [
      `Message:${i}`,
      { content: [`this is node ${i} of a long chain, it says {sys.query}`] },
    ]),
  );
}

/** circle never ends on its own. */
export function circle(): Dsl {
  const dsl = structuredClone(chat);
  dsl.components["Message:A"]?.downstream.push("LLM:A");
  return dsl;
}
