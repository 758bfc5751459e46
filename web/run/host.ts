// The host that serves the page, if it is one: its canvases and its models. A person
// is known there by a login of this browser or by an API key, which is kept in memory
// only. Where this browser had no login, no request is made before a person signs in.
//
// Requests with the login go to fixed paths of the host's API. A run has access only to its models,
// the built-in tools and searches in datasets, because canvases may be untrusted.

import { messageOf } from "@easel/engine";
import type { Descriptor } from "./files.ts";
import { offline, type HostModel } from "./model-names.ts";
import { Store } from "./store.ts";
import type { Relay } from "./substitutes.ts";

/** HostCanvas is a canvas in the host's list. */
export interface HostCanvas {
  id: string;
  title: string;
  description: string;
  /** Who may use it: its creator, or all members of the tenant. */
  permission: "me" | "team";
  /** When it was changed last, ISO 8601. */
  updated: string;
  /** The published version, if any. */
  published?: { version: string; at: string };
}

/** Origin identifies a canvas of the host: its id and its revision. */
export interface Origin {
  id: string;
  rev: number;
}

/** HostState is the known state of the host. */
export interface HostState {
  status: "unknown" | "asking" | "closed" | "open" | "none";
  /** The signed-in person. */
  name: string;
  /** Details of the person; empty strings for a key without a user. */
  person?: { email: string; tenant: string; role: string };
  canvases: HostCanvas[];
  total: number;
  /** The words that the canvases were searched by; undefined when the list is not current. */
  found?: string | undefined;
  models: HostModel[];
  /** Id of the model of steps that name none; "" if the host has no model for them. */
  answers: string;
  /** Kinds of models for the voice of a chat that the host has. */
  voice?: { speech: boolean; transcription: boolean };
  /** Scopes of the person. */
  scopes: string[];
  /** The error of the last request. */
  fault?: string;
}

/** AskOptions are settings of a request to the host's v2 API. */
export interface AskOptions {
  signal?: AbortSignal;
  accept?: string;
}

/** HostError is an error response of the host. */
export class HostError extends Error {
  readonly status: number;
  /** Code of the response; empty if it has none. */
  readonly code: string;

  constructor(status: number, message: string, code = "") {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const unknown: HostState = {
  status: "unknown", name: "", canvases: [], total: 0, models: [], answers: "", scopes: [],
};
const pageSize = 60;
const modelPath = "/api/llm/chat/completions";

/** Host makes requests to the origin of the page. */
export class Host {
  readonly state = new Store<HostState>(unknown);
  readonly #fetch: typeof fetch;
  #key = "";
  #csrf = "";
  #search: { words: string; done: Promise<void> } | undefined; // the latest, until it is answered

  constructor(send: typeof fetch = (input, init) => fetch(input, init)) {
    this.#fetch = send;
  }

  /**
   * connect requests the person and the list of canvases, with a key or else with the browser's
   * login.
   */
  async connect(key = this.#key): Promise<void> {
    this.#key = key.trim();
    this.#search = undefined; // its answer may be another person's
    this.state.set({ ...unknown, status: "asking" });
    try {
      await this.#readPrincipal();
      await this.find("");
    } catch (err) {
      if (err instanceof HostError && (err.status === 401 || err.status === 403))
        this.state.set({ ...unknown, status: "closed", ...(key ? { fault: err.message } : {}) });
      else this.state.set({ ...unknown, status: "none", fault: messageOf(err) });
    }
  }

  /** find lists canvases with the words in their title; a later search overrides an earlier one. */
  find(words: string): Promise<void> {
    const found = words.trim();
    if (this.#search?.words === found) return this.#search.done;
    const search = { words: found, done: Promise.resolve() };
    const isLatest = (): boolean => this.#search === search;
    this.#search = search;
    search.done = this.#list(found, isLatest).finally(() => {
      if (isLatest()) this.#search = undefined;
    });
    return search.done;
  }

  async #list(found: string, isLatest: () => boolean): Promise<void> {
    const query = new URLSearchParams({ page_size: String(pageSize), ...(found ? { keywords: found } : {}) });
    const { items, total } = await this.#json<{ items?: HostCanvas[]; total?: number }>(`/api/v2/canvases?${query}`);
    if (isLatest()) this.state.update({ canvases: items ?? [], total: total ?? 0, found, fault: undefined });
  }

  // invalidateList marks the list as stale; views that show it read it again.
  #invalidateList(): void {
    this.#search = undefined;
    this.state.update({ found: undefined });
  }

  /** canvas returns a canvas of the host as text, with its title and where to save it. */
  async canvas(id: string): Promise<{ text: string; title: string; origin: Origin }> {
    const text = await this.#text(`/api/v2/canvases/${encodeURIComponent(id)}`);
    const { title = "", rev = 0 } = JSON.parse(text) as { title?: string; rev?: number };
    return { text, title, origin: { id, rev } };
  }

  /**
   * save replaces the opened document by another one, as text, unless it has a newer revision.
   */
  async save({ id, rev }: Origin, dsl: string): Promise<Origin> {
    await this.#ensureAuthenticated();
    const answer = await this.#send(`/api/v2/canvases/${encodeURIComponent(id)}`, "page", {
      method: "PUT", headers: { "content-type": "application/json" }, body: `{"rev":${rev},"dsl":${dsl}}`,
    });
    const saved = { id, rev: (JSON.parse(await textOf(answer)) as { rev: number }).rev };
    this.#invalidateList();
    return saved;
  }

  /** create stores a document, as text, as a new canvas. */
  async create(title: string, dsl: string): Promise<Origin> {
    await this.#ensureAuthenticated();
    const answer = await this.#send("/api/v2/canvases", "page", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"title":${JSON.stringify(title)},"dsl":${dsl}}`,
    });
    const { id, rev = 0 } = JSON.parse(await textOf(answer)) as { id: string; rev?: number };
    this.#invalidateList();
    return { id, rev };
  }

  /** share lets all members of the tenant use a canvas, or its creator only. */
  async share(id: string, team: boolean): Promise<void> {
    const permission = team ? "team" : "me";
    await this.request("PUT", `/api/v2/canvases/${encodeURIComponent(id)}`, { permission });
    const canvases = this.state.get().canvases.map((each) => (each.id === id ? { ...each, permission } : each));
    this.state.update({ canvases } as Partial<HostState>);
  }

  /** request sends a request of the page itself to the host's API, and reads its JSON. */
  async request<T>(method: string, path: string, body?: unknown): Promise<T> {
    if (method !== "GET") await this.#ensureAuthenticated();
    const headers = { "content-type": "application/json" };
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const text = await textOf(await this.#send(path, "page", { method, ...sent }));
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** call returns request for answers of any kind, also refusals. */
  async call(
    method: string, path: string, body?: string, more: Record<string, string> = {},
  ): Promise<{ status: number; text: string; headers: Headers }> {
    await this.#ensureAuthenticated();
    const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    const sent = body === undefined ? {} : { body };
    const answer = await this.#send(path, "page", { method, headers: { ...type, ...more }, ...sent });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  }

  /**
   * models sends requests of a run to the models of the host, under the person's login or key. It
   * throws a HostError for any other address.
   */
  readonly models: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input), location.origin);
    if (url.href !== location.origin + modelPath) {
      throw new HostError(0, `a run may use the models of the host only, not ${url.origin}${url.pathname}`);
    }
    await this.#ensureAuthenticated();
    return this.#send(modelPath, "run", init);
  };

  /**
   * tool runs a built-in tool of the host, which stores the secrets that its params name. It
   * returns undefined when the person is not signed in, or the host has no such tool.
   */
  readonly tool: Relay = async (component, args, params) => {
    if (this.state.get().status !== "open") return undefined;
    await this.#ensureAuthenticated();
    const answer = await this.#send(`/api/v2/tools/${encodeURIComponent(component)}/call`, "page", {
      method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify({ params, arguments: args }),
    });
    if (answer.status === 404) return undefined; // a host without this tool, or without any
    return (JSON.parse(await textOf(answer)) as { outputs?: Record<string, unknown> | null }).outputs ?? undefined;
  };

  /**
   * ask makes a request of the page itself to the host's v2 API and returns the answer, or throws a
   * HostError. A body is sent as JSON; a form is sent as it is.
   */
  async ask(method: string, path: string, body?: unknown, { accept, signal }: AskOptions = {}): Promise<Response> {
    if (!path.startsWith("/api/v2/")) throw new HostError(0, `${path} is not a path of the host's own API`);
    if (method !== "GET") await this.#ensureAuthenticated();
    const init: RequestInit = { method };
    const headers: Record<string, string> = accept ? { accept } : {};
    if (signal) init.signal = signal;
    if (body instanceof FormData) {
      init.body = body;
    } else if (body !== undefined) {
      init.body = JSON.stringify(body);
      headers["content-type"] = "application/json";
    }
    const response = await this.#send(path, "page", { ...init, headers });
    if (!response.ok) await textOf(response); // throws
    return response;
  }

  /** upload stores a file for runs of a canvas of the host. */
  async upload(canvas: string, name: string, blob: Blob): Promise<Descriptor> {
    const body = new FormData();
    body.append("file", blob, name);
    await this.#ensureAuthenticated();
    const path = `/api/v1/agents/${encodeURIComponent(canvas)}/upload`;
    const { data, message } = JSON.parse(await textOf(await this.#send(path, "page", { method: "POST", body }))) as {
      data?: Descriptor | null; message?: string;
    };
    if (!data) throw new HostError(0, message ?? "");
    return data;
  }

  /** hasLogin reports whether the browser's login is used, not an API key. */
  get hasLogin(): boolean {
    return this.#key === "";
  }

  /** changePassword replaces the password of the person. All logins end, this one too. */
  async changePassword(old: string, next: string): Promise<void> {
    await this.request("PUT", "/api/v2/me/password", { old, new: next });
    if (!this.hasLogin) return;
    this.#csrf = "";
    this.state.set({ ...unknown, status: "closed" });
  }

  /** rename changes the name of the person. */
  async rename(nickname: string): Promise<void> {
    const { nickname: name } = await this.request<{ nickname: string }>("PATCH", "/api/v2/me", { nickname });
    this.state.update({ name });
  }

  /** signOut ends the login of this browser, or forgets the key. */
  async signOut(): Promise<void> {
    if (this.#key) this.#key = "";
    else await textOf(await this.#send("/api/v1/auth/logout", "page", { method: "POST" }));
    this.#csrf = "";
    this.state.set({ ...unknown, status: "closed" });
  }

  // send makes a request to this host, as the page itself or for a run; the host accepts the login
  // from this page only. It detects a login that has ended.
  async #send(path: string, by: "page" | "run", init: RequestInit = {}): Promise<Response> {
    const response = await this.#request(path, by, init);
    if (response.status === 401 && this.state.get().status === "open") {
      this.#csrf = "";
      this.state.set({ ...unknown, status: "closed" });
    }
    return response;
  }

  #request(path: string, by: "page" | "run", init: RequestInit): Promise<Response> {
    return this.#fetch(new URL(path, location.origin), {
      ...init,
      headers: { ...(init.headers as Record<string, string> | undefined), "x-easel-page": by, ...this.#signed() },
      credentials: this.#key ? "omit" : "same-origin",
      redirect: "error",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
  }

  // ensureAuthenticated reads the token that requests with effects need, unless it is known.
  async #ensureAuthenticated(): Promise<void> {
    if (!this.#key && !this.#csrf) await this.#readPrincipal();
  }

  // readPrincipal reads the principal; a login by cookie has a token that must be sent along.
  async #readPrincipal(): Promise<void> {
    const me = await this.#json<{
      nickname?: string; email?: string; tenant_name?: string; role?: string; csrf?: string; scopes?: string[];
    }>("/api/v2/me");
    this.#csrf = me.csrf ?? "";
    const models = await this.#models();
    const name = me.nickname || me.email || me.tenant_name || "";
    const person = { email: me.email ?? "", tenant: me.tenant_name ?? "", role: me.role ?? "" };
    this.state.update({ status: "open", name, person, scopes: me.scopes ?? [], ...models });
  }

  /** learn reads the models again, after they were changed. */
  async learn(): Promise<void> {
    const models = await this.#models();
    if (this.state.get().status === "open") this.state.update(models);
  }

  // models returns an empty list for a person without the scope to run.
  async #models(): Promise<Pick<HostState, "models" | "answers" | "voice">> {
    try {
      const { items = [] } = await this.#json<{ items?: (HostModel & { kind: string })[] }>("/api/v2/models");
      const models = items.filter(({ kind, id }) => kind === "chat" && id !== offline);
      const has = (kind: string): boolean => items.some((model) => model.kind === kind);
      const voice = { speech: has("speech"), transcription: has("transcription") };
      return { models, answers: models.find((model) => model.default)?.id ?? "", voice };
    } catch {
      return { models: [], answers: "" };
    }
  }

  #signed(): Record<string, string> {
    return this.#key ? { authorization: `Bearer ${this.#key}` } : this.#csrf ? { "x-csrf-token": this.#csrf } : {};
  }

  async #json<T>(path: string): Promise<T> {
    const text = await this.#text(path);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new HostError(0, "this server keeps no canvases");
    }
  }

  async #text(path: string): Promise<string> {
    return textOf(await this.#send(path, "page"));
  }
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (response.ok) return text;
  const { message, code } = failureOf(text);
  const other = response.status === 404 ? "this server keeps no canvases" : `${response.status} ${response.statusText}`;
  throw new HostError(response.status, message ?? other, code);
}

function failureOf(text: string): { message?: string; code?: string } {
  try {
    const { error, message } = JSON.parse(text) as { error?: { message?: string; code?: string }; message?: string };
    return { message: error?.message ?? message, code: error?.code };
  } catch {
    return {};
  }
}
