// The first steps of a person, up to a published chat; each leads to its place.

import { lazy, Suspense, useEffect, useState } from "react";
import type { Session } from "../../run/session.ts";
import { areaLink } from "../areas.tsx";
import { useApp, useStore } from "../context.tsx";
import { loadTemplates } from "../example.ts";
import { Icon } from "../icons.tsx";
import { AddModel } from "../no-model.tsx";
import type { HomeActs } from "./acts.ts";
import { useHomeText } from "./text.ts";

const Sample = lazy(() => import("../knowledge/sample.tsx"));

const remembered = "easel.steps";
const first = "support-faq"; // the template of the first question

interface Known {
  asked?: boolean;
  closed?: boolean;
}

function known(): Known {
  try {
    return JSON.parse(localStorage.getItem(remembered) ?? "{}") as Known;
  } catch {
    return {}; // nothing is remembered
  }
}

function remember(more: Known): void {
  try {
    localStorage.setItem(remembered, JSON.stringify({ ...known(), ...more }));
  } catch { /* a page may be forbidden to remember */ }
}

const watched = new WeakSet<Session>();

// watch remembers that a question was answered, also while home is not shown.
function watch(session: Session): void {
  if (watched.has(session)) return;
  watched.add(session);
  const stop = session.player.play.subscribe(() => {
    if (!session.player.play.get().turns.some(({ state }) => state.status === "succeeded")) return;
    remember({ asked: true });
    stop();
  });
}

/** Checklist is shown until it is closed or all of it is done. */
export function Checklist({ acts }: { acts: HomeActs }): React.ReactNode {
  const h = useHomeText();
  const { session, host, drafts } = useApp();
  const offline = useStore(session.player.provider, ({ kind }) => kind === "offline");
  const { status, canvases } = useStore(host.state, (state) => state);
  const open = status === "open";
  const [{ asked = false, closed = false }, setKnown] = useState(known);
  const [documents, setDocuments] = useState(false);
  useEffect(() => watch(session), [session]);
  useEffect(() => {
    if (!open) return;
    // Without an answer the step is open.
    host.request<{ items: { documents?: number }[] }>("GET", "/api/v2/datasets")
      .then(({ items }) => setDocuments(items.some((each) => (each.documents ?? 0) > 0)), () => undefined);
  }, [open, host]);
  const published = canvases.some((canvas) => canvas.published);
  if (closed || (asked && !offline && documents && published)) return null;
  const ask = async (): Promise<void> => {
    const template = (await loadTemplates()).find(({ id }) => id === first);
    if (template) acts.onTemplate(template);
  };
  const publish = (): void => {
    const [mine] = canvases;
    const [draft] = drafts?.list.get() ?? [];
    if (mine) acts.onHost(mine.id);
    else if (draft) acts.onDraft(draft.key);
    else acts.onNew();
  };
  const link = (text: "step_try" | "step_canvas", act: () => void): React.ReactNode => (
    <button type="button" className="link" onClick={act}>{h(text)}</button>
  );
  const knowledge = open ? <><a href={areaLink("knowledge")}>{h("step_open")}</a> <Suspense><Sample /></Suspense></>
    : <small className="quiet">{h("step_sign_in")}</small>;
  const steps: [done: boolean, name: string, act: React.ReactNode][] = [
    [asked, h("step_ask"), link("step_try", () => void ask())],
    [!offline, h("step_model"), <AddModel />],
    [documents, h("step_documents"), knowledge],
    [published, h("step_publish"), link("step_canvas", publish)],
  ];
  return (
    <section className="checklist" aria-labelledby="checklist-title">
      <div className="line">
        <h2 id="checklist-title">{h("steps_title")}</h2>
        <button
          type="button" className="icon-button" aria-label={h("steps_close")} title={h("steps_close")}
          onClick={() => {
            remember({ closed: true });
            setKnown(known());
          }}
        >
          <Icon name="cross" />
        </button>
      </div>
      <ol>
        {steps.map(([done, name, act], i) => (
          <li key={name} data-done={done || undefined}>
            {done ? <Icon name="check" /> : <span className="count">{i + 1}</span>}
            <b>{name}</b> {done ? <small>{h("step_done")}</small> : act}
          </li>
        ))}
      </ol>
    </section>
  );
}
