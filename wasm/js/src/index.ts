// Exports of both entries besides createEngine.

export type { Reach } from "./address.ts";
export { Canvas, Engine, type DSL, type EngineOptions, type WasmSource } from "./engine.ts";
export { EngineError, messageOf } from "./errors.ts";
export type { Approval } from "./events.ts";
export type {
  Attachment,
  Chunk,
  FormField,
  ModelMessage,
  Outputs,
  OwnEvent,
  Progress,
  Reference,
  RunEvent,
  ToolCalled,
} from "./events.ts";
export { isWire } from "./events.ts";
export type {
  Category, Code, Diagnostic, EventType, Group, Icon, OperatorSet, Role, Section, Severity, Status, Usage, Widget,
} from "./generated.ts";
export type { Connect, Connection } from "./link.ts";
export type { Manifest as PluginManifest } from "./plugin/manifest.ts";
export type { Limits as PluginLimits } from "./plugin/kernel/guest.ts";
export type { Proxy as PluginProxy, ProxyRequest as PluginProxyRequest } from "./plugin/http.ts";
export type { Files as PluginFiles, StoredFile as PluginFile } from "./plugin/file.ts";
export type { Storage as PluginStorage } from "./plugin/desk.ts";
export type { Permissions as PluginPermissions } from "./plugin/permission.ts";
export type { PluginBytes, PluginSource } from "./plugin/shelf.ts";
export type { ToolCall, ToolModule } from "./plugin/tool.ts";
export type {
  Answered,
  Asked,
  CodeAnswer,
  CodeRequest,
  CodeRunner,
  Found,
  Port,
  Providers,
  Retriever,
  Tool,
} from "./ports.ts";
export type { Model, ModelPiece, ModelRequest } from "./model/model.ts";
export {
  ABI,
  type Abilities,
  type Base,
  type BranchSpec,
  type ComponentSpec,
  type Ended,
  type Failure,
  type Info,
  type Layout,
  type Limits,
  type Scheduling,
  type Schema,
  type FormTag,
  type Option,
  type SpecField,
  type StandIn,
  type ToolSpec,
} from "./protocol.ts";
export { Run, type Inputs, type RunOptions, type RunResult } from "./run.ts";
export { toSSE, type SSEOptions } from "./sse.ts";
