// Changes to parameters, kept beside the opened canvas: the file stays what it was
// until somebody exports. Undo and redo walk over single changes.

import { dict, type Dsl, type Params } from "./dsl.ts";

interface Change {
  node: string;
  key: string;
  before: unknown;
  after: unknown;
}

/** Edits is an unchanging list of changes with a place in it. */
export class Edits {
  readonly #changes: readonly Change[];
  readonly #at: number;
  /** The changed parameters by node. */
  readonly changed: Readonly<Record<string, Params>>;

  constructor(changes: readonly Change[] = [], at = changes.length) {
    this.#changes = changes;
    this.#at = at;
    const changed = dict<Params>({});
    for (const { node, key, after } of changes.slice(0, at)) (changed[node] ??= dict({}))[key] = after;
    this.changed = changed;
  }

  get canUndo(): boolean {
    return this.#at > 0;
  }

  get canRedo(): boolean {
    return this.#at < this.#changes.length;
  }

  /** set adds a change; changes of the same parameter in a row count as one. */
  set(dsl: Dsl, node: string, key: string, value: unknown): Edits {
    const kept = this.#changes.slice(0, this.#at);
    const last = kept.at(-1);
    if (last?.node === node && last.key === key) return new Edits([...kept.slice(0, -1), { ...last, after: value }]);
    return new Edits([...kept, { node, key, before: this.params(dsl, node)[key], after: value }]);
  }

  undo(): Edits {
    return this.canUndo ? new Edits(this.#changes, this.#at - 1) : this;
  }

  redo(): Edits {
    return this.canRedo ? new Edits(this.#changes, this.#at + 1) : this;
  }

  /** params gives the present parameters of a node. */
  params(dsl: Dsl, node: string): Params {
    return { ...dsl.components[node]?.obj.params, ...this.changed[node] };
  }

  /** apply gives the canvas with all changes; nodes that did not change stay the same objects. */
  apply(dsl: Dsl): Dsl {
    const changed = this.changed;
    if (Object.keys(changed).length === 0) return dsl;
    const components = dict(dsl.components);
    for (const [node, params] of Object.entries(changed)) {
      const component = components[node];
      if (component) components[node] = { ...component, obj: { ...component.obj, params: { ...component.obj.params, ...params } } };
    }
    return { ...dsl, components };
  }
}
