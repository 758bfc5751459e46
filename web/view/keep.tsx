// Saves a canvas that the host does not have yet.

import { useEffect, useRef, useState } from "react";
import type { Origin } from "../run/host.ts";
import { useApp, useStore, useText } from "./context.tsx";
import { SignIn } from "./host.tsx";
import { reasonOf } from "./reason.tsx";

/** KeepDialog takes a title, and a login if the person is not signed in. */
export default function KeepDialog({
  title,
  onDone,
  onClose,
}: {
  title: string;
  onDone(origin: Origin): void;
  onClose(): void;
}): React.ReactNode {
  const t = useText();
  const { session, host } = useApp();
  const { status, fault } = useStore(host.state, (state) => state);
  const dialog = useRef<HTMLDialogElement>(null);
  const [name, setName] = useState(title);
  const [failed, setFailed] = useState<string>();
  useEffect(() => {
    dialog.current?.showModal();
    if (host.state.get().status !== "open") void host.connect();
  }, [host]);
  const save = async (): Promise<void> => {
    try {
      const dsl = session.document.get()?.dsl;
      const text = await session.text();
      const origin = await host.create(name.trim(), text);
      if (dsl) session.stored(origin, { dsl, text }, name.trim());
      onDone(origin);
    } catch (err) {
      setFailed(reasonOf(err));
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="keep-title" onClose={onClose}>
      <h2 id="keep-title">{t("save.title")}</h2>
      {status === "closed" && <SignIn />}
      {status === "none" && (
        <p className="fault" role="alert">
          {t("host.none", fault ?? "")}
        </p>
      )}
      {failed !== undefined && (
        <p className="fault" role="alert">
          {t("error.not_kept")} {failed}
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label className="field">
          {t("save.name")}
          <input type="text" required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <button type="submit" className="primary wide" disabled={status !== "open"}>
          {t("save.submit")}
        </button>
      </form>
    </dialog>
  );
}
