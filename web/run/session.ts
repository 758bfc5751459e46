// The logic of the page without views: the engine, the opened canvas with its edits and problems,
// and the player that runs it. Views read the stores and call the methods.

import type { Canvas, Code, ComponentSpec, Diagnostic, Engine } from "@easel/engine";
import { EngineError, messageOf } from "@easel/engine";
import { diff } from "../canvas/diff.ts";
import { dict, hasOnlyGraph, open, type Dsl, type Opened } from "../canvas/dsl.ts";
import { Draft, paramOf } from "../canvas/edit/draft.ts";
import { placeAll } from "../canvas/edit/nodes.ts";
import { typedAt } from "../canvas/edit/steps.ts";
import { setSetting } from "../canvas/edit/wires.ts";
import { RunIds } from "../canvas/earlier.ts";
import { History, type Act } from "../canvas/history.ts";
import { build, reachable } from "../canvas/model.ts";
import { same } from "../canvas/patch.ts";
import type { CanvasModel } from "../canvas/drawing.ts";
import { rows, sizesOf, type Places } from "../canvas/places.ts";
import { rewrite } from "../canvas/rewrite.ts";
import { Consents } from "./consent.ts";
import type { Base, Document, Source } from "./document.ts";
import { Editing } from "./editing.ts";
import { Sharing } from "./sharing.ts";
import type { Host, Origin } from "./host.ts";
import { Locals } from "./local.ts";
import { carried, paramsChanged } from "./reload.ts";
import { Player, type Stage, type World } from "./player.ts";
import { Plugins } from "./plugins.ts";
import { Runs } from "./remote.ts";
import { standInsOf } from "./standins.ts";
import { Store } from "./store.ts";

export type { Base, Document, Source } from "./document.ts";

/** Session is the state of one page. */
export class Session {
  readonly document = new Store<Document | undefined>(undefined);
  /** Where the canvas can be saved, if it came from the host. */
  readonly origin = new Store<Origin | undefined>(undefined);
  /** The open canvas may run. Until then it is drawn and checked, without requests. */
  readonly allowed = new Store<boolean>(false);
  readonly problems = new Store<Diagnostic[]>([]);
  /** order is the order in which nodes start; undefined for a canvas that does not load. */
  readonly order = new Store<"batch" | "eager" | undefined>(undefined);
  readonly specs = new Store<Map<string, ComponentSpec>>(new Map());
  /** The reason why the engine is unavailable, if it is. */
  readonly trouble = new Store<string | undefined>(undefined);
  /** Local services that canvases may call. */
  readonly locals = new Locals();
  readonly editing = new Editing(this);
  readonly sharing = new Sharing(this);
  readonly player: Player;
  readonly plugins: Plugins;
  readonly engine: Promise<Engine>;
  readonly #consents: Consents;
  #described: Promise<void>;
  #canvas: Promise<Canvas> | undefined;
  #opened = 0;
  #checks = 0;
  #checked: Document | undefined;
  #saved: Dsl | undefined;
  #saves = 0;
  #checking: ReturnType<typeof setTimeout> | undefined;

  constructor(
    engine: Promise<Engine>, world: World, host: Pick<Host, "models"> & Partial<Pick<Host, "tool" | "ask" | "upload">>,
    consents = new Consents(), described?: Promise<ComponentSpec[]>,
  ) {
    this.engine = engine;
    this.#consents = consents;
    const model = (): CanvasModel | undefined => this.document.get()?.model;
    const stage: Stage = {
      allowed: this.allowed.get, canvas: () => this.#load(), text: () => this.text(),
      node: (id) => model()?.byId.get(id),
      saved: this.origin.get, ids: () => this.#ids(),
      from: (id) => reachable(model(), id), origins: this.locals.list.get,
      demo: () => this.document.get()?.source.kind === "example" && !this.edited,
      standIns: () => standInsOf(new Set(this.specs.get().values()), engine),
    };
    const { ask, upload } = host;
    const runs = ask && new Runs({ ask: ask.bind(host) }, upload?.bind(host));
    this.player = new Player(stage, world, host.models, host.tool, runs);
    this.plugins = new Plugins(engine, this.player.files.forPlugins, () => this.#refresh());
    this.locals.list.subscribe(() => this.#reconsider());
    let { kind } = this.player.provider.get();
    this.player.provider.subscribe(() => {
      const before = kind;
      ({ kind } = this.player.provider.get());
      if (kind === "host" && before !== "host") this.#reconsider();
    });
    this.#described = this.#describe();
    // Without the file the engine is the first to describe them.
    described?.then((specs) => { if (this.specs.get().size === 0) this.#know(specs); }, () => undefined);
  }

  /** open shows another canvas, with acts of an earlier visit; it throws a CanvasError. */
  open(text: string, name = "", source: Source = { kind: "file" }, acts: readonly Act[] = []): void {
    const opened = open(text, name);
    const history = acts.reduce((before, act) => before.act(act), new History(opened.dsl));
    this.restart();
    this.origin.set(source.kind === "host" ? source.origin : undefined);
    this.allowed.set(!isStrange(source));
    this.#saved = undefined;
    this.player.pins.set(dict({}));
    this.problems.set([]);
    this.#opened++;
    this.sharing.forget();
    this.#show({ number: this.#opened, source, opened, base: { dsl: opened.dsl, text } }, history);
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
    return this.edited || (this.document.get() !== undefined && this.player.play.get().running);
  }

  /** edited reports whether the open canvas differs from what was saved or opened. */
  get edited(): boolean {
    const document = this.document.get();
    return document !== undefined && document.dsl !== (this.#saved ?? document.base.dsl);
  }

  /** own reports whether the canvas is the person's: created here, or saved to the host. */
  get own(): boolean {
    const source = this.document.get()?.source;
    return source !== undefined && (!isStrange(source) || this.origin.get() !== undefined);
  }

  /** saved records that the canvas in this state is in a file or in a link. */
  saved({ dsl }: Pick<Document, "dsl">): void {
    this.#saved = dsl;
    this.#saves++; // later changes are another step
  }

  /** stored records that the host stores a document at a revision, possibly under a new title. */
  stored(origin: Origin, base: Base, title?: string): void {
    const document = this.document.get();
    if (!document) return;
    this.saved(base);
    this.sharing.forget();
    this.origin.set(origin);
    const opened = title === undefined ? document.opened : { ...document.opened, title };
    this.#show({ ...document, base, opened }, document.history, document.places);
  }

  /**
   * replace shows the open canvas with other acts, and on another stored document where one is
   * given. It stays the same canvas: the conversation, pins and selection are kept.
   */
  replace(history: History, stored?: { opened: Opened; base: Base; origin: Origin | undefined }): void {
    const document = this.document.get();
    if (!document) return;
    if (stored) {
      this.#saved = undefined;
      this.#saves++;
      this.origin.set(stored.origin);
    }
    const opened = stored && { ...stored.opened, title: stored.opened.title || document.opened.title };
    this.#revise({ ...document, ...(opened && { opened, base: stored.base }) }, history);
  }

  /** close closes the canvas. */
  close(): void {
    this.restart();
    this.allowed.set(false);
    this.origin.set(undefined);
    this.problems.set([]);
    this.document.set(undefined);
  }

  /** restart drops the conversation. */
  restart(): void {
    this.player.forget();
    this.#canvas?.then((canvas) => canvas.close(), () => undefined);
    this.#canvas = undefined;
  }

  /** edit changes a parameter of a node; typing in one field is one step of undo. */
  edit(node: string, key: string, value: unknown): void {
    const document = this.document.get();
    const before = document && paramOf(document.dsl, node, key);
    const place = typedAt(before, value);
    this.act((draft) => setSetting(draft, node, key, value), place === undefined ? "" : `${node}/${key}${place}`);
  }

  /**
   * act lets `change` edit a draft of the open canvas and takes it as one step of undo; acts in
   * a row with the same key are one step, except for "". Those without a key place all boxes. It
   * returns what `change` returns, or undefined when no canvas is open.
   */
  act<T>(change: (draft: Draft, document: Document) => T, key?: string): T | undefined {
    const document = this.document.get();
    if (!document) return undefined;
    const draft = new Draft(document.dsl);
    if (document.places && key === undefined) placeAll(draft, document.model);
    const placed = draft.changes.length;
    const made = change(draft, document);
    const changes = draft.changes.length > placed ? draft.changes : [];
    const step = key ? { key: `${key} ${this.#saves}` } : {};
    this.#revise(document, document.history.act({ changes, ...step }));
    return made;
  }

  /** drawing returns the picture of a document that an act is making. */
  drawing(dsl: Dsl): CanvasModel {
    return build(dsl, this.specs.get());
  }

  /** layout returns the engine's places for the open canvas. */
  layout(): Promise<Places> {
    return this.#layout(this.#document());
  }

  /** revert returns to the stored document, as one step of undo. */
  revert(): void {
    const document = this.document.get();
    if (!document) return;
    const history = document.history.act({ changes: diff(document.dsl, document.base.dsl) });
    this.#saved = undefined;
    this.#revise({ ...document, base: { ...document.base, dsl: history.dsl } }, history);
  }

  undo(): void {
    const document = this.document.get();
    if (document) this.#revise(document, document.history.undo());
  }

  redo(): void {
    const document = this.document.get();
    if (document) this.#revise(document, document.history.redo());
  }

  /** complete returns a file with the components of its graph, if it has only that. */
  async complete(text: string): Promise<string> {
    return hasOnlyGraph(text) ? (await this.engine).complete(text) : text;
  }

  /** validate checks a document that is not open. */
  async validate(text: string): Promise<Diagnostic[]> {
    await this.#described; // plugins are components by then
    return (await this.engine).validate(text);
  }

  /**
   * text returns the canvas with its edits as JSON: unedited parts keep their text.
   */
  text(): Promise<string> {
    return Promise.resolve(textOf(this.#document()));
  }

  /**
   * file returns the whole file that was opened, with its edits: a canvas may stand inside another
   * object.
   */
  file(): string {
    const { opened, dsl } = this.#document();
    return opened.wrap(rewrite(opened.text, opened.dsl, dsl));
  }

  // load returns the canvas with its edits; it is loaded once, and each run continues with its
  // conversation.
  #load(): Promise<Canvas> {
    return this.#canvas ?? this.#hold(this.#fresh(this.#document()));
  }

  async #fresh(document: Document): Promise<Canvas> {
    return (await this.engine).load(textOf(document));
  }

  // hold keeps a loaded canvas unless it fails; the next use then loads it again.
  #hold(canvas: Promise<Canvas>): Promise<Canvas> {
    this.#canvas = canvas;
    canvas.catch(() => { if (this.#canvas === canvas) this.#canvas = undefined; });
    return canvas;
  }

  // refresh reloads everything that depends on plugins; the next run begins a new conversation.
  #refresh(): void {
    this.restart();
    this.#checked = undefined;
    this.#described = this.#describe();
    void this.#check();
  }

  async #describe(): Promise<void> {
    try {
      this.#know(await (await this.engine).components());
    } catch (err) {
      this.trouble.set(messageOf(err));
    }
  }

  // know takes descriptions of components and draws the canvas with them. A description that was
  // known before stays the same object.
  #know(specs: readonly ComponentSpec[]): void {
    const before = this.specs.get();
    const kept = specs.map((spec) => {
      const known = before.get(spec.name);
      return known && same(known, spec) ? known : spec;
    });
    this.specs.set(new Map(kept.flatMap((spec) => [spec.name, ...(spec.aliases ?? [])].map((name) => [name, spec]))));
    const document = this.document.get();
    if (document) this.#show(document, document.history, document.places);
  }

  #document(): Document {
    const document = this.document.get();
    if (!document) throw new EngineError("bad_canvas", "no canvas is open");
    return document;
  }

  #revise(document: Document, history: History): void {
    if (history === document.history && document.base === this.document.get()?.base) return;
    this.#show(document, history, document.places);
    if (this.document.get()?.model.unplaced) void this.#arrange(); // undone to before it had places
    this.#follow(document.dsl, history.dsl);
    clearTimeout(this.#checking);
    this.#checking = setTimeout(() => void this.#check(), 150); // typing changes a canvas often
  }

  // follow updates the changed params of a loaded canvas, which keeps its conversation. One with
  // other nodes or edges is loaded again with the conversation.
  #follow(before: Dsl, after: Dsl): void {
    const loaded = this.#canvas;
    if (!loaded || before.components === after.components) return;
    const changed = paramsChanged(before, after);
    if (changed) {
      this.#hold(loaded.then(async (canvas) => {
        for (const [node, params] of changed) await canvas.patch(node, params);
        return canvas;
      }));
      return;
    }
    const text = textOf(this.#document());
    this.#hold(loaded.then(async (canvas) => {
      const state = await canvas.save().catch(() => undefined);
      if (!this.player.play.get().running) canvas.close();
      return (await this.engine).load(carried(text, state));
    }));
  }

  #show({ number, source, opened, base, model }: Shown, history: History, places?: Places): void {
    const { dsl } = history;
    const drawn = build(dsl, this.specs.get(), places, model);
    this.document.set({ number, source, opened, base, history, dsl, model: drawn, ...(places ? { places } : {}) });
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

  // reconsider requires consent again if an untrusted canvas may reach other resources than before.
  #reconsider(): void {
    const source = this.document.get()?.source;
    if (!source || !isStrange(source)) return;
    this.allowed.set(false);
    void this.#recall();
  }

  // terms returns the subject of a consent: the canvas, the local services it may call, and whether
  // the models of the host answer, on the account of the person.
  #terms({ opened }: Document): string {
    const models = this.player.provider.get().kind === "host" ? ["models of the host"] : [];
    return [opened.text, ...this.locals.list.get(), ...models].join("\n");
  }

  // arrange requests positions from the engine, if the canvas has none; without an engine nodes are
  // in rows.
  async #arrange(): Promise<void> {
    await this.#described; // how large a node is drawn depends on its branches
    const asked = this.document.get();
    if (!asked?.model.unplaced) return;
    const places = await this.#layout(asked);
    const document = this.document.get();
    if (document?.opened === asked.opened) this.#show(document, document.history, places);
  }

  async #layout(document: Document): Promise<Places> {
    const { nodes } = document.model;
    try {
      return (await (await this.engine).layout(textOf(document), { sizes: sizesOf(nodes) })).nodes;
    } catch {
      return rows(nodes);
    }
  }

  #ids(): RunIds {
    return new RunIds(this.document.get()?.dsl, this.specs.get());
  }

  async #check(): Promise<void> {
    const check = ++this.#checks;
    const document = this.document.get();
    if (!document || document === this.#checked) return;
    this.#checked = document;
    try {
      const text = textOf(document);
      const engine = await this.engine;
      const [problems, order] = await Promise.all([engine.validate(text), engine.order(text).catch(() => undefined)]);
      if (check !== this.#checks) return;
      this.order.set(order);
      const ids = this.#ids();
      this.problems.set(problems.map((each) => (each.node ? { ...each, node: ids.document(each.node) } : each)));
    } catch (err) {
      if (check === this.#checks)
        this.problems.set([
          {
            severity: "error",
            code: err instanceof EngineError ? (err.code as Code) : "init",
            message: messageOf(err),
          },
        ]);
    }
  }
}

// isStrange reports whether a canvas needs the consent of the person to run.
function isStrange({ kind }: Source): boolean {
  return kind === "link" || kind === "file";
}

// textOf returns the canvas as it is now, as text.
function textOf({ opened, dsl }: Document): string {
  return dsl === opened.dsl ? opened.text : rewrite(opened.text, opened.dsl, dsl);
}

type Shown = Pick<Document, "number" | "source" | "opened" | "base"> & { model?: CanvasModel };
