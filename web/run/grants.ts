// The permissions of plugins in parts that a person allows one by one: as an upper bound for all
// plugins of a tenant, and for a plugin of the page out of those that its manifest requests.

import type { Permissions } from "./admin.ts";

/** parts are the single permissions, in the order of forms. */
export const parts = [
  "http", "secrets", "llm", "embed", "kv", "variables", "files_read", "files_store", "clock",
] as const;

/** Part is a single permission. */
export type Part = (typeof parts)[number];

/** Allowed is the form of an upper bound: each allowed part with its bound, "" for none. */
export type Allowed = Partial<Record<Part, string>>;

const anyCalls = 1 << 30;
const anyBytes = Number.MAX_SAFE_INTEGER;
const any = ["*"];

/** megabyte is the unit of sizes in forms. */
export const megabyte = 1_000_000;

/** allowedBy returns the parts that an upper bound allows; without one, all of them. */
export function allowedBy(grant: Permissions | null): Allowed {
  if (grant === null) return Object.fromEntries(parts.map((part) => [part, ""]));
  const { http, secrets, llm, embed, kv, variables, files, clock } = grant;
  const names = Object.keys(secrets ?? {});
  return {
    ...(http?.hosts?.length ? { http: listed(http.hosts) } : {}),
    ...(names.length > 0 ? { secrets: listed(names) } : {}),
    ...(llm && llm.max_calls > 0 ? { llm: bounded(llm.max_calls, anyCalls) } : {}),
    ...(embed && embed.max_calls > 0 ? { embed: bounded(embed.max_calls, anyCalls) } : {}),
    ...(kv && kv.bytes > 0 ? { kv: bounded(kv.bytes / megabyte, anyBytes / megabyte) } : {}),
    ...(variables?.read?.length || variables?.write?.length ? { variables: "" } : {}),
    ...(files?.read ? { files_read: "" } : {}),
    ...(files?.write_bytes ? { files_store: bounded(files.write_bytes / megabyte, anyBytes / megabyte) } : {}),
    ...(clock?.precise ? { clock: "" } : {}),
  };
}

/**
 * boundOf returns the upper bound that a form describes. Parts that the form does not show, such as
 * methods of requests, stay as in `before`. The error for an invalid number names it.
 */
export function boundOf(allowed: Allowed, before: Permissions | null): Permissions {
  const { http, secrets, llm, embed, kv, variables, files_read, files_store, clock } = allowed;
  const files = {
    ...(files_read === undefined ? {} : { read: true }),
    ...(files_store === undefined ? {} : { write_bytes: bytesOf(files_store) }),
  };
  return {
    ...(http === undefined
      ? {}
      : { http: { ...(before?.http ?? { methods: any, private: true }), hosts: namesOf(http) } }),
    ...(secrets === undefined ? {} : { secrets: secretsOf(namesOf(secrets), before) }),
    ...(llm === undefined ? {} : { llm: { max_calls: numberOf(llm, anyCalls) } }),
    ...(embed === undefined ? {} : { embed: { max_calls: numberOf(embed, anyCalls) } }),
    ...(kv === undefined ? {} : { kv: { bytes: bytesOf(kv) } }),
    ...(variables === undefined ? {} : { variables: before?.variables ?? { read: any, write: any } }),
    ...(Object.keys(files).length > 0 ? { files } : {}),
    ...(clock === undefined ? {} : { clock: { precise: true } }),
  };
}

function secretsOf(names: string[], before: Permissions | null): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, before?.secrets?.[name] ?? { hosts: any, plain: true }]));
}

const listed = (names: readonly string[]): string => (names.includes("*") ? "" : names.join(", "));

const bounded = (n: number, most: number): string => (n >= most ? "" : String(n));

function namesOf(text: string): string[] {
  const names = text.split(",").map((each) => each.trim()).filter(Boolean);
  return names.length > 0 ? names : any;
}

function numberOf(text: string, most: number): number {
  const n = text.trim() === "" ? most : Number(text);
  if (!(n > 0)) throw new Error(`${text}: expected a number above 0`);
  return Math.min(n, most);
}

const bytesOf = (text: string): number => Math.min(anyBytes, Math.ceil(numberOf(text, anyBytes) * megabyte));

/** partsAsked lists the parts of a manifest's permissions. */
export function partsAsked(asked: Permissions): Part[] {
  const allowed = allowedBy(asked);
  return parts.filter((part) => allowed[part] !== undefined);
}

/** granted returns the chosen parts of a manifest's permissions. */
export function granted(asked: Permissions, chosen: readonly Part[]): Permissions {
  const { files, ...others } = asked;
  const kept = Object.entries(others).filter(([kind]) => chosen.includes(kind as Part));
  const { read, write_bytes: bytes } = files ?? {};
  const some = {
    ...(read && chosen.includes("files_read") ? { read } : {}),
    ...(bytes && chosen.includes("files_store") ? { write_bytes: bytes } : {}),
  };
  return { ...Object.fromEntries(kept), ...(Object.keys(some).length > 0 ? { files: some } : {}) };
}
