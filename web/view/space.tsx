// Banners about drafts: restored changes, little space in this browser, changes not stored.

import { lazy, Suspense, useEffect, useState } from "react";
import type { Drafts } from "../run/drafts.ts";
import { useApp, useStore, useText } from "./context.tsx";

const Room = lazy(() => import("./home/room.tsx"));

/** Space shows banners; `restored` means that the canvas has changes of an earlier visit. */
export function Space({ restored, onRead }: { restored: boolean; onRead(): void }): React.ReactNode {
  const t = useText();
  const { session, drafts } = useApp();
  useStore(session.document, (document) => document); // edited follows it
  const { edited } = session;
  useEffect(() => { if (!edited) onRead(); }, [edited]);
  return (
    <>
      {restored && edited && (
        <p className="banner note-bar" role="status">
          {t("drafts.restored")}
          <button type="button" onClick={() => session.revert()}>{t("drafts.discard")}</button>
          <button type="button" onClick={onRead}>{t("error.close")}</button>
        </p>
      )}
      {drafts && <Warning drafts={drafts} edited={edited} />}
    </>
  );
}

function Warning({ drafts, edited }: { drafts: Drafts; edited: boolean }): React.ReactNode {
  const t = useText();
  const room = useStore(drafts.room, (now) => now);
  const working = useStore(drafts.working, (now) => now);
  const [choosing, setChoosing] = useState(false);
  const [read, setRead] = useState(false);
  const refused = room === "full" ? "full" : !working && edited ? "off" : undefined;
  const shown = refused ?? (room === "low" && !read ? "low" : undefined);
  return (
    <>
      {shown && (
        <p className={`banner ${refused ? "fault" : "note-bar"}`} role={refused ? "alert" : "status"}>
          {t(`drafts.${shown}`)}
          {shown !== "off" && <button type="button" onClick={() => setChoosing(true)}>{t("drafts.choose")}</button>}
          {shown === "low" && <button type="button" onClick={() => setRead(true)}>{t("error.close")}</button>}
        </p>
      )}
      {choosing && <Suspense fallback={null}><Room drafts={drafts} onClose={() => setChoosing(false)} /></Suspense>}
    </>
  );
}
