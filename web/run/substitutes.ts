// What stood in for the outside in a run: a model that is none, tools whose answers are made up or
// came through the host, datasets that a page does not have. The person is to know, whatever the
// answers look like.

import type { Found, Providers as Ports, Retriever, Tool } from "@easel/engine";
import type { RunState } from "@easel/engine/state";
import { own } from "../canvas/dsl.ts";
import type { ProviderKind } from "./providers.ts";
import type { Answer } from "./standins.ts";

/** Searched is what was found, and where it was not searched. */
export interface Searched extends Found {
  /** Datasets that exist neither here nor on the host. */
  absent: string[];
  /** Names of the datasets that the host searched. */
  relayed: string[];
}

/** Substitutes is what stood in during one run, each list without repetition. */
export interface Substitutes {
  /** Components whose stand-in made an answer up. */
  tools: string[];
  /** Components that the host ran, and datasets that it searched. */
  relayed: string[];
  /** Datasets that were searched and are not here. */
  datasets: string[];
  /** Where the components of each node were run, by the id of the node. */
  routes: Readonly<Record<string, readonly Route[]>>;
}

/** Route says who answered for a component: a tool of the host, or a stand-in. */
export interface Route {
  component: string;
  by: "host" | "stand_in";
}

/** noSubstitutes is a run that had the real things so far. */
export const noSubstitutes: Substitutes = { tools: [], relayed: [], datasets: [], routes: {} };

/** Relay runs a component on the host; undefined when there is no host, or it has no such tool. */
export type Relay = (
  component: string, args: Record<string, unknown>, params: Record<string, unknown>,
) => Promise<Record<string, unknown> | undefined>;

/**
 * watched wraps the ports of a run and adds the stand-ins; `noted` gets the whole each time
 * something is added. A tool of the host goes before its stand-in.
 */
export function watched(
  ports: Ports, standIns: Record<string, Answer>, here: ReadonlySet<string>, noted: (substitutes: Substitutes) => void,
  relay: Relay = () => Promise.resolve(undefined),
): Ports {
  let known = noSubstitutes;
  const add = (list: Exclude<keyof Substitutes, "routes">, names: string[]): void => {
    const fresh = [...new Set(names)].filter((name) => !known[list].includes(name));
    if (fresh.length === 0) return;
    known = { ...known, [list]: [...known[list], ...fresh] };
    noted(known);
  };
  // A tool of an agent calls as AGENT-->NAME.
  const route = (caller: string | undefined, component: string, by: Route["by"]): void => {
    const [node = ""] = (caller ?? "").split("-->", 1);
    const before = own(known.routes, node) ?? [];
    if (node === "" || before.some((each) => each.component === component && each.by === by)) return;
    known = { ...known, routes: { ...known.routes, [node]: [...before, { component, by }] } };
    noted(known);
  };
  const retrieve: Retriever | undefined = ports.retrieve && (async (query, context) => {
    const found: Found & Partial<Searched> = await ports.retrieve?.(query, context) ?? { chunks: [] };
    add("datasets", found.absent ?? (query.datasets ?? []).filter((name) => !here.has(name)));
    add("relayed", found.relayed ?? []);
    return found;
  });
  const tool = (name: string, answer: Answer): Tool => ({
    run: async (args, { params, node }) => {
      const real = await relay(name, args, params);
      if (real) {
        add("relayed", [name]);
        route(node, name, "host");
        return real;
      }
      const { outputs, invented } = await answer(args, params);
      if (invented) {
        add("tools", [name]);
        route(node, name, "stand_in");
      }
      return outputs;
    },
  });
  const tools = Object.fromEntries(Object.entries(standIns).map(([name, answer]) => [name, tool(name, answer)]));
  return { ...ports, ...(retrieve ? { retrieve } : {}), tools };
}

/** modelless lists the nodes whose answers no language model gave: by name, those of this run only. */
export function modelless(kind: ProviderKind, state: RunState, earlier: number): string[] {
  if (kind === "openai" || kind === "host") return [];
  const names = state.steps.slice(earlier).filter((step) => step.models.length > 0).map((step) => step.name || step.node);
  return [...new Set(names)];
}
