// The stand-ins used in a run: an offline model, tools whose answers are invented or came through
// the host, datasets that a page does not have. They are shown to the person.

import { EngineError, type Found, type Providers as Ports, type Retriever, type Tool } from "@easel/engine";
import type { RunState } from "@easel/engine/state";
import { own } from "../canvas/dsl.ts";
import type { ProviderKind } from "./providers.ts";
import type { Answer } from "./standins.ts";

/** Searched is the result of a search, with the datasets that were not searched. */
export interface Searched extends Found {
  /** Datasets that exist neither here nor on the host. */
  absent: string[];
  /** Names of the datasets that the host searched. */
  relayed: string[];
}

/** Substitutes is the stand-ins of one run, each list without duplicates. */
export interface Substitutes {
  /** Components with an invented answer of their stand-in. */
  tools: string[];
  /** Components that the host ran, and datasets that it searched. */
  relayed: string[];
  /** Datasets of a search that were not found. */
  datasets: string[];
  /** Where the components of each node were run, by the id of the node. */
  routes: Readonly<Record<string, readonly Route[]>>;
}

/**
 * Route is the source of a component's answer: its service, called by this page, a tool of the
 * host, or a stand-in.
 */
export interface Route {
  component: string;
  by: "page" | "host" | "stand_in";
  /** The reason why the page did not call the service. */
  blocked?: Blocked;
}

/**
 * Blocked is the reason why a page cannot call a service: the service does not accept requests of
 * pages, its address is private, its key is missing or a secret of the host.
 */
export type Blocked = "service" | "address" | "key" | "secret";

/** noSubstitutes is the initial value: a run without stand-ins. */
export const noSubstitutes: Substitutes = { tools: [], relayed: [], datasets: [], routes: {} };

/** Relay runs a component on the host; undefined when there is no host, or it has no such tool. */
export type Relay = (
  component: string, args: Record<string, unknown>, params: Record<string, unknown>,
) => Promise<Record<string, unknown> | undefined>;

/** Local runs a component in the page; undefined when the page has no module for it. */
export type Local = (
  component: string, args: Record<string, unknown>, params: Record<string, unknown>, context: LocalContext,
) => Promise<{ outputs: Record<string, unknown> } | { blocked: Blocked } | undefined>;

/** LocalContext is the resources of a call in the page. */
export interface LocalContext {
  /** Local services that the person allows. */
  origins: readonly string[];
  signal: AbortSignal;
}

/** Ways are the sources of answers for components that work outside the page. */
export interface Ways {
  /** Answers made up for components, by name. Only these components are offered. */
  standIns: Record<string, Answer>;
  /** Stand-ins answer if no other source does; without it the node fails. */
  invents: boolean;
  /** Names of the datasets of the page. */
  here: ReadonlySet<string>;
  /** noted receives all stand-ins after each change. */
  noted(substitutes: Substitutes): void;
  origins?: readonly string[];
  local?: Local | undefined;
  relay?: Relay | undefined;
}

/**
 * watched wraps the ports of a run and adds tools: a service that the page can call has precedence
 * over the tool of the host, and that over a stand-in.
 */
export function watched(ports: Ports, { standIns, invents, here, noted, origins = [], local, relay }: Ways): Ports {
  let known = noSubstitutes;
  const add = (list: Exclude<keyof Substitutes, "routes">, names: string[]): void => {
    const fresh = [...new Set(names)].filter((name) => !known[list].includes(name));
    if (fresh.length === 0) return;
    known = { ...known, [list]: [...known[list], ...fresh] };
    noted(known);
  };
  // A tool of an agent calls as AGENT-->NAME.
  const route = (caller: string | undefined, to: Route): void => {
    const [node = ""] = (caller ?? "").split("-->", 1);
    const before = own(known.routes, node) ?? [];
    if (node === "" || before.some(({ component, by }) => component === to.component && by === to.by)) return;
    known = { ...known, routes: { ...known.routes, [node]: [...before, to] } };
    noted(known);
  };
  const retrieve: Retriever | undefined = ports.retrieve && (async (query, context) => {
    const found: Found & Partial<Searched> = await ports.retrieve?.(query, context) ?? { chunks: [] };
    add("datasets", found.absent ?? (query.datasets ?? []).filter((name) => !here.has(name)));
    add("relayed", found.relayed ?? []);
    return found;
  });
  const tool = (name: string, answer: Answer): Tool => ({
    run: async (args, { params, node, signal }) => {
      const tried = await local?.(name, args, params, { origins, signal });
      if (tried && "outputs" in tried) {
        route(node, { component: name, by: "page" });
        return tried.outputs;
      }
      const real = await relay?.(name, args, params);
      if (real) {
        add("relayed", [name]);
        route(node, { component: name, by: "host", ...tried });
        return real;
      }
      if (!invents) {
        throw new EngineError("unsupported", `${name}: ${why(tried?.blocked)}; sign in to a host that runs it`);
      }
      const { outputs, invented } = await answer(args, params);
      if (invented) {
        add("tools", [name]);
        route(node, { component: name, by: "stand_in", ...tried });
      }
      return outputs;
    },
  });
  const tools = Object.fromEntries(Object.entries(standIns).map(([name, answer]) => [name, tool(name, answer)]));
  return { ...ports, ...(retrieve ? { retrieve } : {}), tools };
}

function why(blocked: Blocked | undefined): string {
  switch (blocked) {
    case "service": return "its service does not accept requests of pages";
    case "address": return "a page does not reach the private address of its service";
    case "key": return "its key is missing";
    case "secret": return "its key is a secret of a host";
    default: return "it does not run in a page";
  }
}

/** modelless lists the names of this run's nodes whose answers came from no language model. */
export function modelless(kind: ProviderKind, state: RunState, earlier: number): string[] {
  if (kind === "openai" || kind === "host") return [];
  const names = state.steps
    .slice(earlier)
    .filter((step) => step.models.length > 0)
    .map((step) => step.name || step.node);
  return [...new Set(names)];
}
