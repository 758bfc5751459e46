// A loaded plugin: its bytes were read, checked, metered and compiled; each call goes
// to a Worker of its own.

import { unmarked } from "../fetch.ts";
import { caps, startExport } from "./abi.ts";
import { Desk, memory, type RunSide, type Services } from "./desk.ts";
import { PluginError } from "./error.ts";
import { imports } from "./imports.ts";
import type { Limits, Pinned, Setting } from "./kernel/guest.ts";
import type { Way } from "./kernel/wait.ts";
import { ownSection, type Manifest, type ReadSection } from "./manifest.ts";
import type { Permissions } from "./permission.ts";
import { Runner, type Spawn } from "./runner.ts";
import type { Outcome } from "./kernel/serve.ts";
import { unstart } from "./start.ts";

/** Examined is a checked plugin file: its manifest, what it may do, and its metered module. */
export interface Examined {
  manifest: Manifest;
  /** The manifest as text, which keeps the digits of its numbers. */
  text: string;
  limits: Limits;
  granted: Permissions;
  wasm: Uint8Array<ArrayBuffer>;
  /** [module, name, kind, type], a type like iI:i for (i32 i64) -> i32. */
  imports: [string, string, string, string][];
  /** [name, kind, type] */
  exports: [string, string, string][];
  memory: boolean;
}

/** Examine checks and rewrites a plugin file; it throws a PluginError for what it refuses. */
export type Examine = (wasm: Uint8Array<ArrayBuffer>, options: Ceiling) => Promise<Examined>;

/** Ceiling is the most that a plugin may do. */
export type Ceiling = Pick<LoadOptions, "grant" | "limits" | "version">;

/** LoadOptions say what a plugin may do. */
export interface LoadOptions extends Services {
  /** What it may do at most; "asked" grants what its manifest asks for. Default: nothing. */
  grant?: Permissions | "asked";
  /** Tighten the limits of each call. */
  limits?: Partial<Limits>;
  /** The settings that its manifest declares, or what config_get answers; never secrets. */
  settings?: Record<string, unknown>;
  /** Replaces clock and chance, for tests. */
  pinned?: Pinned;
  /** How it waits for the world; default: the best this place has. */
  way?: Way;
  /** Version of this host, compared with min_host. */
  version?: string;
}

/** CallRequest is one call of an export. */
export interface CallRequest {
  export?: string;
  input: Uint8Array | string;
  /** Names the run, for plugins that keep an instance and variables for one. */
  run?: string;
  /** Tighten the limits: milliseconds, units of fuel. */
  timeout?: number;
  fuel?: number;
  /** Without it the call has no permission at all, as easel_check. */
  side?: RunSide;
  signal?: AbortSignal;
  /** What this call may do, in place of what the plugin may. */
  grant?: Permissions;
  /** Take the place of services of the plugin in this call. */
  services?: Services;
  /**
   * Mark that a placeholder of a secret has to carry, {{secret:NAME:MARK}}; it is removed from what
   * the call gives. Without it none counts.
   */
  secretMark?: string;
}

/** settingTexts returns the settings of a plugin, defaults included, as config_get gives them. */
function settingTexts(manifest: Manifest, set: Record<string, unknown> = {}): Record<string, string> {
  const declared = (manifest.settings?.["properties"] ?? {}) as Record<string, { default?: unknown }>;
  const all = new Map<string, unknown>(Object.entries(declared).map(([name, schema]) => [name, schema.default]));
  for (const [name, value] of Object.entries(set)) all.set(name, value);
  const texts: Record<string, string> = {};
  for (const [name, value] of all) {
    if (value === undefined || value === null) continue;
    texts[name] = typeof value === "string" ? value : JSON.stringify(value);
  }
  return texts;
}

/** Plugin runs calls. */
export class Plugin {
  readonly manifest: Manifest;
  /** The manifest as text. */
  readonly text: string;
  readonly limits: Limits;
  readonly granted: Permissions;
  /** The settings it was loaded with. */
  readonly settings: Record<string, unknown>;
  readonly #exports: Map<string, string>;
  readonly #services: Services;
  readonly #runner: Runner;
  #section: ReadSection = () => undefined;
  readonly #vars = new Map<string, Map<string, Uint8Array>>(); // by run

  private constructor(examined: Examined, services: LoadOptions, runner: Runner) {
    this.settings = services.settings ?? {};
    this.manifest = examined.manifest;
    this.text = examined.text;
    this.limits = examined.limits;
    this.granted = examined.granted;
    const functions = examined.exports.filter(([, kind]) => kind === "func");
    this.#exports = new Map(functions.map(([name, , type]) => [name, type]));
    this.#services = { ...services, kv: services.kv ?? memory() };
    this.#runner = runner;
  }

  /** load takes the bytes of a stranger to a plugin that can be called. */
  static async load(
    wasm: Uint8Array<ArrayBuffer>, examine: Examine, spawn: Spawn, options: LoadOptions = {},
  ): Promise<Plugin> {
    if (wasm.length > caps.module)
      throw new PluginError("over_limit", `file of ${wasm.length} bytes, allowed are ${caps.module}`);
    const examined = await examine(wasm, options);
    checkImports(examined);
    checkExports(examined);
    let module: WebAssembly.Module;
    try {
      module = await WebAssembly.compile(unstart(examined.wasm));
    } catch (err) {
      throw new PluginError("malformed", (err as Error).message);
    }
    const setting: Setting = {
      module, limits: examined.limits, settings: settingTexts(examined.manifest, options.settings),
      idempotent: examined.manifest.idempotent === true,
    };
    if (options.pinned) setting.pinned = options.pinned;
    const plugin = new Plugin(examined, options, new Runner(spawn, setting, options.way));
    plugin.#section = (name) => ownSection(wasm, name);
    return plugin;
  }

  /** has reports whether the plugin exports a function. */
  has(name: string): boolean {
    return this.#exports.has(name);
  }

  /**
   * call runs an export; what the plugin or the host on its behalf has to say against it is the
   * outcome's error.
   */
  async call(request: CallRequest): Promise<Outcome> {
    const name = request.export ?? this.manifest.entry?.export ?? "easel_invoke";
    const vars = (request.run !== undefined && this.#vars.get(request.run)) || new Map<string, Uint8Array>();
    const nothing: Outcome = { fuel: 0, memory: 0, logs: [], vars, fault: false };
    if (!/^:.?$/.test(this.#exports.get(name) ?? "") || name.startsWith("_") || name === startExport) {
      return {
        ...nothing,
        error: new PluginError("unknown_export", `no exported function "${name}" without arguments`).failure(),
      };
    }
    const aborter = new AbortController();
    const side: RunSide = request.side ?? (async () => null);
    const granted = request.side ? request.grant ?? this.granted : {};
    const services = { ...this.#services, ...request.services };
    const desk = new Desk(this.manifest, granted, services, side, aborter.signal, request.secretMark);
    desk.section = this.#section;
    const work = {
      export: name,
      input: typeof request.input === "string" ? new TextEncoder().encode(request.input) : request.input,
      vars,
      timeout: Math.min(this.limits.timeout_ms, request.timeout || Infinity),
      fuel: request.fuel || this.limits.fuel,
    };
    const state = this.manifest.state;
    const sharing =
      state === "run"
        ? ({ state, run: request.run ?? "" } as const)
        : ({ state: state === "tenant" ? state : "any" } as const);
    try {
      const outcome = await this.#runner.call(work, sharing, {
        emit: (kind, data) => (request.side ? desk.emit(kind, data) : Promise.resolve(true)),
        ask: (op, asked) => (op === "http" ? desk.http(asked) : desk.answer(asked)),
      }, request.signal ?? new AbortController().signal);
      if (request.run !== undefined && outcome.vars.size > 0) this.#vars.set(request.run, outcome.vars);
      if (desk.stored.length > 0) outcome.files = desk.stored;
      return withoutMark(outcome, request.secretMark);
    } catch (err) {
      if (!(err instanceof PluginError)) throw err;
      return withoutMark({ ...nothing, error: err.failure(), fault: true }, request.secretMark);
    } finally {
      aborter.abort(); // whatever the plugin still waited for
    }
  }

  /** endRun drops what was kept for a run. */
  endRun(run: string): void {
    this.#vars.delete(run);
    this.#runner.forget(run);
  }

  close(): void {
    this.#runner.close();
  }
}

// withoutMark removes the mark of a call from what it gave.
function withoutMark(outcome: Outcome, mark: string | undefined): Outcome {
  if (!mark) return outcome;
  const plain = <T>(value: T): T => JSON.parse(unmarked(JSON.stringify(value), mark)) as T;
  const out: Outcome = { ...outcome, logs: plain(outcome.logs) };
  const text = new TextDecoder().decode(outcome.output);
  if (text.includes(mark)) out.output = new TextEncoder().encode(unmarked(text, mark)); // other bytes stay unchanged
  if (outcome.error) out.error = plain(outcome.error);
  return out;
}

function checkImports(examined: Examined): void {
  for (const [module, name, kind, type] of examined.imports) {
    const known = imports.get(module);
    const full = `${module} ${name}`;
    if (!known && /^easel:host\//.test(module))
      throw new PluginError("abi_mismatch", `imports ${full}; this host serves easel:host/v1`);
    if (!known)
      throw new PluginError(
        "unsupported",
        `imports ${full}; a plugin may import from ${[...imports.keys()].join(", ")} only`,
      );
    if (kind !== "func")
      throw new PluginError("unsupported", `imports the ${kind} ${full}; only functions may be imported`);
    const want = known.get(name);
    if (want === undefined) throw new PluginError("unsupported", `imports ${full}, which this host does not offer`);
    if (type !== want)
      throw new PluginError("unsupported", `imports ${full} as ${readable(type)}, it is ${readable(want)}`);
  }
}

function checkExports(examined: Examined): void {
  const withPointers = ["easel:host/v1", "wasi_snapshot_preview1"];
  const pointers = examined.imports.some(([module]) => withPointers.includes(module));
  if (pointers && !examined.exports.some(([name, kind]) => name === "memory" && kind === "memory")) {
    throw new PluginError("unsupported", 'uses pointers but does not export its memory as "memory"');
  }
  const entry = examined.manifest.entry?.export;
  const callable = ([name, kind, type]: Examined["exports"][number]): boolean =>
    name === entry && kind === "func" && /^:.?$/.test(type);
  if (entry !== undefined && !examined.exports.some(callable)) {
    const why = "no function without arguments is exported by that name";
    throw new PluginError("unsupported", `manifest names the entry ${entry}, but ${why}`);
  }
  if (entry === undefined && !examined.exports.some(([name, kind]) => name === "easel_invoke" && kind === "func")) {
    const adapt = "run `easel plugin adapt`, which writes the export to call into the manifest";
    throw new PluginError("unsupported", `exports no function easel_invoke; for a module of another kind ${adapt}`);
  }
  for (const [name, kind, type] of examined.exports) {
    if (kind === "func" && ["easel_invoke", "easel_describe", "easel_check"].includes(name) && type !== ":i") {
      throw new PluginError("unsupported", `exports ${name} as ${readable(type)}, it is () -> i32`);
    }
  }
}

const words: Record<string, string> = { i: "i32", I: "i64", f: "f32", F: "f64" };

function readable(type: string): string {
  const [params, results] = type.split(":").map((part) => [...part].map((letter) => words[letter]).join(" "));
  return `(${params}) -> ${results || "()"}`;
}
