// Everything the page does, without a line of drawing: the opened canvas, its edits
// and problems, the engine, the turns of the conversation, and the record that is
// being looked at. Views read the stores and call the methods.

import type { ComponentSpec, Engine, Problem, Run, RunOptions } from "@easel/engine";
import { EngineError, messageOf } from "@easel/engine";
import { conclude, emptyState, type RunState } from "@easel/engine/state";
import type { Canvas } from "@easel/engine";
import { open, type Dsl, type Opened, type Params } from "../canvas/dsl.ts";
import { Edits } from "../canvas/edits.ts";
import { build, type CanvasModel } from "../canvas/model.ts";
import { Files } from "./files.ts";
import { firstChoice, Providers, type ProviderChoice } from "./providers.ts";
import { Records } from "./records.ts";
import { Store } from "./store.ts";

/** Document is the opened canvas as it is now. */
export interface Document {
  opened: Opened;
  edits: Edits;
  /** The canvas with its edits. */
  dsl: Dsl;
  model: CanvasModel;
}

/** Ask is what a turn was started with. */
export interface Ask {
  query?: string;
  inputs?: Record<string, unknown>;
  files?: unknown[];
  /** Set when the turn is a rerun of some kind. */
  how?: { kind: "until" | "from" | "debug" | "resume"; node?: string };
}

/** Turn is one run with what started it. */
export interface Turn {
  ask: Ask;
  records: Records;
  state: RunState;
  error?: string;
}

/** Play is what the run views show. */
export interface Play {
  turns: Turn[];
  /** Turn that is looked at; the last one unless somebody chose. */
  chosen: number;
  /** Records of that turn that are shown; undefined follows the run. */
  cursor?: number;
  /** State to draw. */
  shown: RunState;
  running: boolean;
}

/** World is what the page gives to canvases. */
export type World = Pick<RunOptions, "retrieve" | "fetch" | "code">;

const nothing: Play = { turns: [], chosen: -1, shown: emptyState, running: false };

/** Session ties one page together. */
export class Session {
  readonly document = new Store<Document | undefined>(undefined);
  readonly play = new Store<Play>(nothing);
  readonly problems = new Store<Problem[]>([]);
  readonly specs = new Store<Map<string, ComponentSpec>>(new Map());
  readonly pins = new Store<Record<string, Params>>({});
  readonly provider = new Store<ProviderChoice>(firstChoice);
  /** Why the engine is not there, if it is not. */
  readonly trouble = new Store<string | undefined>(undefined);
  readonly files = new Files();
  readonly providers = new Providers();
  readonly #engine: Promise<Engine>;
  readonly #world: World;
  #canvas: Promise<Canvas> | undefined;
  #run: Run | undefined;
  #paused: Run | undefined;
  #frame = 0;
  #checks = 0;
  readonly #settled = new WeakSet<Records>();

  constructor(engine: Promise<Engine>, world: World) {
    this.#engine = engine;
    this.#world = world;
    engine.then((ready) => ready.components()).then(
      (specs) => this.specs.set(new Map(specs.flatMap((spec) => [spec.name, ...(spec.aliases ?? [])].map((name) => [name, spec])))),
      (err: unknown) => this.trouble.set(messageOf(err)),
    );
  }

  /** open shows another canvas. It throws a CanvasError if the text is none. */
  open(text: string, name = ""): void {
    const opened = open(text, name);
    this.cancel();
    this.#forget();
    this.pins.set({});
    this.play.set(nothing);
    this.#show(opened, new Edits());
    void this.#check();
  }

  /** close goes back to having no canvas. */
  close(): void {
    this.cancel();
    this.#forget();
    this.play.set(nothing);
    this.problems.set([]);
    this.document.set(undefined);
  }

  /** edit changes a parameter of a node for the preview. */
  edit(node: string, key: string, value: unknown): void {
    this.#revise((document) => document.edits.set(document.opened.dsl, node, key, value));
  }

  undo(): void {
    this.#revise((document) => document.edits.undo());
  }

  redo(): void {
    this.#revise((document) => document.edits.redo());
  }

  /** text gives the canvas with its edits as JSON. The engine writes it, so that numbers and order stay as they were. */
  async text(): Promise<string> {
    const document = this.#document();
    if (Object.keys(document.edits.changed).length === 0) return document.opened.text;
    try {
      const canvas = await (await this.#engine).load(document.opened.text);
      for (const [node, params] of Object.entries(document.edits.changed)) await canvas.patch(node, params);
      const text = await canvas.save();
      canvas.close();
      return text;
    } catch {
      return JSON.stringify(document.dsl, null, 1); // better a file with other spacing than none
    }
  }

  /** send starts the next turn of the conversation. */
  send(ask: Ask): void {
    const { query, inputs, files } = ask;
    this.#begin(ask, (canvas, options) => canvas.run({ query, inputs, files }, options), {});
  }

  /** answer fills the form that a paused run waits for. */
  answer(inputs: Record<string, unknown>): void {
    const paused = this.#paused;
    if (!paused) return;
    this.#begin({ inputs, how: { kind: "resume" } }, (_canvas, options) => paused.resume(inputs, options), {});
  }

  /** runUntil runs the last question again and stops after a node. */
  runUntil(node: string): void {
    const { query, inputs, files } = this.lastAsk();
    this.#begin({ query, inputs, files, how: { kind: "until", node } }, (canvas, options) => canvas.run({ query, inputs, files }, options), { until: node });
  }

  /** runFrom starts at a node with what the shown state knows, changed by `values` (`node@output` or a variable's name). */
  runFrom(node: string, values: Record<string, unknown> = {}): void {
    const { shown } = this.play.get();
    const outputs: Record<string, Params> = {};
    for (const [id, step] of Object.entries(shown.latest)) if (step.outputs) outputs[id] = { ...step.outputs };
    const variables = { ...shown.variables };
    for (const [name, value] of Object.entries(values)) {
      const [id = "", output] = name.split("@", 2);
      if (output === undefined) variables[name] = value;
      else (outputs[id] ??= {})[output] = value;
    }
    const { query, inputs, files } = this.lastAsk();
    this.#begin({ query, inputs, files, how: { kind: "from", node } }, (canvas, options) => canvas.run({ query, inputs, files }, options), { from: node, base: { outputs, variables } });
  }

  /** debug runs one node alone. */
  debug(node: string, params: Record<string, unknown>): void {
    this.#begin({ how: { kind: "debug", node } }, (canvas, options) => canvas.run({}, options), { debug: { node, params } });
  }

  /** cancel stops the run. */
  cancel(): void {
    this.#run?.cancel("stopped by the person");
  }

  /** pin keeps a node's outputs as they are for all further runs; undefined lets it run again. */
  pin(node: string, outputs: Params | undefined): void {
    const { [node]: _old, ...rest } = this.pins.get();
    this.pins.set(outputs ? { ...rest, [node]: outputs } : rest);
  }

  /** step shows the run as it was after so many records; undefined follows it again. */
  step(cursor: number | undefined): void {
    const play = this.play.get();
    const turn = play.turns[play.chosen];
    if (!turn) return;
    if (cursor === undefined) return this.play.set({ ...play, cursor: undefined, shown: turn.state });
    const at = Math.max(0, Math.min(cursor, turn.records.events.length));
    this.play.set({ ...play, cursor: at, shown: turn.records.at(at) });
  }

  /** choose looks at another turn. */
  choose(index: number): void {
    const play = this.play.get();
    const turn = play.turns[index];
    if (turn) this.play.set({ ...play, chosen: index, cursor: undefined, shown: turn.state });
  }

  /** restart forgets the conversation. */
  restart(): void {
    this.cancel();
    this.#forget();
    this.play.set(nothing);
  }

  /** lastAsk is what a rerun asks again. */
  lastAsk(): Ask {
    return this.play.get().turns.findLast((turn) => turn.ask.how?.kind !== "debug" && turn.ask.how?.kind !== "resume")?.ask ?? {};
  }

  #begin(ask: Ask, start: (canvas: Canvas, options: RunOptions) => Run, more: RunOptions): void {
    if (this.play.get().running) return;
    this.#paused = undefined;
    const turn: Turn = { ask, records: new Records(), state: { ...emptyState, status: "running" } };
    const turns = [...this.play.get().turns, turn];
    this.play.set({ turns, chosen: turns.length - 1, shown: turn.state, running: true, cursor: undefined });
    void this.#follow(turn, start, more).catch((err: unknown) => {
      this.#settle(turn, conclude(turn.records.at(Infinity), "failed"), describe(err));
    });
  }

  async #follow(turn: Turn, start: (canvas: Canvas, options: RunOptions) => Run, more: RunOptions): Promise<void> {
    const canvas = await this.#open();
    const run = start(canvas, {
      ...this.#world, llm: this.providers.model(this.provider.get()), pins: this.pins.get(), ports: { files: this.files.port }, ...more,
    });
    this.#run = run;
    for await (const event of run) {
      turn.records.push([event]);
      this.#paint(turn);
    }
    const result = await run.result;
    if (result.status === "paused") this.#paused = run;
    this.#settle(turn, conclude(turn.records.at(Infinity), result.status, result.error?.message), undefined);
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
    this.#run = undefined;
    this.#publish(turn, { ...turn, state, error });
    this.play.update({ running: false });
  }

  #publish(old: Turn, turn: Turn): void {
    const play = this.play.get();
    const index = play.turns.findIndex((each) => each.records === old.records);
    if (index < 0) return; // another canvas was opened meanwhile
    const turns = play.turns.with(index, turn);
    const follows = play.chosen === index && play.cursor === undefined;
    this.play.set({ ...play, turns, shown: follows ? turn.state : play.shown });
  }

  #open(): Promise<Canvas> {
    const document = this.#document();
    this.#canvas ??= this.#engine.then(async (engine) => {
      const canvas = await engine.load(document.opened.text);
      for (const [node, params] of Object.entries(document.edits.changed)) await canvas.patch(node, params);
      return canvas;
    });
    this.#canvas.catch(() => { this.#canvas = undefined; });
    return this.#canvas;
  }

  #forget(): void {
    this.#canvas?.then((canvas) => canvas.close(), () => undefined);
    this.#canvas = undefined;
    this.#paused = undefined;
  }

  #document(): Document {
    const document = this.document.get();
    if (!document) throw new EngineError("bad_dsl", "no canvas is open");
    return document;
  }

  #revise(change: (document: Document) => Edits): void {
    const document = this.document.get();
    if (!document) return;
    const edits = change(document);
    this.#show(document.opened, edits);
    const before = document.edits.changed;
    const after = edits.changed;
    const nodes = new Set([...Object.keys(before), ...Object.keys(after)]);
    // A loaded canvas gets just the nodes that changed, and keeps its conversation.
    this.#canvas = this.#canvas?.then(async (canvas) => {
      for (const node of nodes) {
        const params = { ...originals(document.opened.dsl, node, before[node]), ...after[node] };
        if (JSON.stringify(before[node]) !== JSON.stringify(after[node])) await canvas.patch(node, params);
      }
      return canvas;
    });
    this.#canvas?.catch(() => { this.#canvas = undefined; });
    void this.#check();
  }

  #show(opened: Opened, edits: Edits): void {
    const dsl = edits.apply(opened.dsl);
    this.document.set({ opened, edits, dsl, model: build(dsl) });
  }

  async #check(): Promise<void> {
    const check = ++this.#checks;
    const document = this.document.get();
    if (!document) return;
    const text = document.dsl === document.opened.dsl ? document.opened.text : JSON.stringify(document.dsl);
    try {
      const problems = await (await this.#engine).validate(text);
      if (check === this.#checks) this.problems.set(problems);
    } catch (err) {
      if (check === this.#checks) this.problems.set([{ level: "error", code: err instanceof EngineError ? err.code : "init", message: messageOf(err) }]);
    }
  }
}

function originals(dsl: Dsl, node: string, changed: Params | undefined): Params {
  const params = dsl.components[node]?.obj.params ?? {};
  return Object.fromEntries(Object.keys(changed ?? {}).map((key) => [key, params[key] ?? null]));
}

function describe(err: unknown): string {
  return err instanceof EngineError ? `${err.message} (${err.code})` : messageOf(err);
}

// A page that is not visible gets no frames, and a test has none.
function requestFrame(paint: () => void): number {
  if (typeof requestAnimationFrame === "undefined" || document.hidden) return setTimeout(paint, 16) as unknown as number;
  return requestAnimationFrame(paint);
}
