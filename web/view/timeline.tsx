// The course of a run: steps with their turns, tools and models, and the records to step through.

import { lazy, Suspense, useMemo } from "react";
import type { ModelUse, Step } from "@easel/engine/state";
import { startOf, timeline, toolCalls, type Entry, type ToolCall, type Turn } from "../run/timeline.ts";
import { shown } from "../words/shown.ts";
import { OrderLine } from "./order.tsx";
import { useApp, useSelect, useStore, useText } from "./context.tsx";
import { hueOf, Icon, iconOf } from "./icons.tsx";
import { SaveTest } from "./save-test.tsx";
import { brief, seconds } from "./text.ts";

const Gantt = lazy(() => import("./gantt.tsx"));

/** Timeline returns a page of the drawer. */
export default function Timeline(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const { turns, chosen, cursor, shown } = useStore(session.player.play, (play) => play);
  const model = useStore(session.document, (document) => document?.model);
  const turn = turns[chosen];
  // A run that continues after a form has the steps before it; they are in the turn that made
  // them.
  const steps = useMemo(() => shown.steps.slice(turn?.records.earlier), [shown, turn]);
  const entries = useMemo(() => (model ? timeline(steps, model) : []), [steps, model]);
  const total = turn?.records.events.length ?? 0;
  const running = shown.status === "running" || cursor !== undefined;
  // Only of an ended run: the critical path is not known before.
  const events = useMemo(() => (running ? undefined : turn?.records.events.slice(0, total)), [turn, running, total]);
  const frame = useMemo<Frame>(
    () => ({ scale: events ? undefined : scaleOf(steps), pinned: turn?.pinned ?? new Set() }),
    [steps, events, turn],
  );
  if (!turn || !model) return <><p className="quiet">{t("timeline.empty")}</p><OrderLine /></>;
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
        {!running && shown.status !== "canceled" && <SaveTest turn={chosen} />}
      </p>
      {events && <Suspense><Gantt events={events} steps={steps} model={model} /></Suspense>}
      <ol className="steps" aria-label={t("timeline.steps")}>
        {entries.map((entry) => <EntryView key={entry.step.index} entry={entry} frame={frame} depth={0} />)}
      </ol>
      {shown.warnings.length > 0 && (
        <ul className="warnings" aria-label={t("timeline.warnings")}>
          {shown.warnings.map((each, i) => <li key={i} className="small">{each}</li>)}
        </ul>
      )}
      <OrderLine />
    </div>
  );
}

/** Frame has the data that all rows share. */
interface Frame {
  /** The time that all bars share; undefined once the run has a picture of its time. */
  scale?: Scale;
  pinned: ReadonlySet<string>;
}

function EntryView({ entry, frame, depth }: { entry: Entry; frame: Frame; depth: number }): React.ReactNode {
  const t = useText();
  const { step, turns } = entry;
  return (
    <li>
      <StepRow step={step} frame={frame} depth={depth} />
      {step.error && <p className="step-fault small">{brief(step.error, 200)}</p>}
      {step.tools.length > 0 && <Calls calls={toolCalls(step.tools)} />}
      {step.models.length > 0 && <Models uses={step.models} />}
      {turns.map((turn) => (
        <details
          key={turn.index} className="turn" open={turns.length <= 3} data-failed={hasFailed(turn) || undefined}
        >
          <summary>{t("timeline.turn", turn.index + 1)}</summary>
          <ol>
            {turn.entries.map((each) => (
              <EntryView key={each.step.index} entry={each} frame={frame} depth={depth + 1} />
            ))}
          </ol>
        </details>
      ))}
    </li>
  );
}

// hasFailed reports whether a step of a pass has failed.
function hasFailed({ entries }: Turn): boolean {
  return entries.some(({ step, turns }) => step.error !== undefined || turns.some(hasFailed));
}

function Calls({ calls }: { calls: ToolCall[] }): React.ReactNode {
  return (
    <ul className="uses">
      {calls.map(({ use, inner }, i) => (
        <li key={i} data-failed={use.error ? true : undefined}>
          <div>
            <Icon name="tool" />
            <b>{shown(use.name)}</b> <span className="quiet">{brief(use.error ?? use.result ?? use.arguments)}</span>
          </div>
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
        <li key={use.call} data-failed={use.error ? true : undefined}>
          <div>
            <Icon name="spark" />
            <b>{use.model || t("timeline.model")}</b>{" "}
            <span className="quiet">{brief(use.error ?? use.text ?? "…")}</span>
          </div>
        </li>
      ))}
    </ul>
  );
  if (uses.length <= 3) return list;
  return <details className="many"><summary>{t("timeline.models", uses.length)}</summary>{list}</details>;
}

function StepRow({ step, frame, depth }: { step: Step; frame: Frame; depth: number }): React.ReactNode {
  const t = useText();
  const select = useSelect();
  const spec = useStore(useApp().session.specs, (specs) => specs.get(step.type));
  return (
    <button
      type="button"
      className="step"
      data-status={step.status}
      data-hue={hueOf(spec)}
      onClick={() => select(step.node, { tab: "node", reveal: true, step: step.index })}
    >
      <span className="glyph">
        <Icon name={iconOf(spec)} />
      </span>
      <span className="step-name">{shown(step.name || step.node)}</span>
      <span className="step-time">
        {frame.pinned.has(step.node) && (
          <span className="badge pinned">
            <Icon name="pin" />
            {t("status.pinned")}
          </span>
        )}{" "}
        {step.status === "running" ? (
          <span className="spinner" />
        ) : step.status !== "succeeded" ? (
          t(`status.${step.status}`)
        ) : step.elapsed === undefined ? (
          ""
        ) : (
          seconds(step.elapsed)
        )}
      </span>
      {frame.scale && <Bar step={step} scale={frame.scale} depth={depth} />}
    </button>
  );
}

/** Scale is a span of time, in Unix seconds. */
interface Scale {
  from: number;
  length: number;
}

// scaleOf covers all steps.
function scaleOf(steps: Step[]): Scale {
  const from = steps.reduce((first, step) => Math.min(first, startOf(step)), Infinity);
  const until = steps.reduce((last, step) => Math.max(last, startOf(step) + (step.elapsed ?? 0)), 0);
  return { from, length: Math.max(until - from, 0.001) };
}

// Bar draws the time of a step while the run lasts.
function Bar({ step, scale, depth }: { step: Step; scale: Scale; depth: number }): React.ReactNode {
  const width = Math.max(3, ((step.elapsed ?? 0) / scale.length) * 1000);
  const x = Math.min(1000 - width, Math.max(0, ((startOf(step) - scale.from) / scale.length) * 1000));
  return (
    <svg
      className="bar" style={{ "--depth": depth } as React.CSSProperties} viewBox="0 0 1000 10"
      preserveAspectRatio="none" aria-hidden="true"
    >
      {step.elapsed !== undefined && <rect x={x} y={0} width={width} height={8} />}
    </svg>
  );
}
