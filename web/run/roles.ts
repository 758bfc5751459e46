// Projects, and who has which role on what: requests of the page to the host.

import type { Host } from "./host.ts";

/** roles are those on objects, the weakest first. */
export const roles = ["viewer", "runner", "reviewer", "editor", "admin"] as const;

/** Role is the rank of a person on an object. */
export type Role = (typeof roles)[number];

/** Project holds canvases, datasets, memories and secrets; the default one has the id "". */
export interface Project {
  id: string;
  name: string;
  role: Role;
}

/** Holding are the numbers of what a project has. */
export interface Holding extends Project {
  holds: { canvases: number; datasets: number; memories: number; secrets: number };
  grants: number;
  keys: number;
}

/** Way leads to a role. */
export type Way = "owner" | "grant" | "project" | "tenant" | "member";

/** Holder has a role by one way. */
export interface Holder {
  /** user:ID, key:ID, group:NAME, or empty for each member. */
  subject: string;
  name: string;
  role: Role;
  through: Way;
}

/** Sharing is who has which role on an object. */
export interface Sharing {
  shared: boolean;
  project: string;
  /** Of the person who looks. */
  role: Role;
  items: Holder[];
}

/** Kind is the kind of an object in a project. */
export type Kind = "canvas" | "dataset" | "memory";

/** Item is an object in a project. */
export interface Item {
  kind: Kind;
  id: string;
  name: string;
  tags: readonly string[];
}

const lists: Record<Kind, { path: string; method: "PUT" | "PATCH" }> = {
  canvas: { path: "canvases", method: "PUT" },
  dataset: { path: "datasets", method: "PATCH" },
  memory: { path: "memories", method: "PUT" },
};

/** objectOf is the name of an object in grants. */
export function objectOf({ kind, id }: { kind: Kind | "project"; id: string }): string {
  return `${kind}:${id}`;
}

/** strongest is the role of a subject with several. */
export function strongest(held: readonly Holder[]): Role {
  return held.reduce<Role>(
    (best, { role }) => (roles.indexOf(role) > roles.indexOf(best) ? role : best), "viewer",
  );
}

/** bySubject groups holders: each subject with all its ways, in the order of the first. */
export function bySubject(items: readonly Holder[]): Holder[][] {
  const groups = new Map<string, Holder[]>();
  for (const item of items) groups.set(item.subject, [...(groups.get(item.subject) ?? []), item]);
  return [...groups.values()];
}

/** Roles makes the requests. */
export class Roles {
  readonly #host: Pick<Host, "request">;

  constructor(host: Pick<Host, "request">) {
    this.#host = host;
  }

  #ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.#host.request(method, `/api/v2/${path}`, body);
  }

  async projects(): Promise<Project[]> {
    return (await this.#ask<{ items: Project[] }>("GET", "projects")).items;
  }

  holding(id: string): Promise<Holding> {
    return this.#ask("GET", `projects/${encodeURIComponent(id)}`);
  }

  create(name: string): Promise<Project> {
    return this.#ask("POST", "projects", { name });
  }

  rename(id: string, name: string): Promise<Project> {
    return this.#ask("PUT", `projects/${encodeURIComponent(id)}`, { name });
  }

  /** remove deletes a project; what it holds moves to another one. */
  remove(id: string, to: string): Promise<void> {
    return this.#ask("DELETE", `projects/${encodeURIComponent(id)}?move_to=${encodeURIComponent(to)}`);
  }

  sharing(object: string): Promise<Sharing> {
    return this.#ask("GET", `access?object=${encodeURIComponent(object)}`);
  }

  give(object: string, subject: string, role: Role): Promise<unknown> {
    return this.#ask("PUT", "grants", { object, subject, role });
  }

  revoke(object: string, subject: string): Promise<void> {
    const query = new URLSearchParams({ object, subject });
    return this.#ask("DELETE", `grants?${query}`);
  }

  subjects(): Promise<{ people: { id: string; name: string; email: string }[]; groups: string[] }> {
    return this.#ask("GET", "subjects");
  }

  /** items are at most 1,000 objects of a kind in a project, and the number of all. */
  async items(kind: Kind, project: string): Promise<{ items: Item[]; total: number }> {
    type Row = { id: string; title?: string; name?: string; tags?: string[] };
    const query = new URLSearchParams({ project, ...(kind === "memory" ? {} : { page_size: "1000" }) });
    const answer = await this.#ask<{ items: Row[]; total?: number }>("GET", `${lists[kind].path}?${query}`);
    const items = answer.items.map(({ id, title, name, tags = [] }) => ({ kind, id, name: title ?? name ?? id, tags }));
    return { items, total: answer.total ?? items.length };
  }

  #change({ kind, id }: { kind: Kind; id: string }, body: unknown): Promise<unknown> {
    const { path, method } = lists[kind];
    return this.#ask(method, `${path}/${encodeURIComponent(id)}`, body);
  }

  move(item: { kind: Kind; id: string }, project: string): Promise<unknown> {
    return this.#change(item, { project });
  }

  /** share lets the roles of the project count for an object, or keeps it its owner's. */
  share(item: { kind: Kind; id: string }, team: boolean): Promise<unknown> {
    return this.#change(item, item.kind === "dataset" ? { team } : { permission: team ? "team" : "me" });
  }

  tag(id: string, tags: readonly string[]): Promise<unknown> {
    return this.#change({ kind: "canvas", id }, { tags });
  }
}
