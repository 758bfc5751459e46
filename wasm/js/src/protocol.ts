// The messages between the engine module and its host. This file is the twin of the Go bridge in
// folder wasm; both are tested against ../golden. The text of the contract, with the lifetime of
// every buffer, is ../PROTOCOL.md.
//
// A Module is the engine seen from its host: six entry points that return immediately.
// A Host is the outside seen from the engine: three callbacks. Both exchange text, so
// the same pair describes the WebAssembly instance, the module in a Worker and a toy in
// a test.

import type { Outputs } from "./events.ts";
import type { Category, Group, Icon, OperatorSet, Role, Section, Status, Usage, Widget } from "./generated.ts";

/** ABI is the version of this contract; a module with another one is refused. */
export const ABI = 1;

/** Module is the engine. Its functions do not block; responses are sent to the Host. */
export interface Module {
  /** load sends a Request; the response is `done(request, …)`. */
  load(request: number, text: string): void;
  /** start starts a run with a Start; events follow, then `done(run, …)`. */
  start(run: number, text: string): void;
  /** deliver responds to a call; `more` means that further pieces of this response follow. */
  deliver(call: number, ok: boolean, more: boolean, text: string): void;
  /** cancel cancels a run; the text is `{"reason"}`. */
  cancel(run: number, text: string): void;
  /** close releases a canvas; 0 cancels and releases everything. */
  close(handle: number): void;
}

/** Host receives the messages of the engine. */
export interface Host {
  /** emit passes one or more event objects, one per line. */
  emit(run: number, text: string): void;
  /** call requests something outside the engine from the host; the text is a Call. */
  call(run: number, call: number, text: string): void;
  /** done ends a request or a run. */
  done(id: number, ok: boolean, text: string): void;
}

/** Request is one message through `load`. The canvas itself follows the first line. */
export type Request =
  | { op: "info" }
  | { op: "load" }
  | { op: "patch"; canvas: number; node: string; params: Record<string, unknown> }
  | { op: "save"; canvas: number }
  | { op: "restore"; canvas: number }
  | { op: "reset"; canvas: number; keep_history?: boolean }
  | { op: "form"; canvas: number; node: string }
  | { op: "validate" }
  | { op: "order" }
  | { op: "complete" }
  | { op: "components" }
  /** The answer of a preview for a component with outside effects. */
  | { op: "stand_in"; component: string; args: Record<string, unknown>; params: Record<string, unknown> }
  /** Compares the input of a plugin with its manifest, which follows. */
  | { op: "check"; params: Record<string, unknown>; arguments: Record<string, unknown> }
  /** Compares the message of a plugin with its manifest, which follows, and returns the outputs. */
  | { op: "check"; output: string }
  /**
   * A plugin that the host runs; its manifest follows, schemas in their plain form. Or one to
   * remove.
   */
  | {
    op: "plugin"; timeout_ms: number; checks?: boolean; locale?: string; server?: boolean;
    settings?: Record<string, unknown>;
  }
  | { op: "plugin"; forget: string }
  /** Rewrites a module, which follows in base64, so that it is metered and can be stopped. */
  | { op: "examine"; meter?: boolean; grant?: unknown; limits?: unknown; version?: string }
  | { op: "layout"; sizes?: Record<string, [width: number, height: number]> };

/** Scheduling decides when nodes start; "auto" stands for the result of Engine.order. */
export type Scheduling = "batch" | "eager" | "auto";

/** Start is the message that starts a run. */
export interface Start {
  canvas: number;
  query?: unknown;
  files?: unknown[];
  inputs?: Record<string, unknown>;
  user_id?: string;
  webhook_payload?: Record<string, unknown>;
  /** Calls that the host handles; others get stand-ins or are refused. */
  ports: CallKind[];
  /**
   * Components that the host implements, by name, with their descriptions; those in the module have
   * precedence.
   */
  tools?: Record<string, ToolSpec>;
  /** Abilities of the host's models. */
  model?: Abilities;
  /** Outputs by node, used instead of running the node. */
  pins?: Record<string, Outputs>;
  /** Node to start at; `base` then contains the earlier results. */
  from?: string;
  /** Node after which the run ends. */
  until?: string;
  /** Outputs and variables at the start of a run from the middle. */
  base?: Base;
  /** Run this one node alone with these parameters. */
  debug?: { node: string; params: Record<string, unknown> };
  /** Continue a state that was saved in the middle of a run. */
  continue?: boolean;
  /** Such a continuation counts as a new execution: new message id, numbering from 1. */
  rerun?: boolean;
  /** Limits of the run. */
  limits?: Limits;
  /** Nodes that run concurrently; 0 or absent means 5. */
  concurrency?: number;
  scheduling?: Scheduling;
  /** Executions without progress, besides one of each node; 0 or absent means 10,000. */
  max_steps?: number;
  seed?: number | string;
  /** Fixed clock, Unix milliseconds. */
  now?: number;
}

/**
 * Limits are limits of a run; 0 or absent is the default, a negative number no limit.
 * Sizes are in bytes. Exceeding one is the node's error, with the code in brackets; events and the
 * state of a conversation end the run.
 */
export interface Limits {
  /** One text; 16 MiB [text_too_large]. */
  text?: number;
  /** One output or variable; 32 MiB [output_too_large]. */
  output?: number;
  /** Outputs, variables, conversation and references together; 64 MiB [state_too_large]. */
  state?: number;
  /** Inputs and outputs of one node in an event; 64 MiB [event_too_large]. */
  event?: number;
  /** All events of the run; 512 MiB [events_too_large]. */
  events?: number;
  /** Calls of language models; 10,000 [too_many_model_calls]. */
  model_calls?: number;
  /** Tokens that language models report; none by default [too_many_tokens]. */
  tokens?: number;
  /** Millionths of the currency of the canvas's prices; none by default [cost_too_high]. */
  cost?: number;
  /** Calls of tools by agents; 10,000 [too_many_tool_calls]. */
  tool_calls?: number;
  /** Rounds of tool calls of all agents; none by default [too_many_rounds]. */
  rounds?: number;
  /** Seconds; none by default. It ends the run [run_too_long]. */
  seconds?: number;
  /** Calls of a tool with the same arguments by one agent; 10 [too_many_repeats]. */
  repeated_calls?: number;
  /** Seconds that a tool may take; none by default. The model sees the error [tool_too_slow]. */
  tool_seconds?: number;
}

/**
 * Abilities are the optional features of models; without `tools`, agents plan in text, which every
 * model supports.
 */
export interface Abilities {
  /** They support `tools` in a request and answer with `tool_calls`. */
  tools?: boolean;
  /** They support `images`. */
  images?: boolean;
  /** Tokens that fit into one request; absent or 0 when unknown. */
  context?: number;
}

/** Base is the state before a run that starts in the middle. */
export interface Base {
  outputs?: Record<string, Outputs>;
  variables?: Record<string, unknown>;
}

/** ToolSpec describes a host tool to a model. */
export interface ToolSpec {
  description?: string;
  parameters?: Record<string, unknown>;
}

/** CallKind names the kinds of calls of the engine. */
export type CallKind =
  | "model" | "retrieve" | "tool" | "mcp" | "fetch" | "code" | "plugin" | "files" | "documents"
  | "speech" | "memory" | "secret" | "canvas";

/**
 * Call is one call of the engine. `abort` aborts a call; `reply` responds to a request of a
 * plugin; both have no response.
 */
export type Call =
  | { kind: CallKind; node?: string; payload: Record<string, unknown> }
  | { kind: "abort" }
  | { kind: "reply"; ask: number; answer?: unknown; canceled?: boolean };

/** Failure is the payload of every response that is not ok. */
export interface Failure {
  code: string;
  message: string;
  node?: string;
  /** The caller may retry. */
  retry?: boolean;
}

/** Info is the response to `{"op":"info"}`, the first request of a host. */
export interface Info {
  abi: number;
  version: string;
}

/** Ended is the payload of `done` for a run. */
export interface Ended {
  status: Exclude<Status, "queued" | "running">;
  outputs?: unknown;
  /** Nodes that wait for a form, when paused. */
  waiting?: string[];
  error?: Failure;
  usage?: Usage;
}

/** ComponentSpec describes a component for editors. */
export interface ComponentSpec {
  name: string;
  aliases?: string[];
  /** Nodes that have an alias get the name in its place, in their ids too. */
  renamed?: boolean;
  description?: string;
  /** Display name. */
  title?: string;
  /** Further words for a search. */
  search?: string[];
  /** Param that a form focuses first. */
  first?: string;
  category: Category;
  /** Heading in a palette. */
  group: Group;
  icon: Icon;
  /** Restriction of its position, if any. */
  role?: Role;
  /** The thought in node_started, shown while it runs. */
  thoughts?: string;
  /** Label of an item in a drawing; the default is the name of the node. */
  label?: string;
  /** Params with its branches. */
  branches?: BranchSpec[];
  /** It has a stand-in answer, see Engine.standIn. */
  stand_in?: boolean;
  /** Params of other editors that have no effect. */
  ignores?: string[];
  inputs?: SpecField[];
  outputs?: SpecField[];
  /** Function definition shown to models, when an agent may call it. */
  tool?: unknown;
  /** Why it loads but cannot run here; absent when it can. */
  missing?: string;
  /** A step of ingestion pipelines. */
  pipeline?: boolean;
  /** JSON Schema of the parameters. */
  params?: Schema;
}

/**
 * BranchSpec names a param with branches: one per element of a list or member of an object, each
 * leading to the ids in the member `to` of that element. Without `to` the param itself contains the
 * ids.
 */
export interface BranchSpec {
  param: string;
  to?: string;
  /** Label of a branch; elements of a list are numbered. */
  label?: string;
}

/** StandIn is the answer of a component in a preview. */
export interface StandIn {
  outputs: Record<string, unknown>;
  /** The outputs are made up; otherwise the work was done. */
  invented: boolean;
}

/** SpecField is an input or output of a component. */
export interface SpecField {
  name: string;
  type?: string;
  description?: string;
  required?: boolean;
}

/** Schema is the part of JSON Schema that component parameters use. */
export interface Schema {
  /** Form of the JSON that the type does not describe. */
  $comment?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  minimum?: number;
  maximum?: number;
  /** Editor for it: `text`, `code`, `reference`, `model`, `secret`, … */
  format?: string;
  /** How a form shows it. */
  "x-easel"?: FormTag;
}

/** Option is one accepted value with its label. */
export interface Option {
  value: string;
  label: string;
}

/** FormTag describes how a form shows a param. */
export interface FormTag {
  section?: Section;
  widget?: Widget;
  options?: Option[];
  /** Other values with the meaning of an option. */
  accept?: { value: string; other: string }[];
  /**
   * Conditions, joined by `&`, under which it is shown: `mode=Webhook`, `type!=a,b`, `items`,
   * `!items`, `@tool`.
   */
  show?: string;
  unit?: string;
  step?: number;
  /** Label of 0. */
  zero?: string;
  ops?: OperatorSet;
  /** Member next to it whose type decides which operators and values fit. */
  of?: string;
  hint?: string;
  examples?: string[];
  hidden?: boolean;
  /** Earlier name; a document has one of the two. */
  alias?: string;
  /** Param next to it with the operator that decides what stands on its right. */
  right?: string;
  /** Hidden param next to it that is constant, variable or empty, as the value is. */
  by?: string;
  /** It names an output of the node, whose type is in the param of this name next to it. */
  output?: string;
  /** Hidden boolean param which decides whether the value counts. */
  enable?: string;
  /** Problem of an empty value. */
  want?: string;
  /** Kind of model. */
  kind?: string;
}

/**
 * Layout is the response to `{"op":"layout"}`: a position for every node, relative to its parent.
 */
export interface Layout {
  nodes: Record<string, { x: number; y: number; width?: number; height?: number }>;
}

/** encode writes a message: one line of JSON, then the canvas when there is one. */
export function encode(header: Request | Start, body?: string): string {
  return body === undefined ? JSON.stringify(header) : JSON.stringify(header) + "\n" + body;
}

/** decode splits a message into its header and the text after the first line feed. */
export function decode<T>(text: string): { header: T; body: string } {
  const cut = text.indexOf("\n");
  if (cut < 0) return { header: JSON.parse(text) as T, body: "" };
  return { header: JSON.parse(text.slice(0, cut)) as T, body: text.slice(cut + 1) };
}

/** CallContext accompanies every call of a provider. */
export interface CallContext {
  /** Aborted when the run is cancelled or the engine no longer needs the response. */
  signal: AbortSignal;
  /** The calling node, when known. */
  node?: string;
}
