// What a person should see of a canvas before it runs: problems and unsaved changes, on each box
// and at the button that runs it.

import type { Diagnostic } from "@easel/engine";
import { isObject, type Dsl } from "../canvas/dsl.ts";
import { same } from "../canvas/patch.ts";
import { useApp, useStore, useText } from "./context.tsx";
import { useLacking } from "./lacking.ts";

type Severity = Diagnostic["severity"];

const worst = new WeakMap<readonly Diagnostic[], Map<string, Severity>>();

// severityOf returns the worst problem of a node.
function severityOf(list: readonly Diagnostic[], id: string): Severity | undefined {
  let known = worst.get(list);
  if (!known) {
    worst.set(list, (known = new Map()));
    for (const { node, severity } of list) {
      if (node !== undefined && known.get(node) !== "error") known.set(node, severity);
    }
  }
  return known.get(id);
}

const names = new WeakMap<object, ReadonlyMap<string, unknown>>();

// nameOf returns the name of a node, which stands in `graph`.
function nameOf({ graph }: Dsl, id: string): unknown {
  const list = isObject(graph) ? graph["nodes"] : undefined;
  if (!Array.isArray(list)) return id;
  let known = names.get(list);
  if (!known) {
    const nodes = list.filter(isObject);
    known = new Map(nodes.map(({ id: of, data }) => [String(of), isObject(data) ? data["name"] : undefined]));
    names.set(list, known);
  }
  return known.get(id) || id; // the page itself writes ids as names
}

/** Marks returns the marks of a box. */
export function Marks({ id }: { id: string }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const severity = useStore(session.problems, (list) => severityOf(list, id));
  const stored = useStore(session.origin, (origin) => origin !== undefined);
  const changed = useStore(session.document, (document) => {
    if (!stored || !document) return false;
    const { dsl, base } = document;
    const [now, then] = [dsl.components[id], base.dsl.components[id]];
    return (now !== then && !same(now, then)) || nameOf(dsl, id) !== nameOf(base.dsl, id);
  });
  if (severity !== "error" && severity !== "warning" && !changed) return null;
  const messages = session.problems.get().filter(({ node }) => node === id).map(({ message }) => message);
  return (
    <span className="marks">
      {(severity === "error" || severity === "warning") && (
        <span className="badge" data-severity={severity} title={messages.join("\n")}>{t(`mark.${severity}`)}</span>
      )}
      {changed && <span className="badge">{t("mark.unsaved")}</span>}
    </span>
  );
}

/** Before counts the problems of the canvas before it runs, and leads to them. */
export function Before(): React.ReactNode {
  const t = useText();
  const { session, look } = useApp();
  const problems = useStore(session.problems, (all) => all);
  const lacking = useLacking(useStore(session.document, (document) => document?.dsl)).length;
  const count = (of: Severity): number => problems.filter(({ severity }) => severity === of).length;
  const all = [["error", count("error") + lacking], ["warning", count("warning")]] as const;
  const found = all.filter(([, number]) => number > 0);
  const [worse] = found;
  if (!worse) return null;
  return (
    <button type="button" className="before" data-severity={worse[0]} onClick={() => look.update({ tab: "problems" })}>
      {found.map(([severity, number]) => `${t(`problems.${severity}`)}: ${number}`).join(" · ")}
    </button>
  );
}
