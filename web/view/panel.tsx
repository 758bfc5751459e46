// The drawer with its pages.

import { lazy, Suspense, useEffect, useRef } from "react";
import { isPipeline } from "../run/pipeline.ts";
import { Chat } from "./chat.tsx";
import { useApp, useLook, useStore, useText, type Tab } from "./context.tsx";
import { Guard } from "./guard.tsx";
import { Inspector, preloadForm } from "./inspector.tsx";
import { useLacking } from "./lacking.ts";

const Problems = lazy(() => import("./problems.tsx"));
const Timeline = lazy(() => import("./timeline.tsx"));
const Variables = lazy(() => import("./variables.tsx"));
const Tests = lazy(() => import("./tests/panel.tsx"));
const Grip = lazy(() => import("./grip.tsx"));
const PipelinePanel = lazy(() => import("./pipeline/panel.tsx"));

const pages: Record<Tab, React.ComponentType> = {
  chat: Chat,
  timeline: Timeline,
  node: Inspector,
  variables: Variables,
  problems: Problems,
  tests: Tests,
};
const order = Object.keys(pages) as Tab[];

/** Panel returns the drawer at the side of the canvas. */
export function Panel(): React.ReactNode {
  const t = useText();
  const { look, session } = useApp();
  const tab = useLook((all) => all.tab);
  const lacking = useLacking(useStore(session.document, (document) => document?.dsl)).length;
  const errors =
    lacking + useStore(session.problems, (all) => all.filter((problem) => problem.severity === "error").length);
  const warnings = useStore(session.problems, (all) => all.filter((problem) => problem.severity === "warning").length);
  const list = useRef<HTMLDivElement>(null);
  useEffect(preloadForm, []);
  const move = (event: React.KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = order[(order.indexOf(tab) + step + order.length) % order.length] as Tab;
    look.update({ tab: next });
    list.current?.querySelector<HTMLElement>(`[data-tab="${next}"]`)?.focus();
  };
  const model = useStore(session.document, (document) => document?.model);
  const pipeline = isPipeline(model, useStore(session.specs, (specs) => specs));
  const Page = pages[tab];
  return (
    <aside className="panel" id="panel" aria-label={t("bar.panel")}>
      <Suspense><Grip /></Suspense>
      <div className="tabs" role="tablist" ref={list} onKeyDown={move} aria-label={t("bar.panel")}>
        {order.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            data-tab={each}
            aria-selected={tab === each}
            aria-controls="page"
            tabIndex={tab === each ? 0 : -1}
            onClick={() => look.update({ tab: each })}
          >
            {t(pipeline && each === "chat" ? "tab.document" : `tab.${each}`)}
            {each === "problems" && errors + warnings > 0 && (
              <span className="count" data-severity={errors > 0 ? "error" : "warning"}>
                {errors || warnings}
              </span>
            )}
          </button>
        ))}
      </div>
      <div className="page" id="page" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={-1}>
        {pipeline && (
          <div className="pipeline-page" hidden={tab !== "chat"}>
            <Guard mark="pipeline">
              <Suspense>
                <PipelinePanel />
              </Suspense>
            </Guard>
          </div>
        )}
        {!(pipeline && tab === "chat") && (
          <Guard mark={tab}>
            <Suspense>
              <Page />
            </Suspense>
          </Guard>
        )}
      </div>
    </aside>
  );
}
