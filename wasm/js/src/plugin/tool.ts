// A plugin that implements a component of the engine, for programs that handle the engine's calls
// of kind `tool`. It runs as on a server (host/internal/tools): a call is granted the hosts of the
// manifest and that of an address in the canvas's own params, and keys from params never enter the
// sandbox.

import { EngineError } from "../errors.ts";
import type { Code } from "../generated.ts";
import type { Request } from "../protocol.ts";
import type { Carrier } from "./http.ts";
import type { Manifest, Schema } from "./manifest.ts";
import type { Permissions } from "./permission.ts";
import type { Plugin } from "./plugin.ts";

/** Ask sends one request to the engine module. */
export type Ask = (request: Request, body?: string) => Promise<string>;

/** ToolCall is one call. */
export interface ToolCall {
  params: Record<string, unknown>;
  args: Record<string, unknown>;
  /** Param with another address of the service; its host is granted. */
  base: string;
  /**
   * Sends the requests, whose hosts are granted. It decides about private addresses and the page's
   * own server.
   */
  fetch: NonNullable<Carrier["fetch"]>;
  /** Idempotency key. */
  key?: string;
  signal?: AbortSignal;
}

/** ToolInput is the input of a plugin that implements a component. */
export interface ToolInput {
  /** Params with keys are placeholders with the mark of the call. */
  params: Record<string, unknown>;
  args: Record<string, unknown>;
  /** The values of those params, by name. */
  keys: Record<string, string>;
}

/** ToolModule runs the calls of one plugin. */
export class ToolModule {
  readonly #plugin: Plugin;
  readonly #ask: Ask;

  constructor(plugin: Plugin, ask: Ask) {
    this.#plugin = plugin;
    this.#ask = ask;
  }

  /** keys are the params with keys. */
  get keys(): string[] {
    return Object.keys(this.#plugin.manifest.permissions?.secrets ?? {});
  }

  /** call returns the outputs, or throws an EngineError with the code of the tool. */
  async call({ params, args, base, fetch, key = "", signal }: ToolCall): Promise<Record<string, unknown>> {
    const { manifest, limits, granted } = this.#plugin;
    const mark = newMark();
    const given = toolInput(manifest, params, args, mark);
    await this.#check({ op: "check", params: { ...given.params, ...given.keys }, arguments: given.args });
    const call = { id: key, attempt: 1, deadline_ms: limits.timeout_ms, preview: true, secret_mark: mark };
    const outcome = await this.#plugin.call({
      input: JSON.stringify({ abi: manifest.abi, call, params: given.params, arguments: given.args }),
      secretMark: mark, side: () => Promise.resolve({ ok: {} }),
      grant: widened(granted, given.params[base], base),
      services: { fetch, secrets: given.keys, decodeText: true },
      ...(signal && { signal }),
    });
    if (outcome.error) {
      const { code, message, retryable } = outcome.error;
      throw new EngineError(code as Code, `${code}: ${message}`, { retry: retryable });
    }
    const outputs = await this.#check({ op: "check", output: new TextDecoder().decode(outcome.output) });
    return JSON.parse(outputs) as Record<string, unknown>;
  }

  // check compares a call with the manifest; its errors read CODE: MESSAGE, as on a server.
  async #check(request: Request): Promise<string> {
    try {
      return await this.#ask(request, this.#plugin.text);
    } catch (err) {
      throw err instanceof EngineError ? new EngineError(err.code as Code, err.message.replace(/^plugin /, "")) : err;
    }
  }

  close(): void {
    this.#plugin.close();
  }
}

/**
 * toolInput selects the component's params and arguments that the manifest declares, in the types
 * that it names.
 */
export function toolInput(
  manifest: Manifest, params: Record<string, unknown>, args: Record<string, unknown>, mark: string,
): ToolInput {
  const keys: Record<string, string> = {};
  const secrets = manifest.permissions?.secrets ?? {};
  const known = Object.entries(taken(manifest.params, params)).map(([name, value]): [string, unknown] => {
    if (!Object.hasOwn(secrets, name)) return [name, value];
    keys[name] = String(value);
    return [name, `{{secret:${name}:${mark}}}`];
  });
  return { params: Object.fromEntries(known), args: taken(manifest.arguments, args), keys };
}

function taken(schema: Schema | undefined, values: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema?.["properties"] ?? {}) as Record<string, Schema>;
  const known = Object.entries(values).filter(([name, value]) => Object.hasOwn(properties, name) && !blank(value));
  return Object.fromEntries(known.map(([name, value]) => [name, fitted(properties[name]?.type, value)]));
}

// blank reports whether a param or an argument counts as absent.
function blank(value: unknown): boolean {
  return value === null || value === undefined || typeof value === "string" && value.trim() === "";
}

// fitted returns a value, as a number or a boolean where the canvas wrote it as a string.
function fitted(type: Schema["type"], value: unknown): unknown {
  const types = [type ?? []].flat();
  if (typeof value !== "string" || types.includes("string")) return value;
  const text = value.trim().toLowerCase();
  if (types.includes("integer") && /^[+-]?[0-9]+$/.test(text)) return Number(text);
  return types.includes("boolean") && /^(1|t|true|0|f|false)$/.test(text) ? /^(1|t|true)$/.test(text) : value;
}

// newMark generates a mark for the placeholders of one call.
function newMark(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// widened returns the grant of a call: that of the tool, and the host of an address that the canvas
// names. The fetch decides about private addresses.
function widened(granted: Permissions, address: unknown, base: string): Permissions {
  if (!granted.http) return granted;
  const http = { ...granted.http, private: true };
  if (typeof address !== "string" || address === "") return { ...granted, http };
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !url.host || url.username || url.password) {
    const accepted = "use an http or https address without user name; references are not replaced in it";
    throw new EngineError("bad_param", `invalid_argument: param ${base}: ${JSON.stringify(address)}: ${accepted}`);
  }
  const host = `${url.hostname.replace(/\.$/, "")}:${url.port || (url.protocol === "http:" ? "80" : "443")}`;
  const secrets = Object.entries(granted.secrets ?? {})
    .map(([name, secret]) => [name, { ...secret, hosts: [...secret.hosts, host] }]);
  return { ...granted, http: { ...http, hosts: [...http.hosts, host] }, secrets: Object.fromEntries(secrets) };
}
