// The checks before publishing, and the button that publishes the canvas.

import { useMemo, useState } from "react";
import type { Need } from "../../run/release.ts";
import { useApp, useSelect, useStore } from "../context.tsx";
import { useAttempt, useLoaded } from "../loaded.ts";
import { Fault, useDate, usePublishText, Waiting, type Section } from "./parts.tsx";
import { AddModel } from "../no-model.tsx";
import { Reason } from "../reason.tsx";
import { Share } from "../share.tsx";

const longest = 600; // characters of a diagnostic

const missing = {
  no_model: "need_no_model",
  secret: "need_secret",
} as const;

/** ReleaseSection checks and publishes. */
export function ReleaseSection({ release, onKeep, onSection, onClose }: Section): React.ReactNode {
  const t = usePublishText();
  const date = useDate();
  const { session, together } = useApp();
  const dsl = useStore(session.document, (document) => document?.dsl);
  const stored = useLoaded("stored", () => release.stored());
  const text = useMemo(() => JSON.stringify(dsl), [dsl]); // others may change it under the open dialog
  const checked = useLoaded(text, () => (dsl ? release.check(dsl) : Promise.resolve({ needs: [], opened: [] })));
  const { busy, fault, run } = useAttempt();
  const [done, setDone] = useState(false);
  const [saved, setSaved] = useState(!session.edited);
  const save = (): void => void run(async () => setSaved(await onKeep()));
  const publish = (): void =>
    void run(async () => {
      await stored.after(() => together.publish((rev) => release.publish(rev)));
      setDone(true);
    });
  if (!checked.value) return <Waiting {...checked} />;
  const { needs: found, opened } = checked.value;
  const published = stored.value?.published;
  const errors = found.some(({ severity }) => severity === "error");
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
          <NeedItem key={i} need={need} onClose={onClose} />
        ))}
        {opened.map(({ kind, id, title }) => (
          <li key={id} data-state="warning">
            <span>{t(`opened_${kind}`, title)}</span>
          </li>
        ))}
      </ul>
      {stored.value && <Share id={release.id} team={stored.value.team} onShared={() => stored.reload()} />}
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
            {errors ? t("blocked") : published ? t("published_at", date(published)) : t("not_published")}
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

/** NeedItem shows one missing requirement, with the way to its node. */
function NeedItem({ need, onClose }: { need: Need; onClose: () => void }): React.ReactNode {
  const t = usePublishText();
  const select = useSelect();
  const { kind, code, text, node, severity } = need;
  return (
    <li data-state={severity}>
      <span>
        {node && <b>{node}: </b>}
        {kind === "diagnostic" ? <Reason code={code} message={text} most={longest} /> : t(missing[kind], text)}
      </span>
      {kind === "no_model" && <AddModel />}
      {node && (
        <button
          type="button"
          onClick={() => {
            onClose();
            select(node, { tab: "node", reveal: true });
          }}
        >
          {t("show")}
        </button>
      )}
    </li>
  );
}
