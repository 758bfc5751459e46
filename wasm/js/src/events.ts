// The events of a run, as the server streams them. The first seven are the wire
// format of RAGFlow; the rest are ours, appear only in our own API, and may be
// ignored by any reader.

import { wireEvents, type Code, type EventType, type Usage } from "./generated.ts";

/** Outputs holds what a node gave, by name. */
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

/** NodeRef says which node an event is about. */
interface NodeRef {
  component_id: string;
  component_name: string;
  component_type: string;
}

/** Chunk is a passage an answer rests on. */
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

/** FormField is one question to a person. */
export interface FormField {
  name?: string;
  type?: string;
  optional?: boolean;
  value?: unknown;
  options?: unknown[];
  /**
   * Whether a tool or a node may run; the name with ":arguments" takes other arguments, as JSON.
   */
  approval?: Approval;
}

/** Approval is what asks to run: a tool of a node, or the node itself when tool_name is "". */
export interface Approval {
  component_id: string;
  tool_name: string;
  arguments: unknown;
  /** JSON Schema of the arguments. */
  schema?: unknown;
}

/** Attachment names a file that a Message made. */
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

/** OwnEvent is an event that only our own API sends. */
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
      Usage & {
        component_id: string;
        path: string;
        model: string;
        node: Usage;
        run: Usage;
        /** Seconds that the call took, and when it ended; of model calls. */
        elapsed_time?: number;
        created_at?: number;
      }
    >
  | Envelope<"worked", { component_id: string; elapsed_time: number; created_at: number }>
  | Envelope<"queued", Queued>
  | Envelope<"limit_reached", { component_id?: string; path?: string; code: Code; message: string }>
  | Envelope<"warning", { text: string }>;

/** Progress is how far a long step is, or a piece of what it will give. */
export interface Progress {
  component_id: string;
  /** 0 to 100. */
  pct?: number;
  note?: string;
  /** Output that `delta` continues. */
  output?: string;
  delta?: string;
}

/** Queued is how long a call waited for a slot before it started, or continued after a pause. */
export interface Queued {
  component_id: string;
  path: string;
  /** `model` or `plugin`. */
  queue: string;
  /** Which model or plugin. */
  name: string;
  /** Seconds. */
  elapsed_time: number;
  /** When the wait was over, Unix seconds. */
  created_at: number;
}

/** ToolCalled says which agent called which tool. `path` leads through agents inside agents. */
export interface ToolCalled {
  component_id: string;
  path?: unknown;
  tool_name: string;
  arguments: unknown;
}

/** ModelMessage is one line of a conversation with a model. */
export interface ModelMessage {
  role: string;
  content: unknown;
  tool_calls?: unknown;
  tool_call_id?: string;
}

const wire = new Set<string>(wireEvents);

/** isWire reports whether RAGFlow's own clients know this event. */
export function isWire(event: Pick<RunEvent, "event">): boolean {
  return wire.has(event.event);
}
