// A node in three parts: inputs, settings, outputs; in columns where the panel is wide, else in
// tabs.

import { lazy, Suspense, useEffect, useRef, useState } from "react";
import type { Diagnostic } from "@easel/engine";
import type { Step } from "@easel/engine/state";
import { own, type Params } from "../../canvas/dsl.ts";
import type { CanvasNode } from "../../canvas/drawing.ts";
import { useApp, useLook, useStore, useText, type NodePart } from "../context.tsx";
import { Withheld } from "../plugins.tsx";
import { Reason } from "../reason.tsx";
import { Routes } from "../routes.tsx";
import { useSpoken } from "../spoken.ts";
import { seconds } from "../text.ts";
import { Actions } from "./actions.tsx";
import { Given } from "./given.tsx";
import { Results } from "./results.tsx";
import { useNodeText } from "./text.ts";
import { Trial } from "./trial.tsx";

export { Several } from "./several.tsx";

const SettingsForm = lazy(() => import("../form/form.tsx"));

/** widest is the width from which the parts are shown in columns. */
const widest = 920;
const order: readonly NodePart[] = ["settings", "in", "out"];
const columns: readonly NodePart[] = ["in", "settings", "out"];

/** NodeParts shows all of a node but its head. */
export default function NodeParts({ node, edits }: { node: CanvasNode; edits: Params }): React.ReactNode {
  const t = useText();
  const n = useNodeText();
  const { session, look } = useApp();
  const spoken = useSpoken();
  const spec = useStore(session.specs, (specs) => specs.get(node.kind));
  const problems = useStore(session.problems, (all) => all).filter((problem) => problem.node === node.id);
  const steps = useStore(session.player.play, (play) => play.shown.steps).filter((step) => step.node === node.id);
  const chosen = useLook((all) => all.step);
  const step = steps.find((each) => each.index === chosen) ?? steps.at(-1);
  const part = useLook((all) => all.part ?? "settings");
  const box = useRef<HTMLDivElement>(null);
  const wide = useWide(box);
  const real = node.role !== "tool" && node.role !== "agent" && node.role !== "note";
  if (node.role === "note") return <NoteText node={node} />;
  const contents: Record<NodePart, React.ReactNode> = {
    settings: node.role !== "tool" && <Settings node={node} edits={edits} problems={problems} />,
    in: real && <Given node={node} step={step} onInsert={() => look.update({ part: "settings" })} wide={wide} />,
    out: real && (
      <Results node={node} step={step} />
    ),
  };
  return (
    <div ref={box} className="node-body" data-wide={wide || undefined}>
      <div className="node-top">
        <Withheld kind={node.kind} />
        {spec?.missing && <p className="fault">{t("node.missing", spec.missing)}</p>}
        {problems
          .filter(({ param }) => param === undefined || !own(spec?.params?.properties, param.split(/[.[]/)[0] ?? ""))
          .map((problem, i) => (
            <p key={i} className="problem small" data-severity={problem.severity}>
              <Reason code={problem.code} message={spoken(problem.message)} most={600} />
            </p>
          ))}
        {real && <Actions node={node} step={step} />}
        {real && step && <Routes node={node.id} />}
        {steps.length > 1 && <Which steps={steps} step={step} inBody={node.parent !== undefined} />}
      </div>
      {real && !wide && <PartTabs part={part} status={step?.status} onPart={(next) => look.update({ part: next })} />}
      {(wide ? columns : real ? [part] : (["settings"] as const)).map((each) => (
        <section
          key={each} className="node-part" data-part={each} id={`part-${each}`}
          {...(wide
            ? { "aria-label": n(each) }
            : real ? { role: "tabpanel", "aria-labelledby": `part-tab-${each}` } : {})}
        >
          {wide && <h3 className="part-head">{n(each)}{each === "out" && <Dot status={step?.status} />}</h3>}
          {contents[each]}
        </section>
      ))}
    </div>
  );
}

// useWide reports whether an element has room for three parts.
function useWide(box: React.RefObject<HTMLElement | null>): boolean {
  const [wide, setWide] = useState(() => (document.querySelector(".panel")?.clientWidth ?? 0) >= widest);
  useEffect(() => {
    const panel = box.current?.closest(".panel");
    if (!panel) return;
    const sizes = new ResizeObserver(() => setWide(panel.clientWidth >= widest));
    sizes.observe(panel);
    return () => sizes.disconnect();
  }, [box]);
  return wide;
}

function PartTabs({ part, status, onPart }: {
  part: NodePart; status: Step["status"] | undefined; onPart(part: NodePart): void;
}): React.ReactNode {
  const n = useNodeText();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: React.KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = order[(order.indexOf(part) + step + order.length) % order.length] as NodePart;
    onPart(next);
    list.current?.querySelector<HTMLElement>(`#part-tab-${next}`)?.focus();
  };
  return (
    <div ref={list} className="tabs part-tabs" role="tablist" aria-label={n("parts")} onKeyDown={move}>
      {order.map((each) => (
        <button
          key={each} type="button" role="tab" id={`part-tab-${each}`} aria-selected={part === each}
          {...(part === each ? { "aria-controls": `part-${each}` } : {})}
          tabIndex={part === each ? 0 : -1} onClick={() => onPart(each)}
        >
          {n(each)}
          {each === "out" && <Dot status={status} />}
        </button>
      ))}
    </div>
  );
}

function Dot({ status }: { status: Step["status"] | undefined }): React.ReactNode {
  const n = useNodeText();
  if (status !== "succeeded" && status !== "failed" && status !== "running") return null;
  return <span className="part-dot" role="img" data-status={status} aria-label={n(`dot_${status}`)} />;
}

// Which chooses one of the executions: of a step of a body, one of its items.
function Which({ steps, step, inBody }: {
  steps: readonly Step[]; step: Step | undefined; inBody: boolean;
}): React.ReactNode {
  const t = useText();
  const n = useNodeText();
  const { look } = useApp();
  return (
    <select
      className="which" aria-label={t("node.which")} value={step?.index}
      onChange={(event) => look.update({ step: Number(event.target.value) })}
    >
      {steps.map((each, i) => (
        <option key={each.index} value={each.index}>
          {n(inBody ? "item" : "turn", (each.items?.at(-1) ?? i) + 1, steps.length)} · {t(`status.${each.status}`)}
          {each.elapsed === undefined ? "" : ` · ${seconds(each.elapsed)}`}
        </option>
      ))}
    </select>
  );
}

function NoteText({ node }: { node: CanvasNode }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  return (
    <div className="node-body">
      <textarea
        rows={8} aria-label={t("edit.note_text")} placeholder={t("edit.note_hint")} value={node.text ?? ""}
        onChange={(event) => session.editing.write(node.id, event.target.value)}
      />
    </div>
  );
}

function Settings({ node, edits, problems }: {
  node: CanvasNode; edits: Params; problems: readonly Diagnostic[];
}): React.ReactNode {
  const { session, look } = useApp();
  const spec = useStore(session.specs, (specs) => specs.get(node.kind));
  const enter = useLook((all) => all.enter);
  return (
    <Suspense fallback={<span className="spinner" />}>
      <SettingsForm
        node={node.id}
        spec={spec}
        params={node.params}
        tool={node.role === "agent"}
        Trial={node.role === "agent" ? undefined : Trial}
        changed={edits}
        problems={problems}
        onChange={(key, value) => session.edit(node.id, key, value)}
        searchable
        enters={enter === node.id}
        onEntered={() => look.update({ enter: undefined })}
      />
    </Suspense>
  );
}
