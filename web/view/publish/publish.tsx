// The publishing view of a canvas: checks, versions, code to call or embed it, its webhook and its
// schedules. Loaded when opened.

import { useEffect, useMemo, useRef, useState } from "react";
import { Release } from "../../run/release.ts";
import { useApp, useStore } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { EmbedSection } from "./embed.tsx";
import { HistorySection } from "./history.tsx";
import { usePublishText, type Section, type SectionName } from "./parts.tsx";
import { ProgramsSection } from "./programs.tsx";
import { ReleaseSection } from "./release.tsx";
import { SchedulesSection } from "./schedules.tsx";
import { WebhookSection } from "./webhook.tsx";

const sections: Record<SectionName, (props: Section) => React.ReactNode> = {
  release: ReleaseSection,
  history: HistorySection,
  api: ProgramsSection,
  embed: EmbedSection,
  webhook: WebhookSection,
  schedules: SchedulesSection,
};
const order = Object.keys(sections) as SectionName[];

/** Publish returns a dialog; `onNew` saves a canvas that the host does not have yet. */
export default function Publish({ onKeep, onNew }: Pick<Section, "onKeep"> & { onNew(): void }): React.ReactNode {
  const t = usePublishText();
  const { session, host, look } = useApp();
  const origin = useStore(session.origin, (from) => from);
  const release = useMemo(() => (origin ? new Release(host, origin.id) : undefined), [host, origin?.id]);
  const [section, setSection] = useState<SectionName>(look.get().publish ?? "release");
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    // On a phone the tabs are a line that is longer than the screen.
    document.getElementById(`section-${section}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [section, release]);
  const Shown = sections[section];
  const turn = (event: React.KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = order[(order.indexOf(section) + step + order.length) % order.length] as SectionName;
    setSection(next);
    document.getElementById(`section-${next}`)?.focus();
  };
  return (
    <dialog
      ref={dialog} className="publish" aria-labelledby="publish-title"
      onClose={() => look.update({ publish: undefined })}
    >
      <header>
        <h2 id="publish-title">{t("title")}</h2>
        <button type="button" className="icon-button" aria-label={t("close")} onClick={() => dialog.current?.close()}>
          <Icon name="cross" />
        </button>
      </header>
      {!release ? (
        <div className="publish-page">
          <p>{t("save_first")}</p>
          <p>
            <button type="button" className="primary" onClick={onNew}>
              {t("save")}
            </button>
          </p>
        </div>
      ) : (
        <>
          <div className="publish-tabs" role="tablist" aria-label={t("sections")} onKeyDown={turn}>
            {order.map((name) => (
              <button
                key={name}
                type="button"
                role="tab"
                id={`section-${name}`}
                aria-selected={name === section}
                aria-controls="publish-page"
                tabIndex={name === section ? 0 : -1}
                onClick={() => setSection(name)}
              >
                {t(name)}
              </button>
            ))}
          </div>
          <div
            key={section}
            id="publish-page"
            className="publish-page"
            role="tabpanel"
            aria-labelledby={`section-${section}`}
            tabIndex={0}
          >
            <Shown release={release} onKeep={onKeep} onSection={setSection} onClose={() => dialog.current?.close()} />
          </div>
        </>
      )}
    </dialog>
  );
}
