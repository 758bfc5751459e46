// The default model until the person chooses one.

import type { HostState } from "./host.ts";
import { firstChoice, type ProviderChoice } from "./providers.ts";
import type { Store } from "./store.ts";

/**
 * preferHost selects the models of the host once it has a default model, and the offline model
 * again after the host is left, until the person has chosen.
 */
export function preferHost(choice: Store<ProviderChoice>, host: Store<HostState>): void {
  let own = choice.get();
  host.subscribe(() => {
    const { status, answers, models } = host.get();
    if (choice.get() !== own || status === "asking") return;
    const kind = status === "open" && answers !== "" ? "host" : "offline";
    const tools = kind === "host" && models.find(({ id }) => id === answers)?.tools !== false;
    if (own.kind === kind && own.tools === tools) return;
    own = { ...firstChoice, kind, tools };
    choice.set(own);
  });
}
