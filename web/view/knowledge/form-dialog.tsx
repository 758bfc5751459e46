// A dialog with one form.

import { useId, useRef, useState } from "react";
import { useAreaText } from "../area/text.ts";
import { useText } from "../context.tsx";

/** FormDialog is open while it is drawn: a title, fields, "Close" and the button that sends. */
export function FormDialog({ title, className, send, isReady, isEdited = false, onSend, onClose, children }: {
  title: string;
  className?: string;
  send: string;
  isReady: boolean;
  /** Escape and "Close" ask once before they drop what was entered. */
  isEdited?: boolean;
  /** It may close the dialog, which otherwise stays. */
  onSend(close: () => void): void;
  onClose(): void;
  children: React.ReactNode;
}): React.ReactNode {
  const t = useText();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const a = useAreaText();
  const [isWarned, setWarned] = useState(false);
  const close = (): void => dialog.current?.close();
  const leave = (): void => {
    if (isEdited && !isWarned) setWarned(true);
    else close();
  };
  return (
    <dialog
      className={className}
      ref={(element) => {
        dialog.current = element;
        if (element && !element.open) element.showModal();
      }}
      aria-labelledby={id} onClose={onClose}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault(); // browsers close at the second Escape whatever a page wants
        leave();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSend(close);
        }}
      >
        <h2 id={id}>{title}</h2>
        {children}
        {isEdited && isWarned && <p className="fault" role="alert">{a("form.unsaved")}</p>}
        <div className="tools end">
          <button type="button" onClick={leave}>
            {t("error.close")}
          </button>
          <button type="submit" className="primary" disabled={!isReady}>
            {send}
          </button>
        </div>
      </form>
    </dialog>
  );
}
