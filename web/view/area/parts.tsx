// Small parts that the areas share: pages of lists, buttons that ask first, empty lists.

import { useEffect, useState } from "react";
import { useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { useAreaText } from "./text.ts";

export { useAttempt, useLoaded, type Attempt, type Loaded } from "../loaded.ts";

/** useWords is a text that is searched for once the person stops typing. */
export function useWords(): { typed: string; words: string; type(text: string): void } {
  const [typed, type] = useState("");
  const [words, setWords] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setWords(typed.trim()), 250);
    return () => clearTimeout(timer);
  }, [typed]);
  return { typed, words, type };
}

/** Fault shows the reason of a failure, with a button to retry. */
export function Fault({ text, onAgain }: { text: string | undefined; onAgain?(): void }): React.ReactNode {
  const t = useText();
  if (text === undefined) return null;
  return (
    <p className="fault" role="alert">
      {text}{" "}
      {onAgain && (
        <button type="button" onClick={onAgain}>
          {t("host.again")}
        </button>
      )}
    </p>
  );
}

/** Pager leads through the pages of a list. */
export function Pager({
  page,
  size,
  total,
  onPage,
}: {
  page: number;
  size: number;
  total: number;
  onPage(page: number): void;
}): React.ReactNode {
  const a = useAreaText();
  const last = Math.max(1, Math.ceil(total / size));
  if (total <= size && page === 1) return null;
  return (
    <nav className="pager" aria-label={a("pager.label")}>
      <button type="button" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        <Icon name="back" />
        {a("pager.before")}
      </button>
      <span aria-live="polite">
        {a("pager.at", (page - 1) * size + 1, Math.min(total, page * size), total.toLocaleString())}
      </span>
      <button type="button" disabled={page >= last} onClick={() => onPage(page + 1)}>
        {a("pager.next")}
        <Icon name="forward" />
      </button>
    </nav>
  );
}

/** Confirm returns a button that acts at the second press. */
export function Confirm({
  label,
  sure,
  icon = false,
  disabled,
  onDone,
}: {
  label: string;
  sure: string;
  icon?: boolean;
  disabled?: boolean;
  onDone(): void;
}): React.ReactNode {
  const [asking, setAsking] = useState(false);
  if (asking) {
    return (
      <button
        type="button"
        className="danger"
        autoFocus
        disabled={disabled}
        onBlur={() => setAsking(false)}
        onKeyDown={(event) => {
          if (event.repeat) event.preventDefault(); // Enter is still held
          if (event.key === "Escape") {
            event.stopPropagation();
            setAsking(false);
          }
        }}
        onClick={({ detail }) => {
          if (detail > 1) return; // of the double click that asked
          setAsking(false);
          onDone();
        }}
      >
        {sure}
      </button>
    );
  }
  return (
    <button
      type="button"
      className={icon ? "icon-button" : undefined}
      aria-label={label}
      title={icon ? label : undefined}
      disabled={disabled}
      onClick={() => setAsking(true)}
    >
      <Icon name="trash" />
      {!icon && label}
    </button>
  );
}

/** Empty replaces an empty list and suggests the first step. */
export function Empty({
  title,
  text,
  children,
}: {
  title: string;
  text: string;
  children?: React.ReactNode;
}): React.ReactNode {
  return (
    <div className="empty">
      <b>{title}</b>
      <p className="quiet">{text}</p>
      {children}
    </div>
  );
}
