// What the editors of connections share: their texts, and texts that may name a secret.

import { useEffect, useId, useRef, useState } from "react";
import { numbered } from "../../canvas/hook-security.ts";
import type { Secret } from "../../run/admin.ts";
import { Store } from "../../run/store.ts";
import { texts, type ConnectKey } from "../../words/connect.ts";
import { filler } from "../../words/words.ts";
import { useApp, useLook, useStore } from "../context.tsx";
import { CopyButton } from "../copy-button.tsx";
import { Icon } from "../icons.tsx";
import { useAttempt } from "../loaded.ts";
import { useParts } from "./params.tsx";

const translators = { en: filler(texts.en), zh: filler(texts.zh) };

/** ConnectText translates a text; values replace {0}, {1}. */
export type ConnectText = (key: ConnectKey, ...values: (string | number)[]) => string;

/** useConnectText returns the texts in the person's language. */
export function useConnectText(): ConnectText {
  return translators[useLook((look) => look.language)];
}

/** useMayAsk reports whether a form may ask the host: its person is known and allows the canvas. */
export function useMayAsk(): boolean {
  const { host, session } = useApp();
  const open = useStore(host.state, ({ status }) => status === "open");
  const allowed = useStore(session.allowed, (may) => may);
  return open && allowed;
}

/** SignIn names what is missing to load choices: a host, a login or consent. */
export function SignIn(): React.ReactNode {
  const c = useConnectText();
  const status = useStore(useApp().host.state, (state) => state.status);
  if (useMayAsk()) return null;
  return <small>{c(status === "none" ? "no_host" : status === "open" ? "allow_first" : "sign_in")}</small>;
}

/** Fault shows why a request failed. */
export function Fault({ text, onAgain }: { text: string | undefined; onAgain?(): void }): React.ReactNode {
  const c = useConnectText();
  if (text === undefined) return null;
  return (
    <p className="fault small" role="alert">
      {text} {onAgain && <button type="button" onClick={onAgain}>{c("again")}</button>}
    </p>
  );
}

/** Copied shows a text with a button that copies it. */
export function Copied({ label, text }: { label: string; text: string }): React.ReactNode {
  const shown = useRef<HTMLElement>(null);
  return (
    <div className="copied-text">
      <code ref={shown} tabIndex={0} aria-label={label}>{text}</code>
      <CopyButton label={label} text={text} shown={() => shown.current} />
    </div>
  );
}

const whole = /^(\w+ )?\{\{\s*secret:([^{}]+?)\s*\}\}$/;

/** secretIn returns the secret of a text, and the scheme before it, such as Bearer. */
export function secretIn(text: string): { scheme: string; name: string } | undefined {
  const [, scheme = "", name] = whole.exec(text) ?? [];
  return name === undefined ? undefined : { scheme, name };
}

/** placeholderOf returns the text that stands for a secret. */
export function placeholderOf(name: string): string {
  return `{{secret:${name}}}`;
}

// The secrets of the host, which all fields of a form share.
const known = new Store<{ secrets?: Secret[]; at: number }>({ at: 0 });
const fresh = 5000; // milliseconds

/** useSecrets lists the secrets of the host, without their values. */
export function useSecrets(): { secrets: Secret[] | undefined; put(name: string, value: string): Promise<void> } {
  const { host } = useApp();
  const mayAsk = useMayAsk();
  const secrets = useStore(known, (all) => all.secrets);
  const load = async (): Promise<void> => {
    known.set({ ...known.get(), at: Date.now() });
    const { items } = await host.request<{ items: Secret[] }>("GET", "/api/v2/secrets");
    known.set({ secrets: items, at: Date.now() });
  };
  useEffect(() => {
    // Without the list a text can still be typed.
    if (mayAsk && Date.now() - known.get().at > fresh) load().catch(() => undefined);
  }, [mayAsk]);
  const put = async (name: string, text: string): Promise<void> => {
    await host.request("PUT", `/api/v2/secrets/${encodeURIComponent(name)}`, { value: text });
    await load();
  };
  return { secrets: mayAsk ? secrets : undefined, put };
}

interface SecretFieldProps {
  id?: string;
  label: string;
  value: string;
  placeholder?: string | undefined;
  /** Node whose variables the text may use; undefined for none. */
  node?: string | undefined;
  /** A text that is no secret is hidden too. */
  hidden?: boolean;
  /** Name that is proposed for a new secret. */
  propose?: string;
  /** Makes the text of a secret with this placeholder, such as "Bearer {{secret:X}}". */
  around?(placeholder: string): string;
  onChange(value: string): void;
}

/** SecretField edits a text, which may be a secret of the host by name. */
export function SecretField({
  id, label, value, placeholder, node, hidden = false, propose = "", around = (text) => text, onChange,
}: SecretFieldProps): React.ReactNode {
  const c = useConnectText();
  const { Prompt } = useParts();
  const { secrets, put } = useSecrets();
  const [making, setMaking] = useState(false);
  const secret = secretIn(value);
  const named = secret?.name;
  const known = secrets?.find(({ name }) => name === named);
  const names = secrets?.map(({ name }) => name) ?? [];
  const use = (name: string): void => onChange(around(placeholderOf(name)));
  return (
    <div className="secret-field">
      {named === undefined && node !== undefined && (
        <Prompt node={node} label={label} text={value} hint={placeholder} onChange={onChange} />
      )}
      {named === undefined && node === undefined && (
        <input
          id={id} type={hidden ? "password" : "text"} autoComplete="off" spellCheck={false} aria-label={label}
          value={value} placeholder={placeholder} onChange={(event) => onChange(event.target.value)}
        />
      )}
      {named !== undefined && (
        <span className="secret-chip">
          <span>{secret?.scheme}{c("secret_of", named)}</span>
          <button
            id={id} type="button" className="icon-button" aria-label={`${label}: ${c("remove", named)}`}
            onClick={() => onChange("")}
          >
            <Icon name="cross" />
          </button>
        </span>
      )}
      {secrets && (
        <select
          aria-label={c("secret_use", label)} value=""
          onChange={(event) => {
            const at = Number(event.target.value);
            const chosen = secrets[at];
            if (chosen) use(chosen.name);
            else setMaking(true);
          }}
        >
          <option value="">{c("secret_choose")}</option>
          {secrets.map(({ name }, i) => <option key={name} value={i}>{name}</option>)}
          <option value={-1}>{c("secret_new")}</option>
        </select>
      )}
      {named !== undefined && secrets && !known && <small className="missing">{c("secret_missing", named)}</small>}
      {known?.hosts && <small>{c("secret_hosts", known.hosts.join(", "))}</small>}
      {making && (
        <NewSecret
          propose={propose === "" ? "" : numbered(propose, names)} taken={names} put={put}
          onDone={(name) => {
            setMaking(false);
            if (name !== undefined) use(name);
          }}
        />
      )}
    </div>
  );
}

function NewSecret({ propose, taken, put, onDone }: {
  propose: string;
  taken: string[];
  put(name: string, value: string): Promise<void>;
  onDone(name?: string): void;
}): React.ReactNode {
  const c = useConnectText();
  const id = useId();
  const attempt = useAttempt();
  const [name, setName] = useState(propose);
  const [value, setValue] = useState("");
  const wrong = name !== "" && !/^[\w.-]+$/.test(name);
  const bad = wrong ? c("secret_bad_name") : taken.includes(name) ? c("secret_exists") : "";
  const ready = name !== "" && bad === "" && value !== "" && !attempt.busy;
  const save = async (): Promise<void> => {
    if (ready && (await attempt.run(() => put(name, value)))) onDone(name);
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    void save();
  };
  return (
    <div className="inset" role="group" aria-label={c("secret_new")}>
      <label className="member">
        {c("secret_name")}
        <input
          type="text" autoFocus autoComplete="off" spellCheck={false} value={name} aria-invalid={bad !== ""}
          aria-describedby={`${id}-bad`} onChange={(event) => setName(event.target.value)} onKeyDown={onKeyDown}
        />
      </label>
      {bad && <small id={`${id}-bad`} className="missing">{bad}</small>}
      <label className="member">
        {c("secret_value")}
        <input
          type="password" autoComplete="new-password" value={value} onKeyDown={onKeyDown}
          onChange={(event) => setValue(event.target.value)}
        />
      </label>
      <Fault text={attempt.fault} />
      <div className="acts">
        <button type="button" disabled={!ready} onClick={() => void save()}>{c("save")}</button>
        <button type="button" className="plain" onClick={() => onDone()}>{c("cancel")}</button>
      </div>
    </div>
  );
}
