// What the sections of the view share: their texts, failures of their requests, and copied code.

import { useRef } from "react";
import type { Release } from "../../run/release.ts";
import { publishText, type PublishText } from "../../words/publish.ts";
import { useLook } from "../context.tsx";
import { CopyButton } from "../copy-button.tsx";
import type { Loaded } from "../loaded.ts";

const texts = { en: publishText("en"), zh: publishText("zh") };

/** Section has the props that all sections get. */
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
      <button type="button" onClick={() => void reload()}>
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
  const lines = useRef<HTMLPreElement>(null);
  return (
    <figure className="snippet">
      <figcaption>
        {label}
        <CopyButton label={label} text={text} shown={() => lines.current} />
      </figcaption>
      <pre ref={lines} tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
