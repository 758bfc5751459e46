// The problems of the canvas by node, with a link to each node.

import type { Diagnostic } from "@easel/engine";
import { useApp, useSelect, useStore, useText } from "./context.tsx";
import { brief } from "./text.ts";

const most = 600; // characters of a message: some quote what stands in the canvas

/** Problems returns a page of the drawer. */
export function Problems(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const problems = useStore(session.problems, (all) => all);
  const model = useStore(session.document, (document) => document?.model);
  const select = useSelect();
  if (problems.length === 0) return <p className="quiet">{t("problems.none")}</p>;
  return (
    <ul className="problems">
      {grouped(problems).map(({ severity, node, list }) => {
        const box = node === undefined ? undefined : model?.byId.get(node);
        return (
          <li key={`${severity} ${node ?? ""}`} className="problem" data-severity={severity}>
            <b>
              {t(`problem.${severity}`)}
              {node !== undefined && `: ${box?.name ?? node}`}
            </b>
            {list.map((problem, i) => (
              <p key={i}>
                {problem.param !== undefined && <code>{problem.param}</code>} {brief(problem.message, most)}
              </p>
            ))}
            {box && (
              <button type="button" onClick={() => select(node, { reveal: true, tab: "node" })}>
                {t("problems.goto", box.name)}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

interface Group {
  severity: Diagnostic["severity"];
  node: string | undefined;
  list: Diagnostic[];
}

// grouped keeps the order of the list and groups the problems of one node and severity.
function grouped(problems: Diagnostic[]): Group[] {
  const groups: Group[] = [];
  for (const problem of problems) {
    const group = groups.find((each) => each.severity === problem.severity && each.node === problem.node);
    if (group) group.list.push(problem);
    else groups.push({ severity: problem.severity, node: problem.node, list: [problem] });
  }
  return groups;
}
