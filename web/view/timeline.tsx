// What happened, in order: steps with their turns, tools and models, and the records
// to step through.

import { useMemo } from "react";
import type { ModelUse, Step } from "@easel/engine/state";
import { startOf, timeline, toolCalls, type Entry, type ToolCall } from "../run/timeline.ts";
import { useApp, useSelect, useStore, useText } from "./context.tsx";
import { hueOf, Icon, iconOf } from "./icons.tsx";
import { brief, seconds } from "./text.ts";

/** Timeline is a page of the drawer. */
export function Timeline(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const { turns, chosen, cursor, shown } = useStore(session.player.play, (play) => play);
  const model = useStore(session.document, (document) => document?.model);
  const turn = turns[chosen];
  // A run that goes on after a form knows the steps before it; they stand in the turn that made
  // them.
  const steps = useMemo(() => shown.steps.slice(turn?.records.earlier), [shown, turn]);
  const entries = useMemo(() => (model ? timeline(steps, model) : []), [steps, model]);
  if (!turn || !model) return <p className="quiet">{t("timeline.empty")}</p>;
  const total = turn.records.events.length;
  const at = cursor ?? total;
  return (
    <div className="timeline">
      <div className="stepper">
        {turns.length > 1 && (
          <select aria-label={t("timeline.which")} value={chosen} onChange={(event) => session.player.choose(Number(event.target.value))}>
            {turns.map((each, i) => <option key={i} value={i}>{t("timeline.run", i + 1)}</option>)}
          </select>
        )}
        <button type="button" className="icon-button" aria-label={t("timeline.first")} title={t("timeline.first")} disabled={at === 0} onClick={() => session.player.step(0)}><Icon name="first" /></button>
        <button type="button" className="icon-button" aria-label={t("timeline.back")} title={t("timeline.back")} disabled={at === 0} onClick={() => session.player.step(at - 1)}><Icon name="back" /></button>
        <input type="range" aria-label={t("timeline.records")} min={0} max={total} value={at} onChange={(event) => session.player.step(Number(event.target.value))} />
        <button type="button" className="icon-button" aria-label={t("timeline.forward")} title={t("timeline.forward")} disabled={at >= total} onClick={() => session.player.step(at + 1)}><Icon name="forward" /></button>
        <button type="button" className="icon-button" aria-label={t("timeline.live")} title={t("timeline.live")} disabled={cursor === undefined} onClick={() => session.player.step(undefined)}><Icon name="live" /></button>
      </div>
      <p className="quiet small" aria-live="polite">
        {t("timeline.at", at, total)}{cursor !== undefined && at > 0 && <> · <code>{turn.records.events[at - 1]?.event}</code></>}
      </p>
      <ol className="steps" aria-label={t("timeline.steps")}>{entries.map((entry) => <EntryView key={entry.step.index} entry={entry} whole={span(steps)} pinned={turn.pinned} />)}</ol>
      {shown.warnings.length > 0 && (
        <ul className="warnings" aria-label={t("timeline.warnings")}>
          {shown.warnings.map((each, i) => <li key={i} className="small">{each}</li>)}
        </ul>
      )}
    </div>
  );
}

interface Span {
  from: number;
  length: number;
}

function span(steps: Step[]): Span {
  const from = steps.reduce((first, step) => Math.min(first, startOf(step)), Infinity);
  const until = steps.reduce((last, step) => Math.max(last, startOf(step) + (step.elapsed ?? 0)), 0);
  return { from, length: Math.max(until - from, 0.001) };
}

function EntryView({ entry, whole, pinned }: { entry: Entry; whole: Span; pinned: ReadonlySet<string> }): React.ReactNode {
  const t = useText();
  const { step, turns } = entry;
  return (
    <li>
      <StepRow step={step} whole={whole} pinned={pinned.has(step.node)} />
      {step.tools.length > 0 && <Calls calls={toolCalls(step.tools)} />}
      {step.models.length > 0 && <Models uses={step.models} />}
      {turns.map((turn) => (
        <details key={turn.index} className="turn" open={turns.length <= 3}>
          <summary>{t("timeline.turn", turn.index + 1)}</summary>
          <ol>{turn.entries.map((each) => <EntryView key={each.step.index} entry={each} whole={whole} pinned={pinned} />)}</ol>
        </details>
      ))}
    </li>
  );
}

function Calls({ calls }: { calls: ToolCall[] }): React.ReactNode {
  return (
    <ul className="uses">
      {calls.map(({ use, inner }, i) => (
        <li key={i} data-failed={use.error ? true : undefined}>
          <div><Icon name="tool" /><b>{use.name}</b> <span className="quiet">{brief(use.error ?? use.result ?? use.arguments)}</span></div>
          {inner.length > 0 && <Calls calls={inner} />}
        </li>
      ))}
    </ul>
  );
}

function Models({ uses }: { uses: ModelUse[] }): React.ReactNode {
  const t = useText();
  const list = (
    <ul className="uses">
      {uses.map((use) => (
        <li key={use.call} data-failed={use.error ? true : undefined}><div><Icon name="spark" /><b>{use.model || t("timeline.model")}</b> <span className="quiet">{brief(use.error ?? use.text ?? "…")}</span></div></li>
      ))}
    </ul>
  );
  if (uses.length <= 3) return list;
  return <details className="many"><summary>{t("timeline.models", uses.length)}</summary>{list}</details>;
}

function StepRow({ step, whole, pinned }: { step: Step; whole: Span; pinned: boolean }): React.ReactNode {
  const t = useText();
  const select = useSelect();
  const spec = useStore(useApp().session.specs, (specs) => specs.get(step.type));
  const length = step.elapsed === undefined ? 0 : Math.min(1, Math.max(step.elapsed / whole.length, 0.01));
  const from = Math.min(1 - length, Math.max(0, (startOf(step) - whole.from) / whole.length));
  return (
    <button type="button" className="step" data-status={step.status} data-hue={hueOf(spec)} onClick={() => select(step.node, { tab: "node", reveal: true, step: step.index })}>
      <span className="glyph"><Icon name={iconOf(spec)} /></span>
      <span className="step-name">{step.name || step.node}</span>
      <span className="step-time">
        {pinned && <span className="badge pinned"><Icon name="pin" />{t("status.pinned")}</span>}{" "}
        {step.status === "running" ? <span className="spinner" /> : step.status !== "succeeded" ? t(`status.${step.status}`) : step.elapsed === undefined ? "" : seconds(step.elapsed)}
      </span>
      <svg className="bar" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true"><rect x={from * 100} width={length * 100} height="2" /></svg>
    </button>
  );
}
