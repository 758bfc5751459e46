// Random edits of the canvas of a session, as a person makes them.

import { errorHandle } from "../canvas/edit/wires.ts";
import type { Params } from "../canvas/dsl.ts";
import { isObject } from "../canvas/dsl.ts";
import type { CanvasNode } from "../canvas/drawing.ts";
import { Draft } from "../canvas/edit/draft.ts";
import { setBranches } from "../canvas/edit/branches.ts";
import { removeNodes } from "../canvas/edit/nodes.ts";
import { handlesOf } from "../canvas/handles.ts";
import { build } from "../canvas/model.ts";
import type { Session } from "../run/session.ts";

const kinds = ["Switch", "Categorize", "Message", "LLM", "Retrieval", "Agent", "Iteration"];
const most = 40; // steps of the canvas

type Act = () => void;

/** Walk edits the canvas of a session; the same seed makes the same edits of the same canvas. */
export class Walk {
  readonly #session: Session;
  #state: number;
  #rev = 1;
  #clip: string | undefined;
  #names = 0;

  constructor(session: Session, seed: number) {
    this.#session = session;
    this.#state = (seed % 2_147_483_646) + 1;
  }

  /** begin opens a canvas of the host with a start. */
  begin(): void {
    const components = { begin: { obj: { component_name: "Begin", params: {} }, downstream: [], upstream: [] } };
    const picture = { id: "begin", type: "beginNode", position: { x: 0, y: 0 }, data: { name: "begin" } };
    const graph = { nodes: [picture], edges: [] };
    const source = { kind: "host" as const, origin: { id: "c", rev: 1 } };
    this.#session.open(JSON.stringify({ components, graph }), "walk", source);
  }

  /** step makes one edit and returns its name. */
  step(): string {
    const acts: Record<string, Act> = {
      add: () => this.#add(), link: () => this.#link(), unlink: () => this.#unlink(), remove: () => this.#remove(),
      rename: () => this.#rename(), conditions: () => this.#conditions(), categories: () => this.#categories(),
      errors: () => this.#errors(), undo: () => this.#repeat(() => this.#session.undo()),
      redo: () => this.#repeat(() => this.#session.redo()), copy: () => this.#copy(), merge: () => this.#merge(),
    };
    const names = [...Object.keys(acts), "conditions", "conditions", "categories", "categories", "link", "undo"];
    const name = this.#one(names) ?? "add";
    acts[name]?.();
    return name;
  }

  #random(below: number): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return this.#state % below;
  }

  #one<T>(list: readonly T[]): T | undefined {
    return list[this.#random(Math.max(1, list.length))];
  }

  #some<T>(list: readonly T[]): T[] {
    return list.filter(() => this.#random(3) === 0);
  }

  #repeat(act: Act): void {
    for (let count = 1 + this.#random(4); count > 0; count--) act();
  }

  #nodes(test: (node: CanvasNode) => boolean = () => true): CanvasNode[] {
    return (this.#session.document.get()?.model.nodes ?? []).filter((node) => node.role !== "note" && test(node));
  }

  // way returns a handle of a node that a person may draw from.
  #way(node: CanvasNode): { branch?: string } {
    const branch = this.#one(handlesOf(node).sources.filter((each) => each !== "tool"));
    return branch ? { branch } : {};
  }

  #add(): void {
    if (this.#nodes().length >= most) return this.#remove();
    const before = this.#one(this.#nodes(({ spec }) => spec?.role !== "sink"));
    const after = before ? { after: { node: before.id, ...this.#way(before) } } : {};
    this.#session.editing.add(this.#one(kinds) ?? "LLM", `Step ${this.#names++}`, after);
  }

  #link(): void {
    const [from, to] = [this.#one(this.#nodes()), this.#one(this.#nodes())];
    if (from && to) this.#session.editing.connect({ source: from.id, target: to.id, ...this.#way(from) });
  }

  #unlink(): void {
    const edges = (this.#session.document.get()?.model.edges ?? []).filter(({ role }) => role !== "tool");
    const edge = this.#one(edges);
    if (!edge) return;
    const branch = edge.role === "error" ? errorHandle : edge.branch;
    const { source, target } = edge;
    this.#session.editing.remove([], [{ source, target, ...(branch === undefined ? {} : { branch }) }]);
  }

  #remove(): void {
    const nodes = this.#nodes();
    if (nodes.length > 4) this.#session.editing.remove([this.#one(nodes)?.id ?? ""]);
  }

  #rename(): void {
    const node = this.#one(this.#nodes());
    if (node) this.#session.editing.rename(node.id, `Step ${this.#names++}`);
  }

  #targets(node: CanvasNode): string[] {
    const may = this.#nodes(({ id, role, spec, parent }) =>
      role !== "item" && role !== "tool" && spec?.role !== "start" && id !== node.id && parent === node.parent);
    return this.#some(may).slice(0, 3).map(({ id }) => id);
  }

  #conditions(): void {
    const node = this.#one(this.#nodes(({ kind }) => kind === "Switch"));
    if (!node) return this.#add();
    if (this.#random(4) === 0) return this.#session.editing.branches(node.id, "end_cpn_ids", this.#targets(node));
    const list = Array.isArray(node.params["conditions"]) ? (node.params["conditions"] as Params[]) : [];
    const at = this.#random(list.length || 1);
    const next = [
      () => [...list, { logical_operator: "and", items: [{}], to: this.#targets(node) }],
      () => list.toSpliced(at, 1),
      () => list.toSpliced(at, 1).toSpliced(this.#random(list.length || 1), 0, ...list.slice(at, at + 1)),
      () => list.map((each, i) => (i === at ? { ...each, to: this.#targets(node) } : each)),
    ];
    this.#session.editing.branches(node.id, "conditions", this.#one(next)?.());
  }

  #categories(): void {
    const node = this.#one(this.#nodes(({ kind }) => kind === "Categorize"));
    if (!node) return this.#add();
    this.#session.editing.branches(node.id, "category_description", this.#categoriesOf(node));
  }

  #categoriesOf(node: CanvasNode): Params {
    const value = node.params["category_description"];
    const list = Object.entries(isObject(value) ? value : {});
    const at = this.#random(list.length || 1);
    const [name = "", each = {}] = (list[at] ?? []) as [string?, Params?];
    const fresh = `Kind ${this.#names++}`;
    const next: (() => [string, unknown][])[] = [
      () => [...list, [fresh, { description: "", examples: [], to: this.#targets(node) }]],
      () => list.toSpliced(at, 1),
      () => list.toSpliced(at, 1, [fresh, each]),
      () => list.toSpliced(at, 1).toSpliced(this.#random(list.length), 0, ...(list[at] ? [list[at]] : [])),
      () => list.toSpliced(at, 1, [name || fresh, { ...each, to: this.#targets(node) }]),
    ];
    return Object.fromEntries(this.#one(next)?.() ?? list);
  }

  #errors(): void {
    const node = this.#one(this.#nodes(({ spec }) => spec?.params?.properties?.["exception_goto"] !== undefined));
    const method = this.#one(["", "goto", "comment"]);
    if (node) this.#session.edit(node.id, "exception_method", method);
  }

  #copy(): void {
    if (this.#nodes().length >= most) return this.#remove();
    if (this.#clip === undefined || this.#random(2) === 0) {
      this.#clip = this.#session.editing.copied(this.#some(this.#nodes()).map(({ id }) => id)) ?? this.#clip;
    }
    const at = { x: this.#random(900), y: this.#random(900) };
    if (this.#clip !== undefined) this.#session.editing.paste(this.#clip, at);
  }

  // merge receives a revision of another person, based on the saved canvas; some of ours are saved
  // before.
  #merge(): void {
    const { sharing, document } = this.#session;
    const before = document.get();
    if (!before) return;
    if (this.#random(2) === 0) {
      this.#session.stored({ id: "c", rev: ++this.#rev }, { dsl: before.dsl, text: JSON.stringify(before.dsl) });
    }
    const base = document.get()?.base.dsl ?? before.dsl;
    const specs = this.#session.specs.get();
    const draft = new Draft(base);
    const model = build(base, specs);
    const sorts = model.nodes.filter(({ kind }) => kind === "Categorize");
    const node = this.#one(sorts);
    const branch = node?.spec?.branches?.[0];
    if (node && branch && this.#random(2) === 0) setBranches(draft, specs, node.id, branch, this.#within(model, node));
    else if (model.nodes.length > 4) removeNodes(draft, specs, model, [this.#one(model.nodes)?.id ?? ""]);
    sharing.receive(JSON.stringify(draft.dsl), { id: "c", rev: ++this.#rev });
    const rival = sharing.rival.get();
    if (rival) sharing.choose(new Set(this.#some(rival.conflicts.map(({ key }) => key))));
  }

  // within drops targets that the other person's canvas does not have.
  #within(model: ReturnType<typeof build>, node: CanvasNode): Params {
    const next = this.#categoriesOf(node);
    return Object.fromEntries(Object.entries(next).map(([name, each]) => {
      const category = isObject(each) ? each : {};
      const to = Array.isArray(category["to"]) ? category["to"].filter((id) => model.byId.has(String(id))) : [];
      return [name, { ...category, to }];
    }));
  }
}
