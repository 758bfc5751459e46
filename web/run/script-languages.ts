// The languages in which the host runs scripts of canvases.

import type { Host } from "./host.ts";
import { Store } from "./store.ts";

/** ScriptLanguage is a language of scripts. */
export interface ScriptLanguage {
  name: string;
  /** Why the host cannot run its scripts. */
  missing?: string;
  /** The person may install it. */
  installs?: boolean;
}

const path = "/api/v2/script-languages";

/** ScriptLanguages keeps the answer of the host: forms and lists of problems share it. */
export class ScriptLanguages {
  readonly list = new Store<ScriptLanguage[] | undefined>(undefined);

  async load(host: Pick<Host, "request">): Promise<void> {
    this.list.set((await host.request<{ items: ScriptLanguage[] }>("GET", path)).items);
  }

  #installing: Promise<void> | undefined;

  /**
   * install adds Python to the host; it throws the reason when that fails. Forms that call
   * it while it runs wait for the same installation.
   */
  install(host: Pick<Host, "request">): Promise<void> {
    return (this.#installing ??= this.#install(host).finally(() => (this.#installing = undefined)));
  }

  async #install(host: Pick<Host, "request">): Promise<void> {
    const { ok, error } = await host.request<{ ok: boolean; error?: string }>("POST", `${path}/python/install`);
    if (!ok) throw new Error(error);
    await this.load(host);
  }
}
