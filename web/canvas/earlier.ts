// Nodes whose component has a new name. The engine runs such a node under the id that goes with the
// new name; a document that has the earlier one stays as it is.

import type { RunOptions } from "@easel/engine";
import { dict, type Dsl } from "./dsl.ts";
import type { Specs } from "./drawing.ts";

/** RunIds converts ids of nodes between a document and its runs. */
export class RunIds {
  readonly #inRun = new Map<string, string>();
  readonly #inDocument = new Map<string, string>();

  constructor(dsl: Dsl | undefined, specs: Specs) {
    for (const [id, { obj }] of Object.entries(dsl?.components ?? {})) {
      const earlier = obj.component_name;
      const spec = specs.get(earlier);
      if (!spec?.renamed || spec.name === earlier || !id.startsWith(earlier + ":")) continue;
      const now = spec.name + id.slice(earlier.length);
      this.#inRun.set(id, now);
      this.#inDocument.set(now, id);
    }
  }

  /** run returns the id that a node of the document has in runs. */
  run(id: string): string {
    return this.#inRun.get(id) ?? id;
  }

  /** document returns the id that a node of a run has in the document. */
  document(id: string): string {
    return this.#inDocument.get(id) ?? id;
  }

  /** named replaces ids that are names of members. */
  named<T>(byNode: Record<string, T>): Record<string, T> {
    return dict(Object.fromEntries(Object.entries(byNode).map(([id, value]) => [this.run(id), value])));
  }

  /** event returns an event with the node's id in the document. */
  event<T extends object>(event: T): T {
    const { data } = event as { data?: { component_id?: unknown } | null };
    if (this.#inRun.size === 0 || typeof data?.component_id !== "string") return event;
    return { ...event, data: { ...data, component_id: this.document(data.component_id) } };
  }

  /** options returns options of a run with ids of the run. */
  options(options: RunOptions): RunOptions {
    if (this.#inRun.size === 0) return options;
    const { pins, from, until, base, debug } = options;
    return {
      ...options,
      ...(pins && { pins: this.named(pins) }),
      ...(from !== undefined && { from: this.run(from) }),
      ...(until !== undefined && { until: this.run(until) }),
      ...(base && { base: { ...base, ...(base.outputs && { outputs: this.named(base.outputs) }) } }),
      ...(debug && { debug: { ...debug, node: this.run(debug.node) } }),
    };
  }
}
