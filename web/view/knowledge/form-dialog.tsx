// A dialog with one form.

import { useId, useRef } from "react";
import { useText } from "../context.tsx";

/** FormDialog is open while it is drawn: a title, fields, "Close" and the button that sends. */
export function FormDialog({ title, className, send, isReady, onSend, onClose, children }: {
  title: string;
  className?: string;
  send: string;
  isReady: boolean;
  /** It may close the dialog, which otherwise stays. */
  onSend(close: () => void): void;
  onClose(): void;
  children: React.ReactNode;
}): React.ReactNode {
  const t = useText();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const close = (): void => dialog.current?.close();
  return (
    <dialog
      className={className}
      ref={(element) => {
        dialog.current = element;
        if (element && !element.open) element.showModal();
      }}
      aria-labelledby={id} onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSend(close);
        }}
      >
        <h2 id={id}>{title}</h2>
        {children}
        <div className="tools end">
          <button type="button" onClick={close}>
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
