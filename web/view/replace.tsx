// The question before a canvas takes the place of work that is not saved.

import { useEffect, useRef } from "react";
import { useText } from "./context.tsx";

/** Replace is a dialog; closing it keeps the canvas that is open. */
export function Replace({ title, onOpen, onKeep }: { title: string; onOpen(): void; onKeep(): void }): React.ReactNode {
  const t = useText();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="replace-title" onCancel={onKeep}>
      <h2 id="replace-title">{t("replace.title")}</h2>
      <p className="lead-in">{t("replace.text", title)}</p>
      <div className="line">
        <button type="button" className="primary" autoFocus onClick={onKeep}>{t("replace.keep")}</button>
        <button type="button" onClick={onOpen}>{t("replace.open")}</button>
      </div>
    </dialog>
  );
}
