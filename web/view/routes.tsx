// The sources of the answers of a node's components in the shown run: services, tools of the host,
// or stand-ins.

import { own } from "../canvas/dsl.ts";
import type { Route } from "../run/substitutes.ts";
import { useApp, useStore, useText } from "./context.tsx";

const none: readonly Route[] = [];

// Of several sources the least real one is marked.
const weakest: readonly Route["by"][] = ["stand_in", "host", "page"];

function useRoutes(node: string): readonly Route[] {
  const { session } = useApp();
  return useStore(session.player.play, ({ turns, chosen }) => own(turns[chosen]?.substitutes.routes, node) ?? none);
}

function textOf(t: ReturnType<typeof useText>, { component, by, blocked }: Route): string {
  const text = t(`node.by_${by}`, component);
  return by === "stand_in" || blocked ? `${text}. ${t(`node.blocked_${blocked ?? "none"}`)}` : text;
}

/** Routes lists them, one line each. */
export function Routes({ node }: { node: string }): React.ReactNode {
  const t = useText();
  return useRoutes(node).map((route) => (
    <p key={route.component + route.by} className="quiet small route">{textOf(t, route)}</p>
  ));
}

/** RouteMark returns the mark on the card of a node; the least real of several answers counts. */
export function RouteMark({ node }: { node: string }): React.ReactNode {
  const t = useText();
  const routes = useRoutes(node);
  if (routes.length === 0) return null;
  const by = weakest.find((each) => routes.some((route) => route.by === each)) ?? "page";
  return (
    <span className="badge route" title={routes.map((route) => textOf(t, route)).join("\n")}>
      {t(`node.${by}`)}
    </span>
  );
}
