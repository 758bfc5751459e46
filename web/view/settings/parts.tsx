// Shared parts of the sections of the settings: texts, requests, forms to add entries, rows.

import { useRef, useState } from "react";
import { Admin } from "../../run/admin.ts";
import { texts, type SettingsText } from "../../words/settings.ts";
import { shown } from "../../words/shown.ts";
import { filler } from "../../words/words.ts";
import { Confirm, Fault, useAttempt, type Loaded } from "../area/parts.tsx";
import { useApp, useLook, useText } from "../context.tsx";
import { CopyButton } from "../copy-button.tsx";

const translators = { en: filler(texts.en), zh: filler(texts.zh) };

/** useSettingsText returns the texts of the settings in the person's language. */
export function useSettingsText(): SettingsText {
  return translators[useLook((look) => look.language)];
}

/** useAdmin makes the requests of the settings. */
export function useAdmin(): Admin {
  const { host } = useApp();
  const [admin] = useState(() => new Admin(host));
  return admin;
}

/** useFormats writes times and numbers in the person's language. */
export function useFormats(): { time(text: string): string; day(text: string): string; count(n: number): string } {
  const language = useLook((look) => look.language);
  const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const day = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
  return {
    time: (text) => time.format(new Date(text)),
    day: (text) => day.format(new Date(text)),
    count: (n) => n.toLocaleString(language),
  };
}

/** Waiting shows that something is loaded, or why it could not be. */
export function Waiting({ loaded }: { loaded: Pick<Loaded<unknown>, "fault" | "reload"> }): React.ReactNode {
  const t = useText();
  if (loaded.fault !== undefined) return <Fault text={loaded.fault} onAgain={loaded.reload} />;
  return (
    <p className="quiet" role="status">
      <span className="spinner" /> {t("host.asking")}
    </p>
  );
}

/**
 * Adder returns a form behind a button; it closes when its request succeeded. While `complete`
 * returns false of what is entered, it cannot be sent, and `incomplete` names what is missing;
 * without values it is asked of the empty form.
 */
export function Adder({
  label,
  submit,
  onSubmit,
  complete = () => true,
  incomplete,
  open,
  children,
}: {
  label: string;
  submit?: string;
  /** The form is shown from the start. */
  open?: boolean;
  onSubmit(values: FormData): Promise<unknown>;
  complete?(values?: FormData): boolean;
  incomplete?: string;
  children: React.ReactNode;
}): React.ReactNode {
  const s = useSettingsText();
  const details = useRef<HTMLDetailsElement>(null);
  const attempt = useAttempt();
  const [entered, setEntered] = useState<FormData>();
  const whole = complete(entered);
  const send = async (event: React.FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(await attempt.run(() => onSubmit(new FormData(form))))) return;
    form.reset();
    setEntered(undefined);
    if (details.current) details.current.open = false;
  };
  return (
    <details className="adder" ref={details} open={open}>
      <summary>{label}</summary>
      <form
        className="fields"
        onChange={(event) => setEntered(new FormData(event.currentTarget))}
        onSubmit={(event) => void send(event)}
      >
        {children}
        {!whole && incomplete && (
          <p className="quiet" role="status">
            {incomplete}
          </p>
        )}
        <Fault text={attempt.fault} />
        <button type="submit" className="primary" disabled={attempt.busy || !whole}>
          {submit ?? s("save")}
        </button>
      </form>
    </details>
  );
}

/** Field returns a labelled input of a form. */
export function Field({
  label,
  ...input
}: { label: string } & React.InputHTMLAttributes<HTMLInputElement>): React.ReactNode {
  return (
    <label className="field">
      {label}
      <input type="text" autoComplete="off" {...input} />
    </label>
  );
}

/** Copied shows a text to copy. */
export function Copied({ label, text }: { label: string; text: string }): React.ReactNode {
  const shown = useRef<HTMLElement>(null);
  return (
    <div className="to-copy">
      <small>{label}</small> <code ref={shown}>{text}</code>{" "}
      <CopyButton text={text} shown={() => shown.current} link />
    </div>
  );
}

/** textOf returns the trimmed text of a field. */
export function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** namesOf returns the names in a field, separated by commas. */
export function namesOf(values: FormData, name: string): string[] {
  return textOf(values, name).split(",").map((each) => each.trim()).filter(Boolean);
}

/** Row returns an entry of a list with what can be done to it. */
export function Row({
  title,
  facts,
  badge,
  tone,
  acts,
  remove,
  end,
  lost,
  children,
}: {
  title: string;
  facts?: (string | false | undefined)[];
  badge?: string;
  tone?: "good" | "bad" | "wait";
  acts?: React.ReactNode;
  remove?(): Promise<unknown>;
  /** The label of what removes it, where nothing is deleted. */
  end?: string;
  /** What stops working when it is removed. */
  lost?: string;
  children?: React.ReactNode;
}): React.ReactNode {
  const s = useSettingsText();
  const attempt = useAttempt();
  return (
    <li>
      <div className="what">
        <span className="row">
          <b>{shown(title)}</b>
          {badge && (
            <span className="badge state" data-tone={tone}>
              {badge}
            </span>
          )}
        </span>
        <small>{facts?.filter(Boolean).join(" · ")}</small>
        {children}
        <Fault text={attempt.fault} />
      </div>
      <div className="acts">
        {acts}
        {remove && (
          <Confirm
            icon
            label={end ? `${end}: ${title}` : s("remove", title)}
            sure={end ? s("login_sure") : lost === undefined ? s("sure") : `${s("sure")} ${lost}`}
            disabled={attempt.busy}
            onDone={() => void attempt.run(remove)}
          />
        )}
      </div>
    </li>
  );
}
