// Requests of the settings, for operators of a tenant or a host.

import type { Host } from "./host.ts";

/** Me is the signed-in person with its permissions. */
export interface Me {
  tenant: string;
  tenant_name: string;
  user: string;
  email: string;
  /** The role of the person in the tenant; absent on hosts of earlier versions. */
  role?: "owner" | "admin" | "normal";
  scopes?: string[];
}

/** keyScopes are the scopes that a key can have, in the order of docs/api.md. */
export const keyScopes = ["read", "run", "edit", "admin", "host", "metrics", "read_traces"] as const;

/** Model is a model that canvases can name. */
export interface Model {
  id: string;
  kind: string;
  provider: string;
  host: boolean;
}

/** modelKinds are the purposes of models. */
export const modelKinds = ["chat", "embedding", "speech", "rerank", "transcription"] as const;

/** ModelKind is the purpose of a model. */
export type ModelKind = (typeof modelKinds)[number];

/** ProviderModel is a model of a provider; the default kind is chat. */
export interface ProviderModel {
  name: string;
  kind?: ModelKind | "";
  /** Models to call, in this order, when its server fails. */
  fallback?: string[];
  /** Parameters that are never sent to it. */
  drop?: string[];
}

/** apis are the forms in which providers take requests. */
export const apis = ["openai", "anthropic", "bedrock", "gemini", "azure", "ollama", "responses"] as const;

/** Preset is a provider that needs no more than a name and a key. */
export interface Preset {
  name: string;
  aliases?: string[];
  api: string;
  base_url?: string;
  /** One of the base URLs that customers have. */
  base_url_example?: string;
  local: boolean;
}

/** Found is a model server that answers on the machine of the host. */
export interface Found extends Preset {
  models: Offer[];
}

/** presetOf returns the preset with a name or an alias, in any case. */
export function presetOf(name: string, presets: Preset[]): Preset | undefined {
  const same = (other: string): boolean => other.toLowerCase() === name.trim().toLowerCase();
  return presets.find((each) => same(each.name) || each.aliases?.some(same));
}

/** presetsFor returns the presets whose names or aliases contain a text. */
export function presetsFor(text: string, presets: Preset[]): Preset[] {
  const part = text.trim().toLowerCase();
  const fits = (name: string): boolean => name.toLowerCase().includes(part);
  return presets.filter(({ name, aliases = [] }) => [name, ...aliases].some(fits));
}

/** Offer is a model that a provider serves; members that its list lacks are absent. */
export interface Offer {
  name: string;
  kind: ModelKind;
  context?: number;
  tools?: boolean;
  images?: boolean;
  reasoning?: boolean;
}

/** Price is for a million tokens, in the currency of the host. */
export interface Price {
  input: number;
  output: number;
  cached_input?: number;
  cache_write?: number;
}

/** Prices are the tenant's prices by ids of models. */
export interface Prices {
  currency: string;
  prices: Record<string, Price>;
}

/** Learned is a property of a model that a host learned from the answers of its server. */
export interface Learned {
  provider: string;
  /** All tenants share the provider. */
  host?: boolean;
  model: string;
  refused?: string[];
  renamed?: Record<string, string>;
  unsent?: string[];
  no_tools?: boolean;
  reasons?: boolean;
  base_url?: string;
  batch?: number;
  max_tokens?: number;
  until: string;
}

/** Provider is a service of models; its key and the values of its headers are never sent back. */
export interface Provider {
  name: string;
  api?: string;
  base_url: string;
  has_key: boolean;
  header_names?: string[];
  local?: boolean;
  models: ProviderModel[];
}

/** ProviderForm holds the fields of a provider's form; an empty key keeps the stored one. */
export interface ProviderForm {
  api?: string;
  url: string;
  key: string;
  models: Record<ModelKind, string[]>;
}

/**
 * providerOf returns the request that stores a provider. Settings that the form does not show, such
 * as limits and context sizes, stay as in `before`.
 */
export function providerOf(
  { api, url, key, models }: ProviderForm, before?: Provider,
): Omit<Provider, "name" | "has_key"> {
  const known = before?.models ?? [];
  const kindOf = (model: ProviderModel): ModelKind => model.kind || "chat";
  const { name: _name, has_key: _key, header_names: _headers, ...rest } = before ?? {};
  return {
    ...rest,
    ...(api ? { api } : {}),
    base_url: url,
    ...(key ? { key } : {}),
    models: modelKinds.flatMap((kind) =>
      models[kind].map((name) => known.find((each) => each.name === name && kindOf(each) === kind) ?? { name, kind }),
    ),
  };
}

/** Defaults are the models for canvases that name none. */
export interface Defaults {
  chat?: string;
  speech?: string;
  embedding?: string;
  transcription?: string;
}

/** Tested is the answer of a model to a test. */
export interface Tested {
  ok: boolean;
  model: string;
  answer?: string;
  error?: string;
  took_ms: number;
}

/** ApiKey is a key; only the response to its creation has its text. */
export interface ApiKey {
  id: string;
  name: string;
  hint: string;
  scopes: string[];
  rate: number;
  tokens_per_day: number;
  tokens_today: number;
  created: string;
  expires?: string;
  key?: string;
}

/** Secret is a value that canvases use by name, without the value. */
export interface Secret {
  name: string;
  hosts?: string[];
  updated: string;
}

/** Installed is a plugin of the host. */
export interface Installed {
  component: string;
  name: string;
  version: string;
  state: "on" | "off" | "waiting" | "broken";
  note?: string;
  display?: Record<string, string>;
  description?: string;
  granted: Permissions;
  secrets?: Record<string, boolean>;
  /** Settings of the tenant; absent for a plugin without settings. */
  settings?: Record<string, unknown>;
  /** When a plugin is called that begins runs by a schedule; others are components. */
  trigger?: "poll" | "webhook";
  params?: unknown;
}

/** PluginSettings are a tenant's settings of a plugin; values of secrets are never sent back. */
export interface PluginSettings {
  schema: unknown;
  values: Record<string, unknown>;
  missing?: string[];
  secrets: { name: string; set: boolean; hosts: string[]; reason: string }[];
}

/** Permissions of a plugin. */
export interface Permissions {
  http?: { hosts: string[] | null; methods?: string[]; private?: boolean };
  secrets?: Record<string, unknown>;
  llm?: { max_calls: number };
  embed?: { max_calls: number };
  kv?: { bytes: number };
  variables?: { read?: string[]; write?: string[] };
  files?: { read?: boolean; write_bytes?: number };
  clock?: { precise?: boolean };
}

/** Server is an MCP server. */
export interface Server {
  id: string;
  name: string;
  type: string;
  url?: string;
  description?: string;
  headers: string[];
  tools: string[];
}

/** Tools are the tools of an MCP server, or the error of listing them. */
export interface Tools {
  ok: boolean;
  error?: string;
  items: { name: string; description?: string }[];
}

/** User is a person of the tenant. */
export interface User {
  id: string;
  email: string;
  nickname: string;
  /** "" for a member to whom the sign-in provider assigns no role any more: it may do nothing. */
  role: "owner" | "admin" | "normal" | "";
  created: string;
}

/** Group is a group of a person; `source` is the sign-in provider that manages it. */
export interface Group {
  name: string;
  source?: string;
}

/** Login is a login session of a person. */
export interface Login {
  id: string;
  /** "password", "link", or "oidc:" and the provider; "" if unknown. */
  via: string;
  address: string;
  agent: string;
  /** It is the login of this browser. */
  current: boolean;
  created: string;
  expires: string;
}

/** AuditEntry records a change or a sign-in. */
export interface AuditEntry {
  number: number;
  time: string;
  user: string;
  caller: string;
  action: string;
  object: string;
  address: string;
}

/** AuditCheck is the result of verifying the audit log. */
export interface AuditCheck {
  intact: boolean;
  entries: number;
  /** Number of the first entry that was changed or is missing. */
  broken?: number;
  hash: string;
}

/** SignInProvider is an OpenID provider; its secret is never sent back. */
export interface SignInProvider {
  id: string;
  name: string;
  issuer: string;
  client: string;
  has_secret: boolean;
  secret?: string;
  scopes: string[] | null;
  groups_claim?: string;
  roles?: Record<string, string>;
  new_role?: string;
  /** It was configured on the command line of the host. */
  fixed: boolean;
  /** Path of the button; the redirect address adds /callback. */
  sign_in: string;
}

/** TraceSettings limit how long runs are stored with their events. */
export interface TraceSettings {
  days: number;
  bytes: number;
}

/** Tenant is a tenant of the host. */
export interface Tenant {
  id: string;
  name: string;
  created: string;
  tokens_per_day: number;
  tokens_today: number;
}

/** Use is the usage of models of a day, a canvas or a model. */
export interface Use {
  day?: string;
  canvas?: string;
  title?: string;
  model?: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost: number;
}

/** Usage is the usage of a period. */
export interface Usage {
  from: string;
  to: string;
  priced: boolean;
  /** Code of the currency of costs, if the price table names it. */
  currency?: string;
  items: Use[];
  total: Use;
}

/** Health is the state of the host that answers. */
export interface Health {
  ok: boolean;
  version: string;
  started?: string;
  runs: number;
  parts: { name: string; ok: boolean; detail?: string }[];
  memory: { name: string; size: number; used: number }[];
}

const root = "/api/v2";

/** Admin makes the requests. */
export class Admin {
  readonly #host: Pick<Host, "request">;

  constructor(host: Pick<Host, "request">) {
    this.#host = host;
  }

  /** get reads a resource of the host. */
  get<T>(path: string): Promise<T> {
    return this.#host.request("GET", root + path);
  }

  /** list reads a list. */
  async list<T>(path: string): Promise<T[]> {
    return (await this.get<{ items: T[] }>(path)).items;
  }

  post<T>(path: string, body: unknown = {}): Promise<T> {
    return this.#host.request("POST", root + path, body);
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.#host.request("PUT", root + path, body);
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.#host.request("PATCH", root + path, body);
  }

  /** remove deletes the resource at a path of ids. */
  remove(path: string): Promise<void> {
    return this.#host.request("DELETE", root + path);
  }
}

/** days lists the dates of a period, both ends included. */
export function days(from: string, to: string): string[] {
  const out: string[] = [];
  const last = Date.parse(to);
  for (let at = Date.parse(from); at <= last; at += 86_400_000) out.push(new Date(at).toISOString().slice(0, 10));
  return out;
}
