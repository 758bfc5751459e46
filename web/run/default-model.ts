// The model that answers while the person has chosen none.

import type { HostState } from "./host.ts";
import { firstChoice, type ProviderChoice } from "./providers.ts";
import type { Store } from "./store.ts";

/**
 * preferHost makes the models of the host answer once it has one for steps that name none, and the
 * offline model again when it is left: until the person has chosen.
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
