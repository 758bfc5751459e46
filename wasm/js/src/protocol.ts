// The messages between the engine module and its host. This file is the
// twin of the Go bridge beside it; both are tested against ../golden. The text of
// the contract, with the lifetime of every buffer, is ../PROTOCOL.md.
//
// A Module is the engine seen from its host: six entry points that return at once.
// A Host is the world seen from the engine: three callbacks. Both speak text, so
// the same pair describes the wasm instance, the far end of a Worker and a toy in
// a test.

import type { Outputs } from "./events.ts";
import type { Category, Group, Icon, Role, Status, Usage } from "./generated.ts";

/** ABI is the version of this contract; a module with another one is refused. */
export const ABI = 1;

/** Module is the engine. Nothing here blocks, answers come through the Host. */
export interface Module {
  /** load sends a Request; `done(request, …)` answers it. */
  load(request: number, text: string): void;
  /** start begins a run with a Start; events follow, then `done(run, …)`. */
  start(run: number, text: string): void;
  /** deliver answers a call; `more` means that further pieces of this answer follow. */
  deliver(call: number, ok: boolean, more: boolean, text: string): void;
  /** cancel ends a run soon; the text is `{"reason"}`. */
  cancel(run: number, text: string): void;
  /** close forgets a canvas; 0 cancels and forgets everything. */
  close(handle: number): void;
}

/** Host receives the messages of the engine. */
export interface Host {
  /** emit hands over one or more event objects, one per line. */
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
  | { op: "components" }
  /** The answer of a preview for a component with outside effects. */
  | { op: "stand_in"; component: string; args: Record<string, unknown>; params: Record<string, unknown> }
  /** Compares the input of a plugin with its manifest, which follows. */
  | { op: "check"; params: Record<string, unknown>; arguments: Record<string, unknown> }
  /** Compares the message of a plugin with its manifest, which follows, and returns the outputs. */
  | { op: "check"; output: string }
  /**
   * A plugin the host runs; its manifest follows, schemas in their plain form. Or one to forget.
   */
  | {
    op: "plugin"; timeout_ms: number; checks?: boolean; locale?: string; server?: boolean;
    settings?: Record<string, unknown>;
  }
  | { op: "plugin"; forget: string }
  /** Rewrites a module, which follows in base64, so that it can be stopped and counted. */
  | { op: "examine"; meter?: boolean; grant?: unknown; limits?: unknown; version?: string }
  | { op: "layout"; sizes?: Record<string, [width: number, height: number]> };

/** Start is the message that begins a run. */
export interface Start {
  canvas: number;
  query?: unknown;
  files?: unknown[];
  inputs?: Record<string, unknown>;
  user_id?: string;
  webhook_payload?: Record<string, unknown>;
  /** Calls that the host answers; others are answered by stand-ins or refused. */
  ports: CallKind[];
  /**
   * Components the host answers for, by name, as it describes them; the module's own descriptions
   * count.
   */
  tools?: Record<string, ToolSpec>;
  /** Abilities of the host's models. */
  model?: Abilities;
  /** Outputs that stand in for running a node. */
  pins?: Record<string, Outputs>;
  /** Node to start at; `base` then holds the results before it. */
  from?: string;
  /** Node after which the run ends. */
  until?: string;
  /** Outputs and variables a run from the middle begins with. */
  base?: Base;
  /** Run this one node alone with these parameters. */
  debug?: { node: string; params: Record<string, unknown> };
  /** Go on with a state that was saved in the middle of a run. */
  continue?: boolean;
  /** Such a continuation counts as a new execution: new message id, numbering from 1. */
  rerun?: boolean;
  /** Limits of the run. */
  limits?: Limits;
  /** Nodes at once; 0 or absent means 5. */
  concurrency?: number;
  /** Executions without progress, besides one of each node; 0 or absent means 10,000. */
  max_steps?: number;
  seed?: number;
  /** Fixed clock, Unix milliseconds. */
  now?: number;
}

/**
 * Limits bound what a run may hold and use; 0 or absent is the default, a negative number no limit.
 * Sizes are in bytes. Reaching one is the node's error, with the code in brackets; events and the
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
  /** Seconds that a tool may take; none by default. The model learns of it [tool_too_slow]. */
  tool_seconds?: number;
}

/**
 * Abilities say what models can do; without `tools`, agents plan in text, which every model can.
 */
export interface Abilities {
  /** They understand `tools` in a request and answer with `tool_calls`. */
  tools?: boolean;
  /** They see `images`. */
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
 * Call is one question of the engine. `abort` takes a question back; `reply` answers what a plugin
 * asked; both have no answer.
 */
export type Call =
  | { kind: CallKind; node?: string; payload: Record<string, unknown> }
  | { kind: "abort" }
  | { kind: "reply"; ask: number; answer?: unknown; canceled?: boolean };

/** Failure is the payload of every answer that is not ok. */
export interface Failure {
  code: string;
  message: string;
  node?: string;
  /** The caller may try again. */
  retry?: boolean;
}

/** Info answers `{"op":"info"}`, the first request of a host. */
export interface Info {
  abi: number;
  version: string;
}

/** Ended is the payload of `done` for a run. */
export interface Ended {
  status: Exclude<Status, "queued" | "running">;
  outputs?: unknown;
  /** Nodes that wait for a person, when paused. */
  waiting?: string[];
  error?: Failure;
  usage?: Usage;
}

/** ComponentSpec describes a component for editors. */
export interface ComponentSpec {
  name: string;
  aliases?: string[];
  description?: string;
  /** Place in a palette. */
  category: Category;
  icon: Icon;
  /** Where it can stand; absent when anywhere. */
  role?: Role;
  /** What node_started shows while it runs. */
  thoughts?: string;
  /** What a drawing writes on an item in place of the name of the node. */
  label?: string;
  /** Params that hold its ways out. */
  branches?: BranchSpec[];
  /** It has an answer for where nothing outside can be reached, see Engine.standIn. */
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
 * BranchSpec names a param that holds ways out: one per element of a list or member of an object,
 * each leading to the ids in the member `to` of that element. Without `to` the param itself holds
 * the ids.
 */
export interface BranchSpec {
  param: string;
  to?: string;
  /** What a way out is called; elements of a list are numbered. */
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
  /** How to edit it: `text`, `code`, `reference`, `model`, `secret`, … */
  format?: string;
  /** Part of the form it belongs to; without one it is shown first. */
  group?: Group;
}

/** Layout answers `{"op":"layout"}`: a place for every node, relative to its parent. */
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
  /** Aborted when the run is cancelled or the engine no longer needs the answer. */
  signal: AbortSignal;
  /** The calling node, when known. */
  node?: string;
}
