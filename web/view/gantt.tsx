// The time of an ended run as a picture: a bar for each execution and each call on one time axis,
// those of a body below their container, with waits in queues and the critical path. Loaded with
// the first run that is looked at.

import { useMemo, useRef, useState } from "react";
import type { RunEvent } from "@easel/engine";
import type { Step } from "@easel/engine/state";
import type { CanvasModel } from "../canvas/drawing.ts";
import { ganttOf, ticksOf, type Row } from "../run/gantt.ts";
import { graphOf, profileOf, type Profile } from "../run/profile.ts";
import { stepsOf } from "../run/timeline.ts";
import { shown } from "../words/shown.ts";
import { useApp, useSelect, useStore, useText } from "./context.tsx";
import { hueOf, Icon, iconOf } from "./icons.tsx";
import { brief, seconds } from "./text.ts";

/** GanttProps are the events of an ended run, and its steps. */
export interface GanttProps {
  events: readonly RunEvent[];
  steps: Step[];
  model: CanvasModel;
}

/** Gantt draws a run; nothing if no step has ended. */
export default function Gantt({ events, steps, model }: GanttProps): React.ReactNode {
  const t = useText();
  const profile = useMemo(() => profileOf(events, graphOf(model)), [events, model]);
  if (!profile) return null;
  return (
    <section className="gantt" aria-label={t("gantt.title")}>
      <Totals profile={profile} />
      <Tree profile={profile} steps={steps} />
    </section>
  );
}

// Totals shows how the time was spent, with the legend of the bars.
function Totals({ profile }: { profile: Profile }): React.ReactNode {
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

// Tree is the rows with the axis above them. Keys move as in any tree: up and down, left to close
// or to the container, right to open or into it.
function Tree({ profile, steps }: { profile: Profile; steps: Step[] }): React.ReactNode {
  const t = useText();
  const select = useSelect();
  const rows = useMemo(() => ganttOf(profile), [profile]);
  const found = useMemo(() => stepsOf(profile.steps, steps), [profile, steps]);
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set());
  const [current, setCurrent] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const isOpen = (row: Row): boolean => row.open !== toggled.has(row.index);
  const shown = rows.filter((row) => {
    let around = rows[row.parent];
    while (around && isOpen(around)) around = rows[around.parent];
    return around === undefined;
  });
  const at = Math.max(0, shown.findIndex((row) => row.index === current));
  const go = (to: number): void => {
    const row = shown[Math.min(Math.max(to, 0), shown.length - 1)];
    if (!row) return;
    list.current?.querySelector<HTMLElement>(`[data-row="${row.index}"]`)?.focus();
  };
  const toggle = (row: Row): void => {
    const next = new Set(toggled);
    if (!next.delete(row.index)) next.add(row.index);
    setToggled(next);
  };
  const choose = (row: Row): void => {
    const node = profile.steps[row.step]?.node;
    if (node) select(node, { tab: "node", reveal: true, step: found[row.step]?.index });
  };
  const move = (event: React.KeyboardEvent): void => {
    const row = shown[at];
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    switch (event.key) {
      case "ArrowDown": go(at + 1); break;
      case "ArrowUp": go(at - 1); break;
      case "Home": go(0); break;
      case "End": go(shown.length - 1); break;
      case "ArrowRight":
        if (row.children > 0 && !isOpen(row)) toggle(row);
        else if (row.children > 0) go(at + 1);
        break;
      case "ArrowLeft":
        if (row.children > 0 && isOpen(row)) toggle(row);
        else if (row.parent >= 0) go(shown.findIndex((each) => each.index === row.parent));
        break;
      case "Enter": case " ": choose(row); break;
      default: return;
    }
    event.preventDefault();
  };
  const ticks = useMemo(() => ticksOf(profile.wall), [profile]);
  const tick = percent(ticks[1] ?? profile.wall, profile.wall);
  return (
    <div style={{ "--tick": `${tick}%` } as React.CSSProperties}>
      <Axis ticks={ticks} length={profile.wall} />
      <div role="tree" aria-label={t("gantt.title")} ref={list} onKeyDown={move}>
        {shown.map((row, i) => (
          <RowView
            key={row.index} row={row} fault={faultOf(row, profile, found)} wall={profile.wall} open={isOpen(row)}
            focusable={i === at}
            onToggle={() => toggle(row)} onChoose={() => choose(row)}
            onFocus={() => setCurrent(row.index)}
          />
        ))}
      </div>
    </div>
  );
}

// faultOf returns the reason why an execution or a call failed.
function faultOf(row: Row, profile: Profile, found: readonly (Step | undefined)[]): string | undefined {
  const step = found[row.step];
  if (row.kind === "step" || !step) return step?.error;
  const calls = profile.steps[row.step]?.calls.filter(({ kind }) => kind === row.kind) ?? [];
  const nth = calls.findIndex(({ from, until }) => from === row.from && until === row.until);
  return (row.kind === "tool" ? step.tools : step.models)[nth]?.error;
}

const percent = (time: number, wall: number): number =>
  Math.min(100, Math.max(0, (time / Math.max(wall, 1e-6)) * 100));

const named = 33; // percent of the axis that the name of a tick takes

function Axis({ ticks, length }: { ticks: number[]; length: number }): React.ReactNode {
  const every = Math.max(1, Math.ceil(named / percent(ticks[1] ?? length, length)));
  return (
    <div className="gantt-axis" aria-hidden="true">
      <span />
      <span className="gantt-track">
        {ticks.map((tick, i) => {
          const at = percent(tick, length);
          const full = at > 80 && ticks.length > 2; // its name would cover that of the tick before
          const text = full || i % every !== 0 ? "" : tick === 0 ? "0" : seconds(tick);
          return <i key={tick} data-end={at > 80 || undefined} style={{ left: `${at}%` }}>{text}</i>;
        })}
      </span>
    </div>
  );
}

interface RowProps {
  row: Row;
  fault: string | undefined;
  wall: number;
  open: boolean;
  /** Whether Tab leads to it: one row of the tree. */
  focusable: boolean;
  onToggle(): void;
  onChoose(): void;
  onFocus(): void;
}

function RowView({ row, fault, wall, open, focusable, onToggle, onChoose, onFocus }: RowProps): React.ReactNode {
  const t = useText();
  const type = useStore(useApp().session.document, (document) => document?.model.byId.get(row.node)?.kind);
  const spec = useStore(useApp().session.specs, (specs) => (type ? specs.get(type) : undefined));
  const own = row.name || t("timeline.model");
  const name = shown(row.item === undefined ? own : `${row.item + 1} · ${own}`);
  const queued = row.queues.reduce((sum, [from, until]) => sum + until - from, 0);
  const more = [
    t("gantt.row", seconds(row.from), seconds(row.until)),
    ...(queued > 0 ? [t("timeline.inQueue", seconds(queued))] : []),
    ...(row.onPath ? [t("timeline.onPath")] : []),
    ...(fault === undefined ? [] : [`${t("status.failed")}: ${brief(fault, 200)}`]),
  ].join(", ");
  const toggle = (event: React.MouseEvent): void => {
    event.stopPropagation();
    onToggle();
  };
  const bar = (shade: string, [from, until]: readonly [number, number], key: React.Key): React.ReactNode => (
    <i
      key={key} data-shade={shade}
      style={{ left: `${percent(from, wall)}%`, width: `${percent(until, wall) - percent(from, wall)}%` }}
    />
  );
  return (
    <div
      role="treeitem" className="gantt-row" data-row={row.index} data-kind={row.kind} data-hue={hueOf(spec)}
      data-critical={row.onPath || undefined} data-failed={fault === undefined ? undefined : true}
      aria-level={row.depth + 1} title={`${name}: ${more}`}
      aria-expanded={row.children > 0 ? open : undefined} tabIndex={focusable ? 0 : -1} onClick={onChoose}
      onFocus={onFocus}
    >
      <span className="gantt-name" style={{ "--depth": Math.min(row.depth, 5) } as React.CSSProperties}>
        {row.children > 0 ? (
          <span className="gantt-twist" data-open={open || undefined} onClick={toggle}>
            <Icon name="forward" />
          </span>
        ) : (
          <Icon name={row.kind === "step" ? iconOf(spec) : row.kind === "tool" ? "tool" : "spark"} />
        )}
        <span>{name}</span>
      </span>
      <span className="gantt-track">
        <span className="sr">{more}</span>
        {bar(row.kind === "step" ? (row.calls.length > 0 ? "idle" : "work") : "call", [row.from, row.until], "whole")}
        {row.calls.map((call, i) => bar("work", call, i))}
        {row.queues.map((queue, i) => bar("queue", queue, `queue ${i}`))}
        {row.onPath && bar("path", [row.from, row.until], "path")}
      </span>
      <span className="gantt-time">{seconds(row.until - row.from)}</span>
    </div>
  );
}
