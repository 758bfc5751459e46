// The state of a reader of events: one function from a state and an event to the next
// state. The page, the replay of old runs and the tests all use it, so they cannot
// differ. States are never changed in place; an old one stays valid, which makes
// stepping back through a run a look-up.

import type { Attachment, FormField, ModelMessage, Outputs, Reference, RunEvent } from "./events.ts";
import { canceledText, type Status, type Usage } from "./generated.ts";

export { canceledText };
export type { Status };

/** Step is one execution of one node. */
export interface Step {
  /** Index in RunState.steps. */
  index: number;
  /** Number of the execution of its node, from 1. */
  run: number;
  node: string;
  /** In a body that runs for several elements at once: the index, of the outer body first. */
  items?: number[];
  name: string;
  type: string;
  status: Status;
  thoughts: string;
  /** Unix seconds. */
  startedAt: number;
  /** Seconds, once finished. */
  elapsed?: number;
  inputs?: Outputs;
  outputs?: Outputs;
  error?: string;
  tools: ToolUse[];
  models: ModelUse[];
  /** Its progress. */
  progress?: { pct?: number; note?: string };
  usage?: Usage;
}

/** ToolUse is one call of a tool by an agent. */
export interface ToolUse {
  name: string;
  /** Agents on the path, if it was called inside another tool. */
  path?: unknown;
  arguments: unknown;
  result?: unknown;
  error?: string;
  elapsed?: number;
}

/** ModelUse is one call of a model with its answer. */
export interface ModelUse {
  call: string;
  model: string;
  messages: ModelMessage[];
  text?: string;
  usage?: Usage;
  error?: string;
  elapsed?: number;
}

/** Answer is one message to the user, as parts of text and reasoning. */
export interface Answer {
  parts: { kind: "text" | "think"; text: string }[];
  done: boolean;
  reference?: Reference;
  attachment?: Attachment;
  downloads?: unknown[];
}

/** RunState is the state after some events. */
export interface RunState {
  /** `idle` before the first event. */
  status: "idle" | Status;
  /** Number of events. */
  count: number;
  messageId?: string;
  taskId?: string;
  inputs?: Record<string, unknown> | null;
  steps: Step[];
  /** Latest step of each node. */
  latest: Record<string, Step>;
  answers: Answer[];
  form?: { inputs: Record<string, FormField>; tips: string };
  variables: Record<string, unknown>;
  /** Problems that did not stop the run. */
  warnings: string[];
  outputs?: unknown;
  /** Error of the node that ended the run. */
  error?: string;
  elapsed?: number;
  usage?: Usage;
}

/** emptyState is the state before the first event. */
export const emptyState: RunState = {
  status: "idle",
  count: 0,
  steps: [],
  latest: {},
  answers: [],
  variables: {},
  warnings: [],
};

/** reduce returns the state after one more event. Unknown events are only counted. */
export function reduce(state: RunState, event: RunEvent): RunState {
  const next = { ...state, count: state.count + 1 };
  switch (event.event) {
    case "workflow_started":
      return {
        ...next,
        status: "running",
        messageId: event.message_id,
        taskId: event.task_id,
        inputs: event.data.inputs,
        form: undefined,
        error: undefined,
      };
    case "node_started": return started(next, event.data);
    case "node_finished": return finished(next, event.data);
    case "message": return said(next, event.data);
    case "message_end": return ended(next, event.data);
    case "message_reset": return { ...next, answers: closed(next.answers).slice(0, -1) };
    case "user_inputs": return paused(next, event.data);
    case "workflow_finished": {
      const canceled = event.data.outputs === canceledText;
      const over = canceled ? stopped(next) : next;
      return {
        ...over,
        status: canceled ? "canceled" : "succeeded",
        outputs: event.data.outputs,
        elapsed: event.data.elapsed_time,
        usage: event.data.usage ?? next.usage,
      };
    }
    case "tool_started": {
      const { tool_name: name, path, arguments: args } = event.data;
      return onStep(next, event.data, (step) => ({
        ...step,
        tools: [...step.tools, { name, path, arguments: args }],
      }));
    }
    case "tool_finished": return toolFinished(next, event.data);
    case "model_started": {
      const use: ModelUse = { call: event.data.call, model: event.data.model, messages: event.data.messages };
      const about = { component_id: event.data.component_id, index_path: itemsOf(event.data.call) };
      return onStep(next, about, (step) => ({ ...step, models: [...step.models, use] }));
    }
    case "model_finished": return modelFinished(next, event.data);
    case "progress": {
      const { pct, note } = event.data;
      if (pct === undefined && note === undefined) return next; // a piece of an output, which comes whole at the end
      return onStep(next, event.data, (step) => ({ ...step, progress: { pct, note } }));
    }
    case "limit_reached":
      return { ...next, warnings: [...next.warnings, `${event.data.message} (${event.data.code})`] };
    case "warning": return { ...next, warnings: [...next.warnings, event.data.text] };
    case "variables_changed": return { ...next, variables: { ...next.variables, ...event.data.values } };
    default: return next;
  }
}

/**
 * conclude completes a state whose stream ended: a failed run has no last event,
 * so only the result has its status.
 */
export function conclude(state: RunState, status: RunState["status"], error?: string): RunState {
  if (status === "paused") return { ...state, status };
  const over = status === "succeeded" ? state : stopped(state);
  return { ...over, status, error: error ?? state.error };
}

/** replay reduces a list of events. */
export function replay(events: Iterable<RunEvent>, from: RunState = emptyState): RunState {
  let state = from;
  for (const event of events) state = reduce(state, event);
  return state;
}

type Data<Name extends RunEvent["event"]> = Extract<RunEvent, { event: Name }>["data"];

function started(state: RunState, data: Data<"node_started">): RunState {
  const step: Step = {
    index: state.steps.length,
    run: (latest(state, data.component_id)?.run ?? 0) + 1,
    node: data.component_id,
    name: data.component_name,
    type: data.component_type,
    status: "running",
    thoughts: data.thoughts ?? "",
    startedAt: data.created_at,
    tools: [],
    models: [],
    ...(data.index_path ? { items: data.index_path } : {}),
  };
  return { ...state, steps: [...state.steps, step], latest: { ...state.latest, [step.node]: step } };
}

function finished(state: RunState, data: Data<"node_finished">): RunState {
  const base = stepOf(state, data) ? state : started(state, { ...data, inputs: null, thoughts: "" });
  const canceled = data.error === canceledText; // a node that was stopped did not fail
  const failed = !canceled && data.error !== null && data.error !== undefined && data.error !== "";
  const next = onStep(base, data, (step) => {
    const { error: _old, ...rest } = step;
    return {
      ...rest,
      status: failed ? "failed" : canceled ? "canceled" : "succeeded",
      elapsed: data.elapsed_time,
      inputs: data.inputs,
      outputs: data.outputs,
      ...(failed ? { error: data.error as string } : {}),
    };
  });
  return failed ? { ...next, error: data.error as string } : next;
}

function said(state: RunState, data: Data<"message">): RunState {
  const last = state.answers.at(-1);
  const open: Answer = last && !last.done ? last : { parts: [], done: false };
  const before = open === last ? state.answers.slice(0, -1) : state.answers;
  const parts = [...open.parts];
  const tail = parts.at(-1);
  if (data.start_to_think) parts.push({ kind: "think", text: "" });
  else if (data.end_to_think) parts.push({ kind: "text", text: "" });
  else if (tail) parts[parts.length - 1] = { ...tail, text: tail.text + (data.content ?? "") };
  else parts.push({ kind: "text", text: data.content ?? "" });
  return { ...state, answers: [...before, { ...open, parts }] };
}

function ended(state: RunState, data: Data<"message_end">): RunState {
  const last = state.answers.at(-1);
  if (!last || last.done) return state;
  const answer: Answer = { ...last, done: true };
  if (data.reference) answer.reference = data.reference;
  if (data.attachment) answer.attachment = data.attachment;
  if (data.downloads) answer.downloads = data.downloads;
  return { ...state, answers: [...state.answers.slice(0, -1), answer] };
}

function paused(state: RunState, data: Data<"user_inputs">): RunState {
  const next: RunState = { ...state, status: "paused", form: { inputs: data.inputs ?? {}, tips: data.tips ?? "" } };
  return mark(next, "paused");
}

// Calls have no ids: the first open one with the same name and
// arguments is the one that ended.
function toolFinished(state: RunState, data: Data<"tool_finished">): RunState {
  const { tool_name: name, path, arguments: args, result, elapsed_time: elapsed } = data;
  const key = JSON.stringify(args);
  return onStep(state, data, (step) => {
    const open = step.tools.findIndex(
      (use) => use.elapsed === undefined && use.name === name && JSON.stringify(use.arguments) === key,
    );
    const use: ToolUse = { name, path, arguments: args, result, elapsed, error: data.error ?? undefined };
    return { ...step, tools: open < 0 ? [...step.tools, use] : step.tools.with(open, use) };
  });
}

// itemsOf reads the index path from the key of a call: a body that runs for element 3 of several
// has the key of its container followed by ".3".
function itemsOf(call: string): number[] | undefined {
  const items = [...call.matchAll(/\.(\d+)(?=\/|$)/g)].map(([, index]) => Number(index));
  return items.length > 0 ? items : undefined;
}

function modelFinished(state: RunState, data: Data<"model_finished">): RunState {
  const { component_id: node, call, text, usage, error, elapsed_time: elapsed } = data;
  const asked = state.steps.findLast((step) => step.node === node && step.models.some((use) => use.call === call));
  const next = onIndex(state, asked?.index ?? -1, (step) => ({
    ...step,
    usage: add(step.usage, usage),
    models: step.models.map((use) =>
      use.call === call ? { ...use, text, usage, elapsed, error: error ?? undefined } : use,
    ),
  }));
  return { ...next, usage: add(next.usage, usage) };
}

function stopped(state: RunState): RunState {
  return { ...mark(state, "canceled"), answers: closed(state.answers) };
}

function closed(answers: Answer[]): Answer[] {
  return answers.some((answer) => !answer.done) ? answers.map((answer) => ({ ...answer, done: true })) : answers;
}

// mark sets the status of every step that still runs.
function mark(state: RunState, status: Status): RunState {
  let next = state;
  for (const step of state.steps) {
    if (step.status === "running") next = onIndex(next, step.index, (open) => ({ ...open, status }));
  }
  return next;
}

/** About is the execution that an event is about. */
interface About {
  component_id: string;
  index_path?: number[];
}

function onStep(state: RunState, about: About, change: (step: Step) => Step): RunState {
  const step = stepOf(state, about);
  return step ? onIndex(state, step.index, change) : state;
}

// stepOf finds the last execution of a node, for one element if elements run concurrently.
function stepOf(state: RunState, { component_id: node, index_path: items }: About): Step | undefined {
  const last = latest(state, node);
  const key = items?.join();
  if (key === undefined || last?.items?.join() === key) return last;
  return state.steps.findLast((step) => step.node === node && step.items?.join() === key);
}

// latest looks up a node, whose id may be a name that objects inherit, such as "constructor".
function latest(state: RunState, node: string): Step | undefined {
  return Object.hasOwn(state.latest, node) ? state.latest[node] : undefined;
}

function onIndex(state: RunState, index: number, change: (step: Step) => Step): RunState {
  const old = state.steps[index];
  if (!old) return state;
  const step = change(old);
  const steps = state.steps.slice();
  steps[index] = step;
  if (state.latest[step.node] !== old) return { ...state, steps };
  return { ...state, steps, latest: { ...state.latest, [step.node]: step } };
}

function add(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (!a || !b) return a ?? b;
  return {
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
  };
}
