// The time of a run: a bar for each step on one scale, and the executions that the run waited for.

import type { Step } from "@easel/engine/state";
import type { Profile, Span } from "../run/profile.ts";
import { startOf } from "../run/timeline.ts";
import { useText } from "./context.tsx";
import { seconds } from "./text.ts";

/** Scale is the time that all bars share, in Unix seconds. */
export interface Scale {
  from: number;
  length: number;
}

/** scaleOf covers all steps. */
export function scaleOf(steps: Step[]): Scale {
  const from = steps.reduce((first, step) => Math.min(first, startOf(step)), Infinity);
  const until = steps.reduce((last, step) => Math.max(last, startOf(step) + (step.elapsed ?? 0)), 0);
  return { from, length: Math.max(until - from, 0.001) };
}

/** Totals shows how the time of a run was spent, with the legend of the bars. */
export function Totals({ profile }: { profile: Profile }): React.ReactNode {
  const t = useText();
  return (
    <p className="totals quiet small">
      <span>{t("timeline.wall", seconds(profile.wall))}</span>
      <span><i className="swatch" data-shade="path" />{t("timeline.critical", seconds(profile.critical))}</span>
      {profile.queued > 0 && (
        <span><i className="swatch" data-shade="queue" />{t("timeline.queued", seconds(profile.queued))}</span>
      )}
      {profile.saved > 0.0005 && <span>{t("timeline.saved", seconds(profile.saved))}</span>}
    </p>
  );
}

interface BarProps {
  step: Step;
  /** Of a step that has ended, once the run has. */
  span?: Span;
  scale: Scale;
  /** How many bodies the step lies in. */
  depth: number;
}

/** Bar draws the times at which a step worked and waited. */
export function Bar({ step, span, scale, depth }: BarProps): React.ReactNode {
  const at = (time: number): number => Math.min(1000, Math.max(0, (time / Math.max(scale.length, 0.001)) * 1000));
  const start = startOf(step) - scale.from;
  const rect = (shade: string, [from, until]: readonly [number, number], i = 0): React.ReactNode => {
    const width = Math.max(at(until) - at(from), 3);
    const [y, height] = shade === "path" ? [8, 2] : [0, 8];
    const x = Math.min(at(from), 1000 - width);
    return <rect key={`${shade} ${i}`} data-shade={shade} x={x} y={y} width={width} height={height} />;
  };
  const whole = span ? [span.from, span.until] as const : [start, start + (step.elapsed ?? 0)] as const;
  return (
    <svg
      className="bar" style={{ "--depth": depth } as React.CSSProperties} viewBox="0 0 1000 10"
      preserveAspectRatio="none" aria-hidden="true"
    >
      {(span || step.elapsed !== undefined) && rect(span && span.calls.length > 0 ? "idle" : "work", whole)}
      {span?.calls.map((call, i) => rect("work", call, i))}
      {span?.queues.map((queue, i) => rect("queue", queue, i))}
      {span?.on_path && rect("path", whole)}
    </svg>
  );
}
