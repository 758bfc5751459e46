// The events of a run, as the server streams them. The first seven are the wire
// format of RAGFlow; the others appear only in easel's own API and may be
// ignored by any reader.

import { wireEvents, type Code, type EventType, type Usage } from "./generated.ts";

/** Outputs are the outputs of a node by name. */
export type Outputs = Record<string, unknown>;

/** Envelope is common to all events. `seq` counts the records of one run from 1. */
interface Envelope<Name extends EventType, Data> {
  event: Name;
  message_id: string;
  task_id: string;
  /** Unix seconds. */
  created_at: number;
  seq?: number;
  data: Data;
}

/** Indexed marks events of bodies that run for several elements at once. */
interface Indexed {
  /** Index of the element, of the outer body first. */
  index_path?: number[];
}

/** NodeRef identifies the node of an event. */
interface NodeRef extends Indexed {
  component_id: string;
  component_name: string;
  component_type: string;
}

/** Chunk is a passage that an answer cites. */
export interface Chunk {
  id?: string | null;
  content?: string | null;
  document_id?: string | null;
  document_name?: string | null;
  url?: string | null;
  similarity?: number | null;
  [field: string]: unknown;
}

/** Reference holds chunks by citation number, `[ID:n]` in the text. */
export interface Reference {
  chunks: Record<string, Chunk> | Chunk[];
  doc_aggs: Record<string, unknown> | unknown[];
}

/** FormField is one field of a form. */
export interface FormField {
  name?: string;
  type?: string;
  optional?: boolean;
  value?: unknown;
  options?: unknown[];
  /**
   * Whether a tool or a node may run; the name with ":arguments" accepts other arguments, as JSON.
   */
  approval?: Approval;
}

/**
 * Approval is the object of an approval: a tool of a node, or the node itself if tool_name is "".
 */
export interface Approval {
  component_id: string;
  tool_name: string;
  arguments: unknown;
  /** JSON Schema of the arguments. */
  schema?: unknown;
}

/** Attachment is a file that a Message wrote. */
export interface Attachment {
  doc_id: string;
  format?: string;
  file_name?: string;
}

/** RunEvent is any event of a run. */
export type RunEvent =
  | Envelope<"workflow_started", { inputs: Record<string, unknown> | null }>
  | Envelope<"node_started", NodeRef & { inputs: null; created_at: number; thoughts: string }>
  | Envelope<
      "node_finished",
      NodeRef & {
        inputs: Outputs;
        outputs: Outputs;
        error: string | null;
        /** Seconds. */
        elapsed_time: number;
        created_at: number;
      }
    >
  | Envelope<
      "message",
      { content: string | null; start_to_think?: true; end_to_think?: true; audio_binary?: string | null }
    >
  | Envelope<"message_end", { status?: unknown; attachment?: Attachment; reference?: Reference; downloads?: unknown[] }>
  | Envelope<"user_inputs", { inputs: Record<string, FormField>; tips: string }>
  | Envelope<
      "workflow_finished",
      {
        inputs: Record<string, unknown> | null;
        outputs: unknown;
        elapsed_time: number;
        created_at: number;
        usage?: Usage;
      }
    >
  | OwnEvent;

/** OwnEvent is an event that only easel's own API sends. */
export type OwnEvent =
  | Envelope<"tool_started", ToolCalled>
  | Envelope<
      "tool_finished",
      ToolCalled & {
        result: unknown;
        error?: string | null;
        elapsed_time: number;
        created_at?: number;
      }
    >
  | Envelope<"model_started", { component_id: string; call: string; model: string; messages: ModelMessage[] }>
  | Envelope<
      "model_finished",
      { component_id: string; call: string; text: string; usage?: Usage; elapsed_time: number; error?: string | null }
    >
  | Envelope<"variables_changed", { values: Record<string, unknown> }>
  | Envelope<"message_reset", Record<string, never>>
  | Envelope<"progress", Progress>
  | Envelope<
      "usage",
      Usage & Indexed & {
        component_id: string;
        path: string;
        model: string;
        node: Usage;
        run: Usage;
        /** Duration of a model call in seconds, and the time of its end. */
        elapsed_time?: number;
        created_at?: number;
      }
    >
  | Envelope<"worked", { component_id: string; elapsed_time: number; created_at: number }>
  | Envelope<"queued", Queued>
  | Envelope<"limit_reached", { component_id?: string; path?: string; code: Code; message: string }>
  | Envelope<"warning", Warning>;

/** Warning is unexpected; a node that is tried again has the number of its next attempt. */
export interface Warning extends Partial<Indexed> {
  text: string;
  component_id?: string;
  attempt?: number;
  attempts?: number;
}

/** Progress reports the progress of a long step, or a piece of one of its outputs. */
export interface Progress extends Indexed {
  component_id: string;
  /** 0 to 100. */
  pct?: number;
  note?: string;
  /** Output that `delta` continues. */
  output?: string;
  delta?: string;
}

/** Queued reports how long a call waited for a slot, at its start or after a pause. */
export interface Queued extends Indexed {
  component_id: string;
  path: string;
  /** `run`, `model` or `plugin`. */
  queue: string;
  /** Name of the model or plugin. */
  name: string;
  /** Seconds. */
  elapsed_time: number;
  /** End of the wait, Unix seconds. */
  created_at: number;
}

/** ToolCalled identifies an agent and the tool it called; `path` leads through nested agents. */
export interface ToolCalled extends Indexed {
  component_id: string;
  path?: unknown;
  /** The tool by its name in the canvas; a step of the agent itself has none. */
  tool?: string;
  tool_name: string;
  arguments: unknown;
}

/** ModelMessage is one line of a conversation with a model. */
export interface ModelMessage {
  role: string;
  content: unknown;
  tool_calls?: unknown;
  tool_call_id?: string;
  /** Only in requests of models: data URLs. */
  images?: string[];
  /** Only in requests of models: what the server attached to this message. */
  opaque?: { message?: Record<string, unknown>; calls?: Record<string, unknown>[] };
}

const wire = new Set<string>(wireEvents);

/** isWire reports whether RAGFlow's own clients support this event. */
export function isWire(event: Pick<RunEvent, "event">): boolean {
  return wire.has(event.event);
}
