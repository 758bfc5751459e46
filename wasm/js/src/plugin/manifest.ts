// What a plugin says about itself, in a custom section of its file. It is read
// without running any code.

import { abi } from "./abi.ts";
import { PluginError } from "./error.ts";
import type { Limits } from "./kernel/guest.ts";
import type { Permissions } from "./permission.ts";
import { read, split } from "./start.ts";

export interface Manifest {
  abi: number;
  name: string;
  version: string;
  description: string;
  display?: Record<string, string>;
  category?: string;
  icon?: string;
  license?: string;
  min_host?: string;
  params?: Schema;
  arguments?: Schema;
  outputs?: Schema;
  streams?: boolean;
  idempotent?: boolean;
  state?: "none" | "tenant" | "run";
  permissions?: Permissions;
  limits?: Partial<Limits>;
  requires?: string[];
  preview?: "local" | "server" | "none";
}

/** Schema is JSON Schema of params, arguments or outputs. */
export type Schema = { type?: string | string[] } & Record<string, unknown>;

/** operations are what `call` offers here, with their versions. */
export const operations: Record<string, number> = {
  "http.fetch": 1, "http.read": 1, "http.close": 1, "llm.chat": 1, embed: 1, "kv.get": 1, "kv.set": 1, "kv.delete": 1, "kv.list": 1,
  "var.get": 1, "var.set": 1, "self.section": 1, sleep: 1, emit: 1,
};

const most: Limits = { memory_mb: 64, timeout_ms: 30_000, output_kb: 16 << 10, fuel: 50_000_000_000 };

/** limitsOf are the limits of each call: what the manifest asks for, under the ceiling of whoever loads it. */
export function limitsOf(manifest: Manifest, ceiling: Partial<Limits> = {}): Limits {
  const out = { ...most };
  for (const name of Object.keys(out) as (keyof Limits)[]) {
    out[name] = Math.min(ceiling[name] || most[name], manifest.limits?.[name] || Infinity);
  }
  return out;
}

/** section gives a custom section of a module; one that stands twice is malformed. */
export function section(wasm: Uint8Array, name: string): Uint8Array | undefined {
  let found: Uint8Array | undefined;
  try {
    if (wasm.length < 8 || new DataView(wasm.buffer, wasm.byteOffset).getUint32(0) !== 0x0061736d) throw new RangeError("no WebAssembly header");
    for (const { id, body, end } of split(wasm)) {
      if (id !== 0) continue;
      const [length, from] = read(wasm, body);
      if (from + length > end) throw new RangeError(`custom section at byte ${body} has a broken name`);
      if (new TextDecoder().decode(wasm.subarray(from, from + length)) !== name) continue;
      if (found) throw new RangeError(`section ${name} stands twice`);
      found = wasm.subarray(from + length, end);
    }
  } catch (err) {
    throw err instanceof RangeError ? new PluginError("malformed", err.message) : err;
  }
  return found;
}

/** ReadSection gives a section of a plugin's own file by name. */
export type ReadSection = (name: string) => string | undefined;

/** maxOwnSection bounds a section that a plugin can read, in bytes. */
const maxOwnSection = 256 << 10;

/** ownSection gives a section that a plugin can read itself; icon, cases and signature are none. */
export function ownSection(wasm: Uint8Array, name: string): string | undefined {
  if (!name.startsWith("easel.") || ["easel.icon", "easel.cases", "easel.signature"].includes(name)) return undefined;
  const found = section(wasm, name);
  return found && found.length <= maxOwnSection ? new TextDecoder().decode(found) : undefined;
}

/** readManifest reads the manifest of a plugin file and checks it. */
export function readManifest(wasm: Uint8Array, version: string): Manifest {
  const raw = section(wasm, "easel.manifest");
  if (!raw) bad("no section easel.manifest; write one with `easel plugin pack`");
  let manifest: unknown;
  try {
    manifest = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
  } catch (err) {
    bad(`manifest is not readable: ${(err as Error).message}`);
  }
  const m = checkManifest(manifest);
  if (m.min_host && version && older(version, m.min_host)) {
    throw new PluginError("unsupported", `needs host ${m.min_host}, this is ${version}; update the host`);
  }
  for (const wish of m.requires ?? []) {
    const [, name = "", v, optional] = /^([a-z][a-z0-9_.]*)@([0-9]+)(\?)?$/.exec(wish) ?? [];
    if (!optional && Number(v) > (operations[name] ?? 0)) {
      throw new PluginError("unsupported", `requires ${wish}, which this host does not offer; use a newer host, or write ${wish}? if the plugin can do without`);
    }
  }
  return m;
}

function bad(message: string): never {
  throw new PluginError("bad_manifest", message);
}

type Kind = "string" | "number" | "boolean" | "object" | "array";
const shape: Record<string, Kind> = {
  abi: "number", name: "string", version: "string", description: "string", display: "object", category: "string", icon: "string",
  license: "string", min_host: "string", params: "object", arguments: "object", outputs: "object", streams: "boolean",
  idempotent: "boolean", state: "string", permissions: "object", limits: "object", requires: "array", preview: "string",
};

/** checkManifest says what is wrong with a manifest. */
export function checkManifest(value: unknown): Manifest {
  if (kindOf(value) !== "object") bad("manifest is not readable: it is no object");
  const m = value as Manifest;
  for (const [name, kind] of Object.entries(shape)) {
    const got = (m as unknown as Record<string, unknown>)[name] ?? undefined;
    if (got !== undefined && kindOf(got) !== kind) bad(`manifest is not readable: ${name}: want ${kind}`);
  }
  if (!(m.abi >= 1)) bad(`abi is missing; write "abi": ${abi}`);
  if (m.abi !== abi) throw new PluginError("abi_mismatch", `made for ABI ${m.abi}, this host serves ABI ${abi}; use a newer host or build the plugin with an older SDK`);
  if (!/^[a-z][a-z0-9_-]{0,62}$/.test(m.name)) bad(`name ${JSON.stringify(m.name)}: want lower-case letters, digits, - and _, beginning with a letter`);
  if (!/^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$/.test(m.version)) bad(`version ${JSON.stringify(m.version)}: want three numbers, as in 1.0.0`);
  if (!m.description) bad("description is missing");
  if (!["", "none", "tenant", "run"].includes(m.state ?? "")) bad(`state "${m.state}": want none, tenant or run`);
  if (!["", "local", "server", "none"].includes(m.preview ?? "")) bad(`preview "${m.preview}": want local, server or none`);
  for (const place of ["params", "arguments", "outputs"] as const) {
    if (m[place] && String(m[place].type) !== "object") bad(`${place}: want a schema of type object`);
  }
  for (const limit of Object.values(m.limits ?? {})) if (typeof limit !== "number" || !(limit >= 0)) bad("limits must not be negative");
  for (const wish of m.requires ?? []) if (!/^[a-z][a-z0-9_.]*@[0-9]+\??$/.test(String(wish))) bad(`requires "${wish}": want name@version, as in http.fetch@1`);
  checkPermissions(m.permissions ?? {});
  return m;
}

// Each permission has a reason, for whoever grants it.
function checkPermissions(p: Permissions): void {
  const hosts = (place: string, given: unknown): void => {
    if (!Array.isArray(given) || given.length === 0 || given.some((host) => typeof host !== "string")) bad(`permissions.${place}.hosts is empty; list the hosts`);
  };
  const reason = (place: string, given: { reason?: string } | undefined): void => {
    if (given && !given.reason) bad(`permissions.${place} has no reason; say in a sentence why the plugin needs it`);
  };
  for (const [name, part] of Object.entries(p)) if (part !== null && kindOf(part) !== "object") bad(`manifest is not readable: permissions.${name}: want object`);
  for (const [name, list] of Object.entries({ "http.methods": p.http?.methods, "variables.read": p.variables?.read, "variables.write": p.variables?.write })) {
    if (list !== undefined && (!Array.isArray(list) || list.some((one) => typeof one !== "string"))) bad(`manifest is not readable: permissions.${name}: want texts`);
  }
  if (p.kv && typeof p.kv.bytes !== "number") bad("manifest is not readable: permissions.kv.bytes: want number");
  if (p.http) hosts("http", p.http.hosts);
  for (const [name, secret] of Object.entries(p.secrets ?? {})) {
    hosts("secrets." + name, secret.hosts);
    reason("secrets." + name, secret);
  }
  for (const kind of ["llm", "embed"] as const) if (p[kind] && !(p[kind].max_calls >= 1)) bad(`permissions.${kind}.max_calls: want at least 1`);
  for (const kind of ["http", "llm", "embed", "kv", "variables"] as const) reason(kind, p[kind]);
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}

// older compares dotted numbers.
function older(have: string, want: string): boolean {
  const [a, b] = [have, want].map((text) => text.split(".").map((part) => parseInt(part, 10) || 0)) as [number[], number[]];
  for (const [i, wanted] of b.entries()) if ((a[i] ?? 0) !== wanted) return (a[i] ?? 0) < wanted;
  return false;
}

const keywords = [
  "type", "description", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "default",
  "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "x-easel-ref",
];

/** plain keeps the keywords of a schema that hosts know, properties by name, so that every host makes the same component of it. */
export function plain(schema: unknown): unknown {
  if (kindOf(schema) !== "object") return schema;
  const out: Record<string, unknown> = {};
  for (const word of keywords) {
    const value = (schema as Record<string, unknown>)[word];
    if (value === undefined || value === null || value === false && word === "x-easel-ref" || Array.isArray(value) && value.length === 0) continue;
    switch (word) {
      case "properties":
        if (Object.keys(value).length) out[word] = Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, plain(one)]));
        break;
      case "items": case "additionalProperties": out[word] = plain(value); break;
      case "anyOf": out[word] = (value as unknown[]).map(plain); break;
      case "type": out[word] = Array.isArray(value) && value.length === 1 ? value[0] : value; break;
      default: out[word] = value;
    }
  }
  return out;
}
