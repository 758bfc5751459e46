// The problems of the canvas in one list, grouped, with links to their nodes.

import { lazy, Suspense, useMemo } from "react";
import type { Dsl } from "../canvas/dsl.ts";
import { sectionsOf, type Problem } from "../canvas/problems.ts";
import { scriptsOf } from "../canvas/script.ts";
import { pick } from "../words/words.ts";
import { useApp, useLook, useSelect, useStore, useText } from "./context.tsx";
import { NeedList, useNeeds } from "./needs.tsx";
import { Reason } from "./reason.tsx";
import { useFieldName, useSpoken } from "./spoken.ts";
import { brief } from "./text.ts";

const MissingLanguage = lazy(() =>
  import("./form/connect-editors.tsx").then(({ MissingLanguage: view }) => ({ default: view })));

const most = 600; // characters of a message: some quote what stands in the canvas
const fewOfKind = 4; // more problems of one kind are folded
const mostNodes = 8; // links to nodes of one problem

/** Problems returns a page of the drawer. */
export default function Problems(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const language = useLook((look) => look.language);
  const problems = useStore(session.problems, (all) => all);
  const sections = useMemo(() => sectionsOf(problems), [problems]);
  const open = useStore(session.document, (document) => document);
  const list = sections.map(({ severity, count, kinds }) => (
    <section key={severity} className="problems" aria-label={t(`problems.${severity}`)}>
      <h2 className="head">
        {t(`problems.${severity}`)}{" "}
        <span className="count" data-severity={severity}>
          {count}
        </span>
      </h2>
      {kinds.map((kind) => (
        <Kind key={kind[0]?.code} kind={kind} />
      ))}
    </section>
  ));
  return open && <Needed dsl={open.dsl} title={pick(open.opened.title, language)}>{list}</Needed>;
}

// Needed shows what is missing here above the problems.
function Needed({ dsl, title, children }: {
  dsl: Dsl; title: string; children: React.ReactNode[];
}): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const needs = useNeeds(dsl, useStore(session.allowed, (may) => may));
  const specs = useStore(session.specs, (all) => all);
  const scripts = useMemo(() => [...scriptsOf(dsl, specs).keys()], [dsl, specs]);
  const isEmpty = children.length === 0 && needs.missing.length === 0;
  return (
    <>
      {scripts.map((language) => <Suspense key={language}><MissingLanguage name={language} /></Suspense>)}
      {isEmpty && <p className="quiet no-problems">{t("problems.none")}</p>}
      <NeedList
        needs={needs} title={title}
        onChoose={(kind, name, to) => {
          if (to !== undefined) session.editing.settle({ [kind]: new Map([[name, to]]) });
        }}
      />
      {children}
    </>
  );
}

function Kind({ kind }: { kind: Problem[] }): React.ReactNode {
  const t = useText();
  const spoken = useSpoken();
  const list = (
    <ul>
      {kind.map((problem, i) => (
        <Entry key={i} problem={problem} />
      ))}
    </ul>
  );
  const [first] = kind;
  if (first === undefined || kind.length <= fewOfKind) return list;
  return (
    <details className="problem-kind">
      <summary>{t("problems.similar", kind.length, brief(spoken(first.message), 100))}</summary>
      {list}
    </details>
  );
}

function Entry({ problem: { severity, code, message, param, nodes } }: { problem: Problem }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const model = useStore(session.document, (document) => document?.model);
  const select = useSelect();
  const spoken = useSpoken();
  const fieldName = useFieldName();
  const boxes = nodes.map((id) => ({ id, box: model?.byId.get(id) }));
  return (
    <li className="problem" data-severity={severity}>
      <p>
        {param !== undefined && <b title={param}>{fieldName(param, boxes[0]?.box?.kind)}</b>}{" "}
        <Reason code={code} message={spoken(message)} most={most} />
      </p>
      {boxes.length > 0 && (
        <p className="places">
          {boxes.slice(0, mostNodes).map(({ id, box }) =>
            box ? (
              <button
                key={id}
                type="button"
                aria-label={t("problems.goto", box.name)}
                onClick={() => select(id, { reveal: true, tab: "node" })}
              >
                {box.name}
              </button>
            ) : (
              <code key={id}>{id}</code>
            ),
          )}
          {boxes.length > mostNodes && <span className="quiet">{t("canvas.more", boxes.length - mostNodes)}</span>}
        </p>
      )}
    </li>
  );
}
