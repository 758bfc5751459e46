// The result of a test: what differs, side by side, and why it was not played.

import { useState } from "react";
import { RunIds } from "../../canvas/earlier.ts";
import { findings, type Finding } from "../../run/cases/report.ts";
import type { Result } from "../../run/cases/suite.ts";
import { get } from "../../run/cases/value.ts";
import type { TestKey } from "../../words/tests.ts";
import { useApp, useSelect, useStore } from "../context.tsx";
import { headOf, sidesOf, useTestText } from "./words.ts";

const most = 12; // findings shown at first
const context = 40; // characters that are the same, around what differs

/** ResultView shows what a play found. */
export function ResultView({ result, onAccept }: { result: Result; onAccept(): void }): React.ReactNode {
  const t = useTestText();
  const names = useNames(result);
  const [all, setAll] = useState(false);
  const [asking, setAsking] = useState(false);
  if (result.verdict === "passed") return null;
  if (result.verdict === "not_played") {
    const { obstacle, trouble = "" } = result;
    const why = obstacle ? t(`obstacle_${obstacle.code}` as TestKey, obstacle.names.join(", ")) : trouble;
    return <p className="quiet">{why}</p>;
  }
  const found = findings(result.differences);
  const runs = result.observation?.runs.length ?? 1;
  return (
    <>
      {result.calls?.map(({ node, expected, actual }) => (
        <p key={node} className="call-count">
          {t("calls_by", names.name(node) || node, expected, actual)}
          <ShowNode id={names.document(node)} />
        </p>
      ))}
      <ol className="findings">
        {found.slice(0, all ? found.length : most).map((finding, i) => (
          <FindingView key={i} finding={finding} names={names} runs={runs} />
        ))}
      </ol>
      {!all && found.length > most && (
        <button type="button" onClick={() => setAll(true)}>
          {t("more_differences", found.length - most)}
        </button>
      )}
      {asking ? (
        <p className="sure">
          {t("accept_sure")}
          <button type="button" className="primary" autoFocus onClick={onAccept}>
            {t("accept_yes")}
          </button>
          <button type="button" onClick={() => setAsking(false)}>
            {t("cancel")}
          </button>
        </p>
      ) : (
        <button type="button" onClick={() => setAsking(true)}>
          {t("accept")}
        </button>
      )}
    </>
  );
}

/** Names finds names of nodes by their ids in runs. */
interface Names {
  name(id: string): string;
  /** document returns the id in the open canvas; undefined for a node that it does not have. */
  document(id: string): string | undefined;
}

function useNames({ observation }: Result): Names {
  const { session } = useApp();
  const document_ = useStore(session.document, (document) => document);
  const specs = useStore(session.specs, (all) => all);
  const ids = new RunIds(document_?.dsl, specs);
  const byId = document_?.model.byId;
  const seen = (id: string): string => {
    for (const { events } of observation?.runs ?? []) {
      for (const event of Array.isArray(events) ? (events as unknown[]) : []) {
        const data = get(event, "data");
        const name = get(data, "component_name");
        if (get(data, "component_id") === id && typeof name === "string") return name;
      }
    }
    return id;
  };
  return {
    name: (id) => byId?.get(ids.document(id))?.name || seen(id),
    document: (id) => (byId?.has(ids.document(id)) ? ids.document(id) : undefined),
  };
}

function ShowNode({ id }: { id: string | undefined }): React.ReactNode {
  const t = useTestText();
  const select = useSelect();
  const { session } = useApp();
  const name = useStore(session.document, (document) => document?.model.byId.get(id ?? "")?.name);
  if (id === undefined) return null;
  return (
    <button type="button" className="plain" onClick={() => select(id, { reveal: true, tab: "node" })}>
      {t("show_node", name ?? id)}
    </button>
  );
}

function FindingView({ finding, names, runs }: { finding: Finding; names: Names; runs: number }): React.ReactNode {
  const t = useTestText();
  const { difference, echoes } = finding;
  const node = difference.node;
  const head = headOf(difference, node === undefined ? "" : names.name(node), t);
  const [expected, actual] = sidesOf(difference, names.name, t);
  const [first, second] = difference.rule === "same" ? marked(expected, actual) : [expected, actual];
  return (
    <li>
      <p className="finding">
        {runs > 1 && <span className="badge">{t("run_nth", difference.run + 1)}</span>}
        {head}
        {node !== undefined && <ShowNode id={names.document(node)} />}
      </p>
      <dl className="sides">
        <div>
          <dt>{t("expected")}</dt>
          <dd tabIndex={0}>{first}</dd>
        </div>
        <div>
          <dt>{t("actual")}</dt>
          <dd tabIndex={0}>{second}</dd>
        </div>
      </dl>
      {echoes > 0 && <small className="quiet">{t("echoes", echoes)}</small>}
    </li>
  );
}

// marked marks what differs between two texts: all but their common start and end.
function marked(before: string, after: string): [React.ReactNode, React.ReactNode] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const lead = start > context ? `…${before.slice(start - context, start)}` : before.slice(0, start);
  const rest = before.slice(before.length - end);
  const tail = end > context ? `${rest.slice(0, context)}…` : rest;
  const part = (text: string): string => text.slice(start, text.length - end);
  return [
    <>{lead}{part(before) && <del>{part(before)}</del>}{tail}</>,
    <>{lead}{part(after) && <ins>{part(after)}</ins>}{tail}</>,
  ];
}
