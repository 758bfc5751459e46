// The names of the host's datasets: cards and forms show names, canvases hold ids.

import { messageOf } from "@easel/engine";
import type { Dataset, Datasets } from "./datasets.ts";
import type { Host } from "./host.ts";
import { Store } from "./store.ts";

/** Known is the host's answer about a dataset: null if it is missing, a string if it failed. */
export type Known = Dataset | string | null;

/** DatasetNames requests each dataset from the host once, while the person is signed in there. */
export class DatasetNames {
  /** Answers of the host by the requested id or name. */
  readonly known = new Store<ReadonlyMap<string, Known>>(new Map());
  readonly #datasets: Pick<Datasets, "find">;
  readonly #host: Pick<Host, "state">;
  readonly #may: () => boolean;
  readonly #asked = new Set<string>();

  /** `may` reports whether the open canvas may run: others cause no request. */
  constructor(datasets: Pick<Datasets, "find">, host: Pick<Host, "state">, may = (): boolean => true) {
    this.#datasets = datasets;
    this.#host = host;
    this.#may = may;
    host.state.subscribe(() => {
      if (host.state.get().status === "open") return;
      this.#asked.clear();
      this.known.set(new Map());
    });
  }

  /** ask finds a dataset; with `again` also one that was missing or not readable before. */
  async ask(name: string, again = false): Promise<void> {
    if (this.#host.state.get().status !== "open") return;
    if (!this.#may()) return this.#keep(name, ""); // unknown until the canvas may run
    const found = this.known.get().get(name);
    const settled = typeof found === "object" && found !== null;
    if (settled || (this.#asked.has(name) && !(again && found !== undefined))) return;
    this.#asked.add(name);
    const answer = await this.#datasets.find(name).then((dataset) => dataset ?? null, messageOf);
    if (this.#asked.has(name)) this.#keep(name, answer);
  }

  /** add stores a dataset that the person chose from a list. */
  add(dataset: Dataset): void {
    this.#keep(dataset.id, dataset);
  }

  #keep(name: string, what: Known): void {
    this.known.set(new Map(this.known.get()).set(name, what));
  }
}
