import type { ComponentSpec, Schema } from "../../src/protocol.ts";

const text: Schema = { type: "string", format: "text" };
const ref: Schema = { type: "string", format: "reference" };
const flag: Schema = { type: "boolean" };

const model: Record<string, Schema> = {
  llm_id: { type: "string", description: "model that answers; empty means the default" },
  sys_prompt: { ...text, description: "instructions to the model" },
  prompts: {
    type: "array",
    items: { type: "object", properties: { role: { type: "string", enum: ["user", "assistant"] }, content: text } },
  },
  temperature: { type: "number", minimum: 0, maximum: 1, description: "how much chance plays a part" },
  temperatureEnabled: flag,
  cite: { ...flag, default: true, description: "cite retrieved passages" },
  message_history_window_size: { type: "integer", minimum: 0, default: 13 },
};

function spec(
  name: string,
  description: string,
  properties: Record<string, Schema>,
  outputs: string[] = [],
): ComponentSpec {
  return {
    name,
    description,
    category: "tool",
    group: "plugins",
    icon: "box",
    outputs: outputs.map((output) => ({ name: output, type: "any" })),
    params: { type: "object", title: name, description, properties, additionalProperties: true },
  };
}

/** specs describe the components of the toy. */
export const specs: ComponentSpec[] = [
  spec("Begin", "where a run begins, with the form it asks first", {
    mode: { type: "string", enum: ["conversational", "task", "Webhook"], default: "conversational" },
    prologue: { ...text, description: "greeting shown before the first question" },
    inputs: { type: "object", additionalProperties: true },
  }),
  spec("Message", "says something to the person", {
    content: { type: "array", items: text, description: "one of these is said" },
    stream: { ...flag, default: true },
    output_format: { type: "string", enum: ["markdown", "html", "pdf", "docx", "xlsx"] },
  }, ["content"]),
  spec("LLM", "asks a model", model, ["content", "structured"]),
  spec("Agent", "a model that uses tools", {
    ...model, tools: { type: "array", items: { type: "object" } },
      max_rounds: { type: "integer", minimum: 0, default: 5 },
  }, ["content", "structured", "use_tools"]),
  spec("Categorize", "sorts a question into one of several branches", {
    llm_id: model["llm_id"] as Schema, query: ref, category_description: { type: "object", additionalProperties: true },
  }, ["category_name"]),
  spec("Switch", "takes a branch by conditions", {
    conditions: { type: "array", items: { type: "object" } }, end_cpn_ids: { type: "array", items: { type: "string" } },
  }, ["next"]),
  spec("Iteration", "does its body once per item of a list", { items_ref: ref }),
  spec("IterationItem", "the item of the present turn", {}, ["item", "index"]),
  spec("Loop", "repeats its body until a condition holds", {
    loop_variables: { type: "array", items: { type: "object" } },
    loop_termination_condition: { type: "array", items: { type: "object" } },
    logical_operator: { type: "string", enum: ["and", "or"], default: "and" },
    maximum_loop_count: { type: "integer", minimum: 0, default: 0 },
  }),
  spec("LoopItem", "the start of a turn", {}),
  spec("ExitLoop", "leaves the loop", {}),
  spec("UserFillUp", "asks a person",
    { enable_tips: { ...flag, default: true }, tips: text, inputs: { type: "object" } }),
  spec("VariableAssigner", "changes variables", { variables: { type: "array", items: { type: "object" } } }),
  spec("VariableAggregator", "takes the first value that is there",
    { groups: { type: "array", items: { type: "object" } } }),
  spec("ListOperations", "works on a list", {
    query: ref, operations: { type: "string",
      enum: ["topN", "head", "tail", "nth", "filter", "sort", "drop_duplicates"] }, n: { type: "integer" },
    sort_method: { type: "string", enum: ["asc", "desc"], default: "asc" },
  }, ["result", "first", "last"]),
  spec("DataOperations", "works on objects", {
    query: { type: "array", items: ref },
    operations: { type: "string", enum: ["select_keys", "literal_eval", "combine", "filter_values", "append_or_update",
      "remove_keys", "rename_keys"] },
  }, ["result"]),
  spec("StringTransform", "splits or merges text", {
    method: { type: "string", enum: ["split", "merge"] }, delimiters: { type: "array", items: { type: "string" } },
      split_ref: ref, script: text,
  }, ["result"]),
  spec("Invoke", "sends a request", {
    url: { type: "string" }, method: { type: "string", enum: ["get", "post", "put"] }, headers: { type: "string" },
    variables: { type: "array", items: { type: "object" } }, timeout: { type: "integer", minimum: 1, default: 60 },
      clean_html: flag,
  }, ["result"]),
  spec("Retrieval", "searches datasets", {
    query: ref, kb_ids: { type: "array", items: { type: "string" } },
      top_n: { type: "integer", minimum: 1, default: 8 },
    similarity_threshold: { type: "number", minimum: 0, maximum: 1, default: 0.2 }, empty_response: { type: "string" },
  }, ["formalized_content", "json"]),
  spec("CodeExec", "runs a script", {
    lang: { type: "string", enum: ["python", "javascript"] }, script: { type: "string", format: "code" },
      arguments: { type: "object", additionalProperties: true },
  }, ["result"]),
];
