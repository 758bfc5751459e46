// The checks before publishing, and the button that publishes the canvas.

import { useState } from "react";
import type { Need } from "../../run/release.ts";
import { useApp, useSelect, useStore } from "../context.tsx";
import { useAttempt, useLoaded } from "../loaded.ts";
import { Fault, useDate, usePublishText, Waiting, type Section } from "./parts.tsx";
import { Reason } from "../reason.tsx";

const longest = 600; // characters of a diagnostic

const missing = {
  model: "need_model",
  no_model: "need_no_model",
  dataset: "need_dataset",
  secret: "need_secret",
} as const;

/** ReleaseSection checks and publishes. */
export function ReleaseSection({ release, onKeep, onSection, onClose }: Section): React.ReactNode {
  const t = usePublishText();
  const date = useDate();
  const { session, together } = useApp();
  const select = useSelect();
  const dsl = useStore(session.document, (document) => document?.dsl);
  const published = useLoaded("published", () => release.published());
  const needs = useLoaded("needs", () => (dsl ? release.needs(dsl) : Promise.resolve([])));
  const { busy, fault, run } = useAttempt();
  const [done, setDone] = useState(false);
  const [saved, setSaved] = useState(!session.edited);
  const save = (): void => void run(async () => setSaved(await onKeep()));
  const publish = (): void =>
    void run(async () => {
      await published.after(() => together.publish((rev) => release.publish(rev)));
      setDone(true);
    });
  const found = needs.value;
  if (!found) return <Waiting {...needs} />;
  const errors = found.some(({ severity }) => severity === "error");
  const say = ({ kind, code, text }: Need): React.ReactNode =>
    kind === "diagnostic" ? <Reason code={code} message={text} most={longest} /> : t(missing[kind], text);
  return (
    <>
      <h3>{t("check")}</h3>
      <ul className="checks">
        <li data-state={saved ? "good" : "error"}>
          <span>{t(saved ? "check_saved" : "check_unsaved")}</span>
          {!saved && (
            <button type="button" disabled={busy} onClick={save}>
              {t("save")}
            </button>
          )}
        </li>
        {found.length === 0 && (
          <li data-state="good">
            <span>{t("check_ready")}</span>
          </li>
        )}
        {found.map((need, i) => (
          <li key={i} data-state={need.severity}>
            <span>
              {need.node && <b>{need.node}: </b>}
              {say(need)}
            </span>
            {need.node && (
              <button
                type="button"
                onClick={() => {
                  onClose();
                  select(need.node, { tab: "node", reveal: true });
                }}
              >
                {t("show")}
              </button>
            )}
          </li>
        ))}
      </ul>
      <Fault text={fault} />
      {done ? (
        <p className="good" role="status">
          {t("published")}
        </p>
      ) : (
        <p className="publish-act">
          <button type="button" className="primary" disabled={busy || errors || !saved} onClick={publish}>
            {t(found.length > 0 && !errors ? "publish_anyway" : "publish")}
          </button>
          <span className="quiet">
            {errors ? t("blocked") : published.value ? t("published_at", date(published.value)) : t("not_published")}
          </span>
        </p>
      )}
      {done && (
        <>
          <h3>{t("next_steps")}</h3>
          <p className="publish-act">
            <button type="button" className="primary" onClick={() => onSection("embed")}>
              {t("go_embed")}
            </button>
            <button type="button" onClick={() => onSection("api")}>
              {t("go_api")}
            </button>
          </p>
        </>
      )}
    </>
  );
}
