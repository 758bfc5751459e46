// A run as a test case of `easel test`: the canvas, the query, the answers of the model and the
// expectations.

import { isWire, type RunEvent } from "@easel/engine";
import { replay, type RunState } from "@easel/engine/state";

/** Recorded is a run that becomes a case. */
export interface Recorded {
  name: string;
  dsl: unknown;
  events: RunEvent[];
  /** asks reports whether a component asks a language model. */
  asks(component: string): boolean;
}

/** CaseError is the reason why a run cannot be a case. */
export class CaseError extends Error {
  readonly code: "tools" | "models" | "calls" | "part" | "pinned" | "canceled";
  /** The kind of the call that a case cannot have. */
  readonly detail: string;

  constructor(code: CaseError["code"], detail = "") {
    super(`the run cannot be a case: ${code} ${detail}`.trimEnd());
    this.code = code;
    this.detail = detail;
  }
}

/** caseOf writes the case; it throws a CaseError for a run whose answers cannot be played again. */
export function caseOf({ name, dsl, events, asks }: Recorded): string {
  const state = replay(events);
  if (state.steps.some(({ tools }) => tools.length > 0)) throw new CaseError("tools");
  const answers = answersOf(state, asks);
  const query = queryOf(state);
  const inputs = state.inputs && Object.keys(state.inputs).length > 0 ? { inputs: state.inputs } : {};
  const run = {
    kwargs: { query, ...inputs },
    ...(answers.length > 0
      ? { llm_script: answers.map((text) => ({ text })), llm_calls: answers.map(() => ({})) }
      : {}),
    ...found(state),
    events: events.filter(isWire).map(({ event, data }) => ({ event, data: shown(data) })),
  };
  return JSON.stringify(
    { name, about: `recorded from a run on a host: ${query}`, expect: "recorded", dsl, runs: [run] },
    null,
    1,
  );
}

// answersOf returns the answers of the model in their order. A host does not list them; a node that
// made one call gave its answer as its output.
function answersOf(state: RunState, asks: (component: string) => boolean): string[] {
  const answers = state.steps.flatMap(({ type, models, outputs }) => {
    if (models.length > 0) return models.map(({ text = "" }) => text);
    if (!asks(type)) return [];
    const text = outputs?.["content"] ?? outputs?.["category_name"];
    return typeof text === "string" ? [text] : [];
  });
  if (answers.length !== (state.usage?.calls ?? answers.length)) throw new CaseError("models");
  return answers;
}

// queryOf returns the query, as far as the events contain it.
function queryOf({ steps, variables }: RunState): string {
  const said = [variables["sys.query"], ...steps.map(({ inputs }) => inputs?.["sys.query"])].find(
    (each) => typeof each === "string",
  );
  return typeof said === "string" ? said : "";
}

// found returns the results of searches, for a case without the datasets.
function found(state: RunState): { retrieval?: Record<string, unknown> } {
  const chunks = state.steps.flatMap(({ outputs }) =>
    Array.isArray(outputs?.["json"]) && outputs["formalized_content"] !== undefined ? [outputs["json"]] : [],
  );
  return chunks.length > 0 ? { retrieval: { "*": { chunks: chunks.flat(), doc_aggs: [] } } } : {};
}

// shown leaves out hidden members and words of errors, which may change.
function shown(data: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data)
      .filter(([name]) => !name.startsWith("_") && name !== "usage")
      .map(([name, value]) => {
        if (name === "error" && value) return [name, { $contains: [] }];
        const bare =
          (name === "outputs" || name === "inputs") &&
          typeof value === "object" &&
          value !== null &&
          !Array.isArray(value);
        return [
          name,
          bare ? Object.fromEntries(Object.entries(value as object).filter(([key]) => !key.startsWith("_"))) : value,
        ];
      }),
  );
}
