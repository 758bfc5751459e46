// A loaded plugin: its file was read, checked, metered and compiled; each call is sent to a Worker
// that serves no other call at the same time.

import { unmarked } from "../fetch.ts";
import { caps, startExport } from "./abi.ts";
import { Desk, memory, type RunSide, type Services } from "./desk.ts";
import { PluginError } from "./error.ts";
import { imports } from "./imports.ts";
import { commandExport } from "./kernel/command.ts";
import type { Limits, Pinned, Setting } from "./kernel/guest.ts";
import type { Way } from "./kernel/wait.ts";
import { fileComponents, ownSection, type Manifest, type ReadSection } from "./manifest.ts";
import type { Permissions } from "./permission.ts";
import { Runner, type Spawn } from "./runner.ts";
import type { Outcome } from "./kernel/serve.ts";
import { unstart } from "./start.ts";

/** Examined is a checked plugin file: its manifest, its permissions, and its metered module. */
export interface Examined {
  manifest: Manifest;
  /** The manifest as text, which preserves the digits of its numbers. */
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

/** Examine checks and rewrites a plugin file; it throws a PluginError if it refuses the file. */
export type Examine = (wasm: Uint8Array<ArrayBuffer>, options: Ceiling) => Promise<Examined>;

/** Ceiling is the upper bound of a plugin's permissions. */
export type Ceiling = Pick<LoadOptions, "grant" | "limits" | "version">;

/** LoadOptions are the permissions and services of a plugin. */
export interface LoadOptions extends Services {
  /** Upper bound of its permissions; "asked" grants what its manifest requests. Default: none. */
  grant?: Permissions | "asked";
  /** Tighten the limits of each call. */
  limits?: Partial<Limits>;
  /** The settings that its manifest declares, or the values of config_get; never secrets. */
  settings?: Record<string, unknown>;
  /** Replaces clock and random numbers, for tests. */
  pinned?: Pinned;
  /** The way it waits for the host; default: the best one of this environment. */
  way?: Way;
  /** Version of this host, compared with min_host. */
  version?: string;
}

/** CallRequest is one call of an export. */
export interface CallRequest {
  export?: string;
  input: Uint8Array | string;
  /** Id of the run, for plugins with an instance and variables per run. */
  run?: string;
  /** Tighten the limits: milliseconds, units of fuel. */
  timeout?: number;
  fuel?: number;
  /** Without it the call has no permissions, like easel_check. */
  side?: RunSide;
  signal?: AbortSignal;
  /** Permissions of this call; they replace those of the plugin. */
  grant?: Permissions;
  /** Replace services of the plugin in this call. */
  services?: Services;
  /**
   * Mark of placeholders of secrets, {{secret:NAME:MARK}}; it is removed from the results of
   * the call. Without it no placeholder is replaced.
   */
  secretMark?: string;
}

/** settingTexts returns the settings of a plugin, defaults included, as config_get returns them. */
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

  /** load makes a callable plugin from untrusted bytes. */
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
   * call runs an export; a failure of the plugin, or of the host on its behalf, is the
   * outcome's error.
   */
  async call(request: CallRequest): Promise<Outcome> {
    const name = request.export ?? this.manifest.entry?.export ?? "easel_invoke";
    const vars = (request.run !== undefined && this.#vars.get(request.run)) || new Map<string, Uint8Array>();
    const nothing: Outcome = { fuel: 0, memory: 0, logs: [], vars, fault: false };
    const command = name === commandExport && hasCommand(this.manifest);
    const hidden = !command && name.startsWith("_") || name === startExport;
    if (!/^:.?$/.test(this.#exports.get(name) ?? "") || hidden) {
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
      preciseClock: granted.clock?.precise === true,
      command,
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

  /** endRun drops the state of a run. */
  endRun(run: string): void {
    this.#vars.delete(run);
    this.#runner.forget(run);
  }

  close(): void {
    this.#runner.close();
  }
}

function hasCommand(manifest: Manifest): boolean {
  return fileComponents(manifest).some(({ entry }) => entry?.export === commandExport);
}

// withoutMark removes the mark of a call from its result.
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
    if (want === undefined) {
      const others = module === "extism:host/user" ? `; of this module it offers ${[...known.keys()].join(", ")}` : "";
      throw new PluginError("unsupported", `imports ${full}, which this host does not offer${others}`);
    }
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
  const own = Boolean(examined.manifest.components);
  for (const { export: name, ...called } of fileComponents(examined.manifest))
    checkEntry(examined, called, own ? name : undefined);
}

/** checkEntry refuses a plugin that does not export what a call of it, or of a component, calls. */
function checkEntry(examined: Examined, { entry, name: called }: Manifest, own?: string): void {
  const name = entry?.export ?? own ?? "easel_invoke";
  const type = examined.exports.find((each) => each[0] === name && each[1] === "func")?.[2];
  if (entry && !/^:.?$/.test(type ?? "")) {
    const why = "no function without arguments is exported by that name";
    throw new PluginError("unsupported", `manifest names the entry ${name}, but ${why}`);
  }
  if (type === undefined && own)
    throw new PluginError("unsupported", `exports no function ${name}, which the manifest names for ${called}`);
  if (type === undefined) {
    const adapt = "run `easel plugin adapt`, which writes the export to call into the manifest";
    throw new PluginError("unsupported", `exports no function easel_invoke; for a module of another kind ${adapt}`);
  }
  for (const fixed of entry ? fixedExports : [name, ...fixedExports]) {
    const found = examined.exports.find((each) => each[0] === fixed && each[1] === "func");
    if (found && found[2] !== ":i")
      throw new PluginError("unsupported", `exports ${fixed} as ${readable(found[2])}, it is () -> i32`);
  }
}

const fixedExports = ["easel_invoke", "easel_describe", "easel_check"];

const words: Record<string, string> = { i: "i32", I: "i64", f: "f32", F: "f64" };

function readable(type: string): string {
  const [params, results] = type.split(":").map((part) => [...part].map((letter) => words[letter]).join(" "));
  return `(${params}) -> ${results || "()"}`;
}
