// The conversation with an opened canvas: turns, reruns, pins, and the record that is shown. It
// accesses canvases only through Stage.

import type { Asked, Canvas, FormField, ModelPiece, Port, RunOptions } from "@easel/engine";
import { EngineError, messageOf } from "@easel/engine";
import { conclude, emptyState, type RunState } from "@easel/engine/state";
import { dict, own, type Params } from "../canvas/dsl.ts";
import type { RunIds } from "../canvas/earlier.ts";
import type { Read } from "../read/reader.ts";
import type { Origin } from "./host.ts";
import { CaseError } from "./cases/case.ts";
import { Files } from "./files.ts";
import { firstChoice, Providers, type ProviderChoice, type ProviderKind } from "./providers.ts";
import { continued, keptGood, Records, waiting } from "./records.ts";
import { RemoteRun, type Question, type Running, type Runs } from "./remote.ts";
import type { Answer } from "./standins.ts";
import { Store } from "./store.ts";
import { noSubstitutes, watched, type Local, type Relay, type Substitutes } from "./substitutes.ts";

/** Ask is the input of a turn. */
export interface Ask {
  query?: string;
  inputs?: Record<string, unknown>;
  files?: unknown[];
  /** Set when the turn is a rerun of some kind. */
  how?: { kind: "until" | "from" | "debug" | "resume" | "stored"; node?: string };
}

/** Turn is one run with its input. */
export interface Turn {
  ask: Ask;
  records: Records;
  state: RunState;
  error?: string;
  /** Code of the failure of the run, or of its start. */
  code?: string;
  /** Nodes whose outputs were pinned when it began. */
  pinned: ReadonlySet<string>;
  /** Where it runs, and as which run of the host. */
  place: Place;
  run?: string;
  /** Source of the answers of models at its start. */
  model: ProviderKind;
  /** The stand-ins used. */
  substitutes: Substitutes;
  /** The calls that it made in the page, except calls of models. */
  calls: Outside[];
  /** Functions that a model called, by the call of the model; empty if it may not call any. */
  functions: Map<string, Functions>;
  /** The canvas as it was before this turn, so that a rerun finds the same conversation. */
  before?: string;
}

/** Functions are the function calls in an answer of a model. */
type Functions = NonNullable<ModelPiece["tool_calls"]>;

/** Outside is a call of a run that was answered outside of the engine. */
export interface Outside {
  call: Asked;
  /** The last piece of the answer; absent while the call is open. */
  answer?: { ok: boolean; payload: unknown };
}

/** Place is where runs start: in the page, or on the host. */
export type Place = "page" | "host";

/** Play is the state of the run views. */
export interface Play {
  turns: Turn[];
  /** The shown turn; the last one by default. */
  chosen: number;
  /** Number of shown records of that turn; undefined follows the run. */
  cursor?: number;
  /** State to draw. */
  shown: RunState;
  running: boolean;
}

/** World is the set of resources that the page offers to canvases. */
export interface World extends Pick<RunOptions, "retrieve" | "fetch" | "code"> {
  /** Names of the datasets that retrieve searches. */
  datasets?: ReadonlySet<string>;
  /** Returns the text of attached documents. */
  read?: Read;
  /** Runs built-in tools in the page. */
  tool?: Local;
  /** Returns the canvases that a canvas runs as nodes and tools. */
  canvases?: Port;
}

/** Stage is the canvas that is played. */
export interface Stage {
  /** allowed reports whether it may run. */
  allowed(): boolean;
  /** canvas returns the loaded canvas with its edits. */
  canvas(): Promise<Canvas>;
  /** text returns the document with its edits as JSON. */
  text(): Promise<string>;
  /** node returns a node by its id, with its display name. */
  node(id: string): { id: string; name: string; kind: string } | undefined;
  /** origins returns the local origins that it may call. */
  origins(): readonly string[];
  /** saved is the canvas on the host, if it is there. */
  saved?(): Origin | undefined;
  /** ids converts ids of its nodes to those of its runs, and back. */
  ids(): RunIds;
  /** from returns a node and all that a run from it may reach. */
  from(id: string): Set<string>;
  /** standIns answer for components that work outside. */
  standIns(): Record<string, Answer>;
  /** demo reports whether it is an unedited example, which sends no requests to services. */
  demo?(): boolean;
}

/** Start begins a run on a loaded canvas. */
type Start = (canvas: Canvas, options: RunOptions) => Running;

/** Rest describes the start of a run that is not the next turn. */
interface Rest {
  options?: RunOptions;
  /** What is shown of earlier runs while this one continues. */
  base?: RunState;
  /** Turn that is repeated or continued. */
  again?: Turn;
  /** The run continues the paused one: its conversation is not rewound. */
  resumes?: boolean;
  /** The run on the host, instead of one that starts here. */
  remote?: RemoteRun | Promise<Running>;
}

const shownID = 8; // characters of the id of a run

const nothing: Play = { turns: [], chosen: -1, shown: emptyState, running: false };

/** Player runs one canvas after the other. */
export class Player {
  readonly play = new Store<Play>(nothing);
  readonly pins = new Store<Record<string, Params>>(dict({}));
  /** Where the next run begins. */
  readonly where = new Store<Place>("page");
  readonly provider = new Store<ProviderChoice>(firstChoice);
  readonly files: Files;
  readonly providers: Providers;
  readonly #stage: Stage;
  readonly #world: World;
  readonly #relay: Relay | undefined;
  readonly #runs: Runs | undefined;
  readonly #settled = new WeakSet<Records>();
  #run: Running | undefined;
  #paused: { run: Running; state: RunState; turn: Turn } | undefined;
  #halted: Records | undefined; // of the turn that was stopped
  #frame = 0;

  constructor(stage: Stage, world: World, host: typeof fetch, relay?: Relay, runs?: Runs) {
    this.#runs = runs;
    this.#relay = relay;
    this.files = new Files(world.read);
    this.providers = new Providers(host);
    this.#stage = stage;
    this.#world = world;
  }

  /** here returns the names of the datasets in the page. */
  get here(): ReadonlySet<string> {
    return this.#world.datasets ?? new Set();
  }

  /** scripts returns the runner of scripts, if the page has one. */
  get scripts(): World["code"] {
    return this.#world.code;
  }

  /** send starts the next turn of the conversation. */
  send(ask: Ask): void {
    const origin = this.#stage.saved?.();
    const runs = this.#remote();
    if (runs && origin) return this.#follows(runs.start(origin, questionOf(ask, this.#pinned()), this.files), ask);
    this.#begin(ask, asking(ask));
  }

  /** repeat sends the last question again after a turn that failed. */
  repeat(): void {
    const { ask, again } = this.#asked();
    if (ask === undefined) return;
    if (this.#remote() && this.#stage.saved?.()) return this.send(ask);
    this.#begin(ask, asking(ask), { again });
  }


  /** answer fills the form that a paused run waits for. */
  answer(inputs: Record<string, unknown>): void {
    const paused = this.#paused;
    if (!paused) return;
    if (paused.turn.place === "host") {
      // A run on the host continues there.
      const [run, origin] = [paused.run as RemoteRun, this.#stage.saved?.()];
      const stored = this.#runs && origin && this.#runs.resume(run, origin.id, inputs, this.files);
      const remote = stored ?? run.resume(inputs);
      return this.#follows(remote, { inputs, how: { kind: "resume" } }, continued(paused.state));
    }
    this.#begin({ inputs, how: { kind: "resume" } }, (_canvas, options) => paused.run.resume(inputs, options), {
      base: continued(paused.state),
      again: paused.turn,
      resumes: true,
    });
  }

  /** show follows a run of the host, one that has ended too. */
  show(id: string): void {
    if (this.#runs) this.#follows(this.#runs.stored(id), { how: { kind: "stored", node: id.slice(0, shownID) } });
  }

  /** caseOf returns a turn that ran on the host as a case file. */
  async caseOf({ run }: Turn): Promise<string> {
    if (!this.#runs || run === undefined) throw new CaseError("part");
    return this.#runs.case(run);
  }

  // remote returns the host, if the next run begins there.
  #remote(): Runs | undefined {
    return this.where.get() === "host" && !this.play.get().running ? this.#runs : undefined;
  }

  #follows(remote: RemoteRun, ask: Ask, base?: RunState): void {
    this.#begin(ask, () => remote, { remote, ...(base ? { base } : {}) });
  }

  /** runUntil runs the shown question again and stops after a node. */
  runUntil(node: string): void {
    const { ask = {}, again } = this.#asked();
    const [runs, origin] = [this.#remote(), this.#stage.saved?.()];
    if (runs && origin) {
      const question = { ...questionOf(ask, this.#pinned()), until: this.#stage.ids().run(node) };
      return this.#follows(runs.start(origin, question, this.files), { ...ask, how: { kind: "until", node } });
    }
    this.#begin({ ...ask, how: { kind: "until", node } }, asking(ask), { options: { until: node }, again });
  }

  /**
   * runFrom starts at a node with the outputs and variables of the shown state, changed by `values`
   * (`node@output` or a variable's name).
   */
  runFrom(node: string, values: Record<string, unknown> = {}): void {
    const { shown, turns, chosen } = this.play.get();
    const stored = turns[chosen]?.run;
    const runs = this.#remote();
    if (runs && stored !== undefined && Object.keys(values).length === 0) {
      const nth = own(shown.latest, node)?.run ?? 1;
      const remote = runs.rerun(stored, this.#stage.ids().run(node), nth, this.#pinned());
      return this.#follows(remote, { how: { kind: "from", node } }, continued(shown, this.#stage.from(node)));
    }
    const outputs = dict<Params>({});
    for (const [id, step] of Object.entries(shown.latest)) if (step.outputs) outputs[id] = { ...step.outputs };
    const variables = dict(shown.variables);
    for (const [name, value] of Object.entries(values)) {
      const [id = "", output] = name.split("@", 2);
      if (output === undefined) variables[name] = value;
      else (outputs[id] ??= {})[output] = value;
    }
    const { ask = {}, again } = this.#asked();
    this.#begin({ ...ask, how: { kind: "from", node } }, asking(ask), {
      options: { from: node, base: { outputs, variables } },
      base: continued(shown, this.#stage.from(node)),
      again,
    });
  }

  /** form returns the fields for running one node alone, with the values of the shown run. */
  async form(node: string): Promise<Record<string, FormField>> {
    const fields = await (await this.#stage.canvas()).form(this.#stage.ids().run(node));
    const { latest, variables } = this.play.get().shown;
    for (const [name, field] of Object.entries(fields)) {
      const [id = "", output = ""] = name.split("@", 2);
      const known =
        own(own(latest, node)?.inputs, name) ?? own(own(latest, id)?.outputs, output) ?? own(variables, name);
      if (known !== undefined) field.value = known;
    }
    return fields;
  }

  /** debug runs one node alone, with values for the fields of its form. */
  debug(node: string, params: Record<string, unknown>): void {
    const base = continued(this.play.get().shown);
    const [runs, origin, named] = [this.#remote(), this.#stage.saved?.(), this.#stage.node(node)];
    if (runs && origin && named) {
      const run = { ...named, id: this.#stage.ids().run(node) };
      const remote = import("./alone.ts").then(({ AloneRun }) =>
        new AloneRun(runs.host, origin.id, this.#stage.text(), run, params));
      return this.#begin({ how: { kind: "debug", node } }, asking({}), { remote, base });
    }
    this.#begin({ how: { kind: "debug", node } }, asking({}), { options: { debug: { node, params } }, base });
  }

  /** cancel stops the run, also one that has not begun yet. */
  cancel(): void {
    const { running, turns } = this.play.get();
    if (running) this.#halted = turns.at(-1)?.records;
    this.#run?.cancel("stopped by the person");
  }

  /** pin keeps a node's outputs as they are for all further runs; undefined lets it run again. */
  pin(node: string, outputs: Params | undefined): void {
    const { [node]: _old, ...rest } = this.pins.get();
    this.pins.set(dict(outputs ? { ...rest, [node]: outputs } : rest));
  }

  /** step shows the run after its first `cursor` records; undefined follows it again. */
  step(cursor: number | undefined): void {
    const play = this.play.get();
    const turn = play.turns[play.chosen];
    if (!turn) return;
    if (cursor === undefined) return this.play.set({ ...play, cursor: undefined, shown: turn.state });
    const at = Math.max(0, Math.min(cursor, turn.records.events.length));
    this.play.set({ ...play, cursor: at, shown: turn.records.at(at) });
  }

  /** choose shows another turn. */
  choose(index: number): void {
    const play = this.play.get();
    const turn = play.turns[index];
    if (turn) this.play.set({ ...play, chosen: index, cursor: undefined, shown: turn.state });
  }

  /** forget ends the conversation. Pins stay, and a run on the host continues there. */
  forget(): void {
    if (this.#run?.leave) this.#run.leave();
    else this.cancel();
    this.#run = undefined;
    this.#paused = undefined;
    this.#runs?.forget();
    this.play.set(nothing);
  }

  // pinned returns the pins by the ids of runs.
  #pinned(): Record<string, Params> {
    return this.#stage.ids().named(this.pins.get());
  }

  // asked returns the question of the shown turn; a debugged node or an answered form belongs to
  // the turn before.
  #asked(): { ask?: Ask; again?: Turn } {
    const { turns, chosen } = this.play.get();
    const again = turns
      .slice(0, chosen + 1)
      .findLast((turn) => turn.ask.how?.kind !== "debug" && turn.ask.how?.kind !== "resume");
    if (!again) return {};
    const { query, inputs, files } = again.ask;
    return { ask: { query, inputs, files }, again };
  }

  #begin(ask: Ask, start: Start, rest: Rest = {}): void {
    if (this.play.get().running || !this.#stage.allowed()) return;
    const { base } = rest;
    this.#paused = undefined;
    const turn: Turn = {
      ask,
      records: new Records(base),
      state: { ...(base ?? emptyState), status: "running" },
      before: rest.again?.before,
      pinned: new Set(Object.keys(this.pins.get())),
      substitutes: noSubstitutes,
      model: rest.remote ? "host" : this.provider.get().kind,
      place: rest.remote ? "host" : "page",
      calls: [],
      functions: new Map(),
    };
    const turns = [...this.play.get().turns, turn];
    this.play.set({ turns, chosen: turns.length - 1, shown: turn.state, running: true, cursor: undefined });
    void this.#follow(turn, start, rest).catch((err: unknown) => {
      if (err instanceof EngineError) turn.code = err.code;
      this.#settle(turn, conclude(turn.records.at(Infinity), "failed"), describe(err));
    });
  }

  async #follow(turn: Turn, start: Start, rest: Rest): Promise<void> {
    const run = (await rest.remote) ?? await this.#started(turn, start, rest);
    if (!run) return this.#settle(turn, conclude(turn.records.at(Infinity), "canceled"), undefined);
    this.#run = run;
    if (this.#halted === turn.records) run.cancel("stopped by the person"); // before there was a run to stop
    if (rest.remote instanceof RemoteRun) {
      void rest.remote.id.then((id) => { turn.run = id; }, () => undefined); // the events fail then
    }
    const ids = this.#stage.ids();
    for await (const told of run) {
      const event = ids.event(told);
      if (event.event === "takeover") turn.records.truncate(event.keep);
      else turn.records.push([event]);
      this.#paint(turn);
    }
    const result = await run.result;
    const last = turn.records.at(Infinity);
    const ended = conclude(last, result.status, result.error?.message);
    const { how } = turn.ask;
    const over = how?.kind === "debug" && how.node !== undefined ? keptGood(ended, rest.base, how.node) : ended;
    if (result.error) turn.code = result.error.code;
    if (result.status !== "paused") return this.#settle(turn, over, undefined);
    this.#paused = { run, state: last, turn };
    const nodes = (result.waiting ?? []).flatMap((id) => this.#stage.node(ids.document(id)) ?? []);
    this.#settle(turn, waiting(over, nodes, Date.now() / 1000), undefined);
  }

  // started begins a run in the page; undefined when it was stopped before it began.
  async #started(turn: Turn, start: Start, { options, again, resumes }: Rest): Promise<Running | undefined> {
    const canvas = await this.#stage.canvas();
    if (!resumes && !options?.debug) await this.#rewind(canvas, turn, again);
    if (this.#stopped(turn)) return undefined;
    const choice = this.provider.get();
    const { datasets: here = new Set<string>(), retrieve, fetch, code, tool: local, canvases } = this.#world;
    const origins = this.#stage.origins();
    const ports = watched({ retrieve, fetch, code }, {
      standIns: this.#stage.standIns(), invents: choice.standIns, here, origins,
      local: this.#stage.demo?.() ? undefined : local, relay: this.#relay,
      noted: (substitutes) => { turn.substitutes = substitutes; },
    });
    return start(canvas, this.#stage.ids().options({
      ...ports, llm: this.providers.model(choice), pins: this.pins.get(), reach: { origins }, scheduling: "auto",
      ports: { files: this.files.port, ...(canvases && { canvas: canvases }) }, ...options,
      onCall: (call) => {
        if (call.kind === "model") return functionsOf(call, turn.functions); // the events have the rest
        const made: Outside = { call };
        turn.calls.push(made);
        return (ok, _more, payload) => { made.answer = { ok, payload }; };
      },
    }));
  }

  // rewind restores the conversation to the start of the repeated turn, or records the start of a
  // new turn.
  async #rewind(canvas: Canvas, turn: Turn, again: Turn | undefined): Promise<void> {
    if (again?.before !== undefined) await canvas.restore(again.before);
    turn.before = again?.before ?? await canvas.save();
  }

  #stopped(turn: Turn): boolean {
    const { turns } = this.play.get();
    return this.#halted === turn.records || !turns.some((each) => each.records === turn.records);
  }

  // A run may send hundreds of events between two frames; one picture is enough.
  #paint(turn: Turn): void {
    if (this.#frame) return;
    this.#frame = requestFrame(() => {
      this.#frame = 0;
      if (!this.#settled.has(turn.records)) this.#publish(turn, { ...turn, state: turn.records.at(Infinity) });
    });
  }

  #settle(turn: Turn, state: RunState, error: string | undefined): void {
    turn.records.settle(state);
    this.#settled.add(turn.records);
    if (!this.#publish(turn, { ...turn, state, error })) return;
    this.#run = undefined;
    this.play.update({ running: false });
  }

  // publish updates a turn, if its canvas is still open.
  #publish(old: Turn, turn: Turn): boolean {
    const play = this.play.get();
    const index = play.turns.findIndex((each) => each.records === old.records);
    if (index < 0) return false;
    const turns = play.turns.with(index, turn);
    const follows = play.chosen === index && play.cursor === undefined;
    this.play.set({ ...play, turns, shown: follows ? turn.state : play.shown });
    return true;
  }
}

// asking starts a run with the message of a person.
function asking({ query, inputs, files }: Ask): Start {
  return (canvas, options) => canvas.run({ query, inputs, files }, options);
}

// questionOf returns the input of a run on the host.
function questionOf({ query, inputs, files }: Ask, pins: Record<string, Params>): Question {
  return {
    ...(query === undefined ? {} : { query }), ...(inputs ? { inputs } : {}), ...(files ? { files } : {}),
    ...(Object.keys(pins).length > 0 ? { pins } : {}),
  };
}

function describe(err: unknown): string {
  return err instanceof EngineError ? `${err.message} (${err.code})` : messageOf(err);
}

// A hidden page gets no frames, and a test has none.
function requestFrame(paint: () => void): number {
  if (typeof requestAnimationFrame === "undefined" || document.hidden)
    return setTimeout(paint, 16) as unknown as number;
  return requestAnimationFrame(paint);
}

// functionsOf collects the function calls in the answer of a model.
function functionsOf({ payload }: Asked, all: Turn["functions"]): ReturnType<NonNullable<RunOptions["onCall"]>> {
  if (!payload["tools"]) return undefined;
  const called: Functions = [];
  all.set(String(payload["key"]), called);
  return (_ok, _more, piece) => { called.push(...((piece as ModelPiece | null)?.tool_calls ?? [])); };
}
