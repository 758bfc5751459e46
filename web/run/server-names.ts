// The MCP servers of the host, for the cards and forms of agents: canvases hold ids.

import type { Server } from "./admin.ts";
import type { Host } from "./host.ts";
import { Store } from "./store.ts";

/** ServerNames requests the host's servers once, while the person is signed in there. */
export class ServerNames {
  /** The servers; undefined until they are known. */
  readonly known = new Store<readonly Server[] | undefined>(undefined);
  readonly #host: Pick<Host, "state" | "request">;
  #asked = false;

  constructor(host: Pick<Host, "state" | "request">) {
    this.#host = host;
    host.state.subscribe(() => {
      if (host.state.get().status === "open") return;
      this.#asked = false;
      this.known.set(undefined);
    });
  }

  /** ask loads the servers if they are unknown; a failure leaves the ids on the cards. */
  ask(): void {
    if (this.#asked || this.#host.state.get().status !== "open") return;
    this.load().catch(() => undefined);
  }

  /** load reads the servers again. */
  async load(): Promise<readonly Server[]> {
    this.#asked = true;
    const { items } = await this.#host.request<{ items: Server[] }>("GET", "/api/v2/mcp-servers");
    this.known.set(items);
    return items;
  }

  /** learn stores the tools that a server offers now. */
  learn(id: string, tools: string[]): void {
    this.known.set(this.known.get()?.map((server) => (server.id === id ? { ...server, tools } : server)));
  }
}

/** serverNamed returns a server by its id or, as the host does, by its name in any case. */
export function serverNamed(servers: readonly Server[] | undefined, name: string): Server | undefined {
  const folded = name.toLowerCase();
  return servers?.find(({ id }) => id === name) ?? servers?.find((each) => each.name.toLowerCase() === folded);
}
