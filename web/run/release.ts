// The data of a canvas on the host: its versions, the published one, tokens, schedules, and missing
// requirements.

import type { Code, Diagnostic, Status } from "@easel/engine";
import type { Dsl } from "../canvas/dsl.ts";
import type { Installed } from "./admin.ts";
import type { Host } from "./host.ts";
import { offline } from "./model-names.ts";

/** Version is a saved document of a canvas; only the request for one version returns `dsl`. */
export interface Version {
  id: string;
  number: number;
  title: string;
  author: string;
  created: string;
  published: boolean;
  published_at?: string;
  dsl?: Dsl;
}

/** Schedule runs a canvas by time. */
export interface Schedule {
  id: string;
  name: string;
  every?: string;
  cron?: string;
  zone?: string;
  query?: unknown;
  paused: boolean;
  next: string[];
  last?: { run: string; status: Status; error?: string; created: string };
  published: boolean;
  /** The plugin that starts the runs, one for each item that it returns. */
  plugin?: string;
  /** The path whose requests the plugin receives; such a schedule has no times. */
  hook?: string;
}

/** NewSchedule is a schedule to make. */
export type NewSchedule = Pick<Schedule, "name" | "every" | "cron" | "zone" | "plugin"> & {
  query: string;
  params?: Record<string, unknown>;
};

/** Release makes the requests for one canvas of the host. */
export class Release {
  readonly #host: Pick<Host, "request">;
  readonly #path: string;
  readonly id: string;

  constructor(host: Pick<Host, "request">, id: string) {
    this.#host = host;
    this.id = id;
    this.#path = `/api/v2/canvases/${encodeURIComponent(id)}`;
  }

  async versions(): Promise<Version[]> {
    return (await this.#host.request<{ items: Version[] }>("GET", `${this.#path}/versions`)).items;
  }

  version(id: string): Promise<Version> {
    return this.#host.request("GET", `${this.#path}/versions/${encodeURIComponent(id)}`);
  }

  rename(id: string, title: string): Promise<Version> {
    return this.#host.request("PATCH", `${this.#path}/versions/${encodeURIComponent(id)}`, { title });
  }

  /** publish publishes the checked revision, and returns the new one. */
  publish(rev: number): Promise<{ rev: number }> {
    return this.#host.request("POST", `${this.#path}/publish`, { rev });
  }

  /** stored returns when the canvas was published last, and whether the team may use it. */
  async stored(): Promise<{ published: string | undefined; team: boolean }> {
    const { published, permission } = await this.#host.request<{ published?: { at: string }; permission: string }>(
      "GET",
      this.#path,
    );
    return { published: published?.at, team: permission === "team" };
  }

  /** token returns the embed token of the canvas, and creates it at the first call. */
  async token(): Promise<string> {
    return (await this.#host.request<{ token: string }>("POST", `${this.#path}/token`, {})).token;
  }

  /** secret returns the secret with which a site signs user ids, with `replaces` a new one. */
  async secret(replaces: boolean): Promise<string> {
    const path = `${this.#path}/token/secret`;
    return (await this.#host.request<{ secret: string }>(replaces ? "PUT" : "POST", path, {})).secret;
  }

  /** revoke revokes the embed token: pages with it stop working. */
  revoke(): Promise<void> {
    return this.#host.request("DELETE", `${this.#path}/token`);
  }

  /** key makes an API key that may run and read. */
  async key(name: string): Promise<string> {
    const body = { name, scopes: ["run", "read"] };
    return (await this.#host.request<{ key: string }>("POST", "/api/v2/keys", body)).key;
  }

  async schedules(): Promise<Schedule[]> {
    const path = `/api/v2/schedules?canvas=${encodeURIComponent(this.id)}`;
    return (await this.#host.request<{ items: Schedule[] }>("GET", path)).items;
  }

  /** triggers lists the installed plugins that begin runs. */
  async triggers(): Promise<Installed[]> {
    const { items } = await this.#host.request<{ items: Installed[] }>("GET", "/api/v2/plugins");
    return items.filter((plugin) => plugin.trigger && plugin.state === "on");
  }

  schedule(given: NewSchedule): Promise<Schedule> {
    return this.#host.request("POST", "/api/v2/schedules", { ...given, canvas: this.id, published: true });
  }

  pause(id: string, paused: boolean): Promise<Schedule> {
    return this.#host.request("PUT", `/api/v2/schedules/${encodeURIComponent(id)}`, { paused });
  }

  unschedule(id: string): Promise<void> {
    return this.#host.request("DELETE", `/api/v2/schedules/${encodeURIComponent(id)}`);
  }

  /** check finds requirements that the host lacks, and private objects that publishing opens. */
  check(dsl: Dsl): Promise<Check> {
    return check(this.#host, `${this.#path}/validate`, dsl);
  }
}

/** Opened is a private object of the person that others read through a published canvas. */
export interface Opened {
  kind: "dataset" | "memory";
  id: string;
  title: string;
}

/** Check has the findings of a host about a document. */
export interface Check {
  needs: Need[];
  opened: Opened[];
}

/** check returns the findings of the host about a document; `path` validates documents. */
export async function check(host: Pick<Host, "request">, path: string, dsl: Dsl): Promise<Check> {
  const names = async (list: string): Promise<Set<string>> => {
    const { items } = await host.request<{ items: { id?: string; name?: string }[] }>("GET", list);
    return new Set(items.flatMap(({ id, name }) => [id, name].filter((each) => each !== undefined)));
  };
  const [checked, models, secrets] = await Promise.all([
    host.request<{ diagnostics: Diagnostic[]; opened: Opened[] }>("POST", path, { dsl }),
    names("/api/v2/models"),
    names("/api/v2/secrets"),
  ]);
  const needs = [...checked.diagnostics.map(ofDiagnostic), ...lacking(dsl, { models, secrets })];
  return { needs, opened: checked.opened };
}

/** Need is a missing requirement of a canvas. */
export interface Need {
  /** An error stops publishing. */
  severity: "error" | "warning";
  kind: "diagnostic" | "no_model" | "secret";
  /** Node that needs it. */
  node?: string;
  /** Message of a diagnostic, or the missing name. */
  text: string;
  /** Code of a diagnostic. */
  code?: Code;
}

function ofDiagnostic({ severity, code, node, message }: Diagnostic): Need {
  const grave = severity === "error" ? "error" : "warning";
  return { severity: grave, kind: "diagnostic", ...(node ? { node } : {}), text: message, code };
}

/** There is the set of resources of a host, by id and name. */
export interface There {
  models: ReadonlySet<string>;
  secrets: ReadonlySet<string>;
}

/**
 * lacking lists the secrets that nodes name and a host does not have, and that it has no model for
 * its steps; the host itself reports models that it lacks.
 */
export function lacking(dsl: Dsl, there: There): Need[] {
  const needs: Need[] = [];
  const alone = [...there.models].every((id) => id === offline);
  let asksModel = false;
  for (const [node, { obj }] of Object.entries(dsl.components)) {
    for (const [name] of fieldsOf(obj.params)) asksModel ||= name === "llm_id";
    for (const [, name = ""] of JSON.stringify(obj.params).matchAll(/\{\{\s*secret:([\w.-]+)/g)) {
      if (!there.secrets.has(name)) needs.push({ severity: "error", kind: "secret", node, text: name });
    }
  }
  if (asksModel && alone) needs.unshift({ severity: "warning", kind: "no_model", text: "" });
  return needs;
}

// fieldsOf lists the members of params and of nested values, such as the tools of an agent.
function* fieldsOf(value: unknown, depth = 0): Generator<[string, unknown]> {
  if (typeof value !== "object" || value === null || depth > 12) return;
  for (const [name, member] of Object.entries(value)) {
    yield [name, member];
    yield* fieldsOf(member, depth + 1);
  }
}
