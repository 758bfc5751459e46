// Shared parts of the sections: their texts, requests with their errors, and code to copy.

import { useCallback, useEffect, useState } from "react";
import { messageOf } from "@easel/engine";
import type { Release } from "../../run/release.ts";
import { publishText, type PublishText } from "../../words/publish.ts";
import { useLook } from "../context.tsx";

const texts = { en: publishText("en"), zh: publishText("zh") };

/** Section is what each section gets. */
export interface Section {
  release: Release;
  /** Saves the canvas; false when that failed. */
  onKeep(): Promise<boolean>;
  onSection(name: SectionName): void;
  onClose(): void;
}

/** SectionName names a section. */
export type SectionName = "release" | "history" | "api" | "embed" | "webhook" | "schedules";

/** usePublishText returns the texts of the view. */
export function usePublishText(): PublishText {
  return texts[useLook((look) => look.language)];
}

/** useDate formats times in the person's language. */
export function useDate(): (time: string) => string {
  const language = useLook((look) => look.language);
  const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  return (time) => format.format(new Date(time));
}

/** Loaded is the result of a request so far. */
export interface Loaded<T> {
  value?: T;
  fault?: string;
  reload(): void;
}

/** useLoaded makes a request when the view opens and when `reload` is called. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value?: T; fault?: string }>({});
  const [count, setCount] = useState(0);
  const reload = useCallback(() => setCount((before) => before + 1), []);
  useEffect(() => {
    let current = true;
    load().then(
      (value) => {
        if (current) setState({ value });
      },
      (err: unknown) => {
        if (current) setState({ fault: messageOf(err) });
      },
    );
    return () => {
      current = false;
    };
  }, [count]);
  return { ...state, reload };
}

/** useAct runs the action of a button and shows its error. */
export function useAct(): { busy: boolean; fault: string | undefined; act(work: () => Promise<void>): void } {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const act = (work: () => Promise<void>): void => {
    setBusy(true);
    setFault(undefined);
    work()
      .catch((err: unknown) => setFault(messageOf(err)))
      .finally(() => setBusy(false));
  };
  return { busy, fault, act };
}

/** Waiting shows that a request is on its way, or why it failed. */
export function Waiting({ fault, reload }: Pick<Loaded<unknown>, "fault" | "reload">): React.ReactNode {
  const t = usePublishText();
  if (fault === undefined)
    return (
      <p className="quiet" role="status">
        <span className="spinner" /> {t("loading")}
      </p>
    );
  return (
    <p className="fault" role="alert">
      {fault}{" "}
      <button type="button" onClick={reload}>
        {t("again")}
      </button>
    </p>
  );
}

/** Fault shows why an act failed. */
export function Fault({ text }: { text: string | undefined }): React.ReactNode {
  return text === undefined ? null : (
    <p className="fault" role="alert">
      {text}
    </p>
  );
}

/** Code shows lines to copy. */
export function Code({ label, text }: { label: string; text: string }): React.ReactNode {
  const t = usePublishText();
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <figure className="snippet">
      <figcaption>
        {label}
        <button type="button" aria-label={`${t(copied ? "copied" : "copy")}: ${label}`} onClick={() => void copy()}>
          {t(copied ? "copied" : "copy")}
        </button>
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
