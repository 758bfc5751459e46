// Everything the page does, without a line of drawing: the engine, the opened canvas
// with its edits and problems, and the player that runs it. Views read the stores and
// call the methods.

import type { Canvas, Code, ComponentSpec, Diagnostic, Engine } from "@easel/engine";
import { EngineError, messageOf } from "@easel/engine";
import { dict, open, type Dsl, type Opened, type Params } from "../canvas/dsl.ts";
import { Edits } from "../canvas/edits.ts";
import { build, reachable } from "../canvas/model.ts";
import type { CanvasModel } from "../canvas/drawing.ts";
import { rows, sizesOf, type Places } from "../canvas/places.ts";
import { Consents } from "./consent.ts";
import type { Host, Origin } from "./host.ts";
import { Locals } from "./local.ts";
import { Player, type Stage, type World } from "./player.ts";
import { Plugins } from "./plugins.ts";
import { standInsOf } from "./standins.ts";
import { Store } from "./store.ts";

/** Source is where a canvas came from. One of a link or a file runs after the person allowed it. */
export type Source = { kind: "example" | "plugin" | "link" | "file" } | { kind: "host"; origin: Origin };

/** Document is the opened canvas as it is now. */
export interface Document {
  /** Counts what was opened, so that a view can tell one canvas from the next. */
  number: number;
  source: Source;
  opened: Opened;
  edits: Edits;
  /** The canvas with its edits. */
  dsl: Dsl;
  model: CanvasModel;
  /** The engine's layout, for a canvas that says not where its nodes stand. */
  places?: Places;
}

/** Session ties one page together. */
export class Session {
  readonly document = new Store<Document | undefined>(undefined);
  /** Where the canvas can be saved, if it came from the host. */
  readonly origin = new Store<Origin | undefined>(undefined);
  /** The open canvas may run. Until then it is drawn and checked, and requests nothing. */
  readonly allowed = new Store<boolean>(false);
  readonly problems = new Store<Diagnostic[]>([]);
  readonly specs = new Store<Map<string, ComponentSpec>>(new Map());
  /** Why the engine is not there, if it is not. */
  readonly trouble = new Store<string | undefined>(undefined);
  /** Local services that canvases may call. */
  readonly locals = new Locals();
  readonly player: Player;
  readonly plugins: Plugins;
  readonly #engine: Promise<Engine>;
  readonly #consents: Consents;
  #described: Promise<void>;
  #canvas: Promise<Canvas> | undefined;
  #opened = 0;
  #checks = 0;
  #checked: Document | undefined;
  #saved: Edits | undefined;

  constructor(
    engine: Promise<Engine>, world: World, host: Pick<Host, "models"> & Partial<Pick<Host, "tool">>,
    consents = new Consents(),
  ) {
    this.#engine = engine;
    this.#consents = consents;
    const model = (): CanvasModel | undefined => this.document.get()?.model;
    const stage: Stage = {
      allowed: this.allowed.get, canvas: () => this.#load(), node: (id) => model()?.byId.get(id), from: (id) => reachable(model(), id), origins: this.locals.list.get,
      standIns: () => standInsOf(new Set(this.specs.get().values()), engine),
    };
    this.player = new Player(stage, world, host.models, host.tool);
    this.plugins = new Plugins(engine, () => this.#refresh());
    this.locals.list.subscribe(() => this.#reconsider());
    this.#described = this.#describe();
  }

  /** open shows another canvas. It throws a CanvasError if the text is none. */
  open(text: string, name = "", source: Source = { kind: "file" }): void {
    const opened = open(text, name);
    this.restart();
    this.origin.set(source.kind === "host" ? source.origin : undefined);
    this.allowed.set(!isStrange(source));
    this.#saved = undefined;
    this.player.pins.set(dict({}));
    this.problems.set([]);
    this.#opened++;
    this.#show({ number: this.#opened, source, opened }, new Edits());
    void this.#recall();
    void this.#arrange();
    void this.#check();
  }

  /** allow lets the open canvas run, also when it is opened again in this tab. */
  allow(): void {
    const document = this.document.get();
    if (!document) return;
    this.allowed.set(true);
    void this.#consents.add(this.#terms(document));
  }

  /** unsaved reports whether opening another canvas would lose edits or a run. */
  get unsaved(): boolean {
    const document = this.document.get();
    if (!document) return false;
    const edited = Object.keys(document.edits.changed).length > 0 && document.edits !== this.#saved;
    return edited || this.player.play.get().running;
  }

  /** saved notes that these edits are in a file, in a link or on the host. */
  saved(edits: Edits): void {
    this.#saved = edits;
  }

  /** close goes back to having no canvas. */
  close(): void {
    this.restart();
    this.allowed.set(false);
    this.origin.set(undefined);
    this.problems.set([]);
    this.document.set(undefined);
  }

  /** restart forgets the conversation. */
  restart(): void {
    this.player.forget();
    this.#canvas?.then((canvas) => canvas.close(), () => undefined);
    this.#canvas = undefined;
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
      const canvas = await this.#fresh(document);
      const text = await canvas.save();
      canvas.close();
      return text;
    } catch {
      return JSON.stringify(document.dsl, null, 1); // better a file with other spacing than none
    }
  }

  // load gives the canvas with its edits; it is loaded once, and each run goes on with its
  // conversation.
  #load(): Promise<Canvas> {
    return this.#canvas ?? this.#hold(this.#fresh(this.#document()));
  }

  async #fresh({ opened, edits, dsl }: Document): Promise<Canvas> {
    const engine = await this.#engine;
    const changes = Object.entries(edits.changed);
    if (changes.length === 0) return engine.load(opened.text);
    try {
      const canvas = await engine.load(opened.text);
      for (const [node, params] of changes) await canvas.patch(node, params);
      return canvas;
    } catch {
      return engine.load(JSON.stringify(dsl)); // it may be that only the edits make it one that loads
    }
  }

  // hold keeps a loaded canvas unless it fails; the next use then loads it anew.
  #hold(canvas: Promise<Canvas>): Promise<Canvas> {
    this.#canvas = canvas;
    canvas.catch(() => { if (this.#canvas === canvas) this.#canvas = undefined; });
    return canvas;
  }

  // refresh looks at everything anew that other plugins may change; the conversation begins again
  // with the next run.
  #refresh(): void {
    this.restart();
    this.#checked = undefined;
    this.#described = this.#describe();
    void this.#check();
  }

  async #describe(): Promise<void> {
    try {
      const specs = await (await this.#engine).components();
      this.specs.set(new Map(specs.flatMap((spec) => [spec.name, ...(spec.aliases ?? [])].map((name) => [name, spec]))));
    } catch (err) {
      this.trouble.set(messageOf(err));
      return;
    }
    const document = this.document.get();
    if (document) this.#show(document, document.edits, document.places);
  }

  #document(): Document {
    const document = this.document.get();
    if (!document) throw new EngineError("bad_canvas", "no canvas is open");
    return document;
  }

  #revise(change: (document: Document) => Edits): void {
    const document = this.document.get();
    if (!document) return;
    const edits = change(document);
    this.#show(document, edits, document.places);
    const before = document.edits.changed;
    const after = edits.changed;
    const nodes = new Set([...Object.keys(before), ...Object.keys(after)]);
    // A loaded canvas gets just the nodes that changed, and keeps its conversation.
    if (this.#canvas) this.#hold(this.#canvas.then(async (canvas) => {
      for (const node of nodes) {
        const params = { ...originals(document.opened.dsl, node, before[node]), ...after[node] };
        if (JSON.stringify(before[node]) !== JSON.stringify(after[node])) await canvas.patch(node, params);
      }
      return canvas;
    }));
    setTimeout(() => void this.#check(), 150); // typing changes a canvas often
  }

  #show({ number, source, opened }: Pick<Document, "number" | "source" | "opened">, edits: Edits, places?: Places): void {
    const dsl = edits.apply(opened.dsl);
    this.document.set({ number, source, opened, edits, dsl, model: build(dsl, this.specs.get(), places), ...(places ? { places } : {}) });
  }

  // recall allows a canvas that the person allowed before.
  async #recall(): Promise<void> {
    const document = this.document.get();
    if (this.allowed.get() || !document) return;
    const terms = this.#terms(document);
    if (!(await this.#consents.has(terms))) return;
    const now = this.document.get();
    if (now?.opened === document.opened && this.#terms(now) === terms) this.allowed.set(true);
  }

  // reconsider asks again for a canvas of a stranger when it may reach something else than before.
  #reconsider(): void {
    const source = this.document.get()?.source;
    if (!source || !isStrange(source)) return;
    this.allowed.set(false);
    void this.#recall();
  }

  // terms are what a consent is for: the canvas, and the local services it may call.
  #terms({ opened }: Document): string {
    return [opened.text, ...this.locals.list.get()].join("\n");
  }

  // arrange asks the engine for places, when the canvas has none; without an engine nodes stand in
  // rows.
  async #arrange(): Promise<void> {
    await this.#described; // how large a node is drawn depends on its branches
    const asked = this.document.get();
    if (!asked?.model.unplaced) return;
    const { nodes } = asked.model;
    const places = await this.#engine.then((engine) => engine.layout(asked.opened.text, { sizes: sizesOf(nodes) })).then((layout) => layout.nodes, () => rows(nodes));
    const document = this.document.get();
    if (document?.opened === asked.opened) this.#show(document, document.edits, places);
  }

  async #check(): Promise<void> {
    const check = ++this.#checks;
    const document = this.document.get();
    if (!document || document === this.#checked) return;
    this.#checked = document;
    try {
      const text = document.dsl === document.opened.dsl ? document.opened.text : JSON.stringify(document.dsl);
      const problems = await (await this.#engine).validate(text);
      if (check === this.#checks) this.problems.set(problems);
    } catch (err) {
      if (check === this.#checks) this.problems.set([{ severity: "error", code: err instanceof EngineError ? (err.code as Code) : "init", message: messageOf(err) }]);
    }
  }
}

// isStrange reports whether a canvas needs the consent of the person to run.
function isStrange({ kind }: Source): boolean {
  return kind === "link" || kind === "file";
}

function originals(dsl: Dsl, node: string, changed: Params | undefined): Params {
  const params = dsl.components[node]?.obj.params ?? {};
  return Object.fromEntries(Object.keys(changed ?? {}).map((key) => [key, params[key] ?? null]));
}
