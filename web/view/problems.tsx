// What is wrong with the canvas; each finding leads to its node.

import { useApp, useSelect, useStore, useText } from "./context.tsx";

/** Problems is a page of the drawer. */
export function Problems(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const problems = useStore(session.problems, (all) => all);
  const model = useStore(session.document, (document) => document?.model);
  const select = useSelect();
  if (problems.length === 0) return <p className="quiet">{t("problems.none")}</p>;
  return (
    <ul className="problems">
      {problems.map((problem, i) => {
        const name = problem.node ? (model?.byId.get(problem.node)?.name ?? problem.node) : "";
        const level = t(`problem.${problem.level}` as "problem.error");
        return (
          <li key={i} className="problem" data-level={problem.level}>
            <b>{level}</b>
            <p>{problem.message}</p>
            {problem.node && model?.byId.has(problem.node) && (
              <button type="button" onClick={() => select(problem.node, { reveal: true, tab: "node" })}>{t("problems.goto", name)}{problem.param ? ` · ${problem.param}` : ""}</button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
