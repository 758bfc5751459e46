// The panel of a pipeline, where other canvases have the chat: drop a document, see the output of
// each node, and change settings while the chunks update.

import { useEffect, useMemo, useRef, useState } from "react";
import type { Descriptor } from "../../run/files.ts";
import { payloadOf, stations } from "../../run/pipeline.ts";
import { useAreaText } from "../area/text.ts";
import { useAttaching } from "../attach.tsx";
import { Consent } from "../consent.tsx";
import { useApp, useSelect, useStore, useText } from "../context.tsx";
import { useTaker } from "../drop.ts";
import { hueOf, Icon, iconOfNode } from "../icons.tsx";
import { brief, seconds } from "../text.ts";
import { Bench } from "./bench.tsx";

/** PipelinePanel runs a pipeline on a document. */
export default function PipelinePanel(): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const { session } = useApp();
  const select = useSelect();
  const allowed = useStore(session.allowed, (may) => may);
  const specs = useStore(session.specs, (all) => all);
  const model = useStore(session.document, (document) => document?.model);
  const { shown, turns, running } = useStore(session.player.play, (play) => play);
  const [wide, setWide] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const { file, take, notes, busy } = useDocument();
  useTaker(
    useMemo(
      () => (allowed ? { label: a("pipeline.drop"), take: (files: File[]) => takes(files, take) } : undefined),
      [a, allowed, take],
    ),
  );
  if (!allowed)
    return (
      <div className="chat">
        <Consent />
      </div>
    );
  if (!model) return null;
  const fault = turns.at(-1)?.error ?? (shown.status === "failed" ? shown.error : undefined);
  return (
    <div className="pipeline">
      <input
        ref={picker}
        type="file"
        hidden
        onChange={(event) => {
          takes([...(event.target.files ?? [])], take, true);
          event.target.value = "";
        }}
      />
      {file === undefined ? (
        <div className="empty">
          <b>{a("pipeline.none")}</b>
          <p className="quiet">{a("pipeline.none_hint")}</p>
          <button type="button" className="primary" disabled={busy} onClick={() => picker.current?.click()}>
            <Icon name="open" />
            {a("pipeline.choose")}
          </button>
        </div>
      ) : (
        <div className="tools">
          <span className="chip">
            <Icon name="attach" />
            {file.name}
          </span>
          <button type="button" onClick={() => picker.current?.click()}>
            {a("pipeline.other")}
          </button>
          <span className="grow" />
          <button type="button" className="primary" onClick={() => setWide(true)}>
            <Icon name="panel" />
            {a("pipeline.wide")}
          </button>
        </div>
      )}
      {notes}
      {fault !== undefined && (
        <p className="fault" role="alert">
          {brief(fault, 600)}
        </p>
      )}
      {file && (
        <ol className="stations" aria-label={a("pipeline.steps")} aria-busy={running}>
          {stations(model, shown).map(({ node, step }) => {
            const payload = payloadOf(step);
            return (
              <li key={node.id}>
                <button
                  type="button"
                  className="step"
                  data-status={step?.status}
                  data-hue={hueOf(specs.get(node.kind))}
                  onClick={() => select(node.id, { tab: "node", reveal: true })}
                >
                  <span className="glyph">
                    <Icon name={iconOfNode(node)} />
                  </span>
                  <span className="step-name">{node.name || node.id}</span>
                  <span className="step-time">
                    {step?.status === "running" ? (
                      <span className="spinner" />
                    ) : step?.elapsed === undefined ? (
                      ""
                    ) : (
                      seconds(step.elapsed)
                    )}
                  </span>
                </button>
                {payload && (
                  <p className="facts">
                    {a(
                      payload.format === "chunks"
                        ? "pipeline.chunks"
                        : payload.format === "json"
                          ? "pipeline.blocks"
                          : "pipeline.text",
                      payload.pieces.length,
                      lengthOf(payload.pieces),
                    )}
                  </p>
                )}
                {step?.error && <p className="fault">{brief(step.error, 400)}</p>}
              </li>
            );
          })}
        </ol>
      )}
      <p className="quiet small">{a("pipeline.limits")}</p>
      {wide && file && <Bench file={file} onClose={() => setWide(false)} />}
      <span className="sr" role="status">
        {running ? t("chat.running") : ""}
      </span>
    </div>
  );
}

function lengthOf(pieces: { text: string }[]): string {
  return pieces.reduce((sum, { text }) => sum + text.length, 0).toLocaleString();
}

// takes passes a document on; a canvas or a plugin is left to the page unless it was chosen.
function takes([file]: File[], take: (file: File) => void, chosen = false): boolean {
  if (!file || (!chosen && /\.(json|wasm)$/i.test(file.name))) return false;
  take(file);
  return true;
}

const pause = 250; // milliseconds without a change before the pipeline runs again

// useDocument keeps the document and runs the pipeline on it, again whenever the canvas changes.
function useDocument(): {
  file: Descriptor | undefined;
  take(file: File): void;
  notes: React.ReactNode;
  busy: boolean;
} {
  const { session } = useApp();
  const [file, setFile] = useState<Descriptor>();
  const { attach, notes, busy } = useAttaching(session.player.files);
  const components = useStore(session.document, (document) => document?.dsl.components);
  const running = useStore(session.player.play, (play) => play.running);
  const made = useRef<{ file: Descriptor; components: unknown }>(undefined);
  useEffect(() => {
    if (!file || (made.current?.file === file && made.current.components === components)) return;
    if (running) return session.player.cancel(); // it runs again when it has stopped
    const timer = setTimeout(
      () => {
        made.current = { file, components };
        session.player.forget();
        session.player.send({ files: [file] });
      },
      made.current?.file === file ? pause : 0,
    );
    return () => clearTimeout(timer);
  }, [session, file, components, running]);
  const attaching = useRef(attach);
  attaching.current = attach;
  const take = useMemo(
    () => (given: File) => {
      const list = new DataTransfer();
      list.items.add(given);
      void attaching.current(list.files).then(([descriptor]) => {
        if (descriptor) setFile(descriptor);
      });
    },
    [],
  );
  return { file, take, notes, busy };
}
