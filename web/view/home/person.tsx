// The person who is signed in: profile, change of the password, sign out; or the sign-in.

import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { useApp, useStore, useText } from "../context.tsx";
import { SignIn } from "../host.tsx";
import { codeWords } from "../../words/codes.ts";
import { useAttempt } from "../loaded.ts";
import { reasonOf } from "../reason.tsx";
import { useHomeText } from "./text.ts";

const Logins = lazy(() => import("../settings/logins.tsx"));
const noPerson = { email: "", tenant: "", role: "" };
const shortest = 8; // characters of a password

/** Person is the content of a dialog, which closes after the sign-in. */
export default function Person({ onDone }: { onDone(): void }): React.ReactNode {
  const t = useText();
  const h = useHomeText();
  const { host } = useApp();
  const { status, fault } = useStore(host.state, (state) => state);
  const [changed, setChanged] = useState(false);
  const before = useRef(status);
  useEffect(() => {
    if (host.state.get().status === "unknown") void host.connect();
  }, [host]);
  useEffect(() => {
    if (status === "open" && before.current !== "open") onDone();
  }, [status, onDone]);
  return (
    <>
      <h2 id="dialog-title">{status === "open" ? h("me_title") : t("me.sign_in")}</h2>
      {changed && <p role="status">{h("me_changed")}</p>}
      {status === "asking" && <p className="quiet" role="status"><span className="spinner" /> {t("host.asking")}</p>}
      {status === "none" && <p className="fault" role="alert">{t("host.none", fault ?? "")}</p>}
      {status === "closed" && <SignIn />}
      {status === "open" && <Profile onChanged={() => { before.current = "closed"; setChanged(true); }} />}
      <button type="button" className="wide" onClick={onDone}>{t("error.close")}</button>
    </>
  );
}

function Profile({ onChanged }: { onChanged(): void }): React.ReactNode {
  const t = useText();
  const h = useHomeText();
  const { host } = useApp();
  const { name, person: { email, tenant, role } = noPerson } = useStore(host.state, (state) => state);
  const facts = [
    ...(host.hasLogin ? [] : [[h("me_name"), name]]),
    [h("me_email"), email],
    [h("me_tenant"), tenant],
    [h("me_role"), role === "owner" || role === "admin" || role === "normal" ? h(`role_${role}`) : role],
  ].filter(([, value]) => value);
  return (
    <>
      <dl className="profile">
        {facts.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}
      </dl>
      {host.hasLogin && <Name name={name} />}
      <button type="button" onClick={() => void host.signOut().catch(() => host.connect())}>
        {t("host.sign_out")}
      </button>
      <h3>{h("me_logins")}</h3>
      <Suspense>
        <Logins path="/me/logins" />
      </Suspense>
      {host.hasLogin && email !== "" && <Password email={email} onChanged={onChanged} />}
      {!host.hasLogin && <p className="quiet">{h("me_key")}</p>}
    </>
  );
}

// Name edits the name that colleagues see.
function Name({ name }: { name: string }): React.ReactNode {
  const h = useHomeText();
  const { host } = useApp();
  const [typed, setText] = useState<string>();
  const text = typed ?? name;
  const [saved, setSaved] = useState(false);
  const attempt = useAttempt();
  return (
    <form
      className="own-name"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt.run(() => host.rename(text)).then(setSaved);
      }}
    >
      <label className="field">
        {h("me_name")}
        <input
          type="text" autoComplete="name" required maxLength={100} value={text}
          onChange={(event) => {
            setText(event.target.value);
            setSaved(false);
          }}
        />
      </label>
      {attempt.fault !== undefined && <p className="fault" role="alert">{attempt.fault}</p>}
      {saved && <p role="status">{h("me_renamed")}</p>}
      <button type="submit" disabled={attempt.busy || text.trim() === "" || text.trim() === name}>
        {h("me_rename")}
      </button>
    </form>
  );
}

function Password({ email, onChanged }: { email: string; onChanged(): void }): React.ReactNode {
  const h = useHomeText();
  const { host } = useApp();
  const [failed, setFailed] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  useStore(codeWords, (words) => words); // reasonOf reads them
  const change = async (form: HTMLFormElement): Promise<void> => {
    const value = (name: string): string => String(new FormData(form).get(name) ?? "");
    setBusy(true);
    setFailed(undefined);
    try {
      await host.changePassword(value("old"), value("new"));
      onChanged();
    } catch (err) {
      setFailed(err);
      setBusy(false);
    }
  };
  return (
    <form
      className="own-password"
      aria-labelledby="me-password"
      onSubmit={(event) => {
        event.preventDefault();
        void change(event.currentTarget);
      }}
    >
      <h3 id="me-password">{h("me_password")}</h3>
      <input type="email" name="email" value={email} autoComplete="username" readOnly hidden />
      <label className="field">
        {h("me_old")}
        <input type="password" name="old" autoComplete="current-password" required />
      </label>
      <label className="field">
        {h("me_new")}
        <input type="password" name="new" autoComplete="new-password" minLength={shortest} required />
      </label>
      <p className="quiet small">{h("me_password_hint", shortest)}</p>
      {failed !== undefined && <p className="fault" role="alert">{reasonOf(failed)}</p>}
      <button type="submit" disabled={busy}>{h("me_change")}</button>
    </form>
  );
}
