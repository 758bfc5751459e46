// The canvases of the host that serves the page, below the examples.

import { useEffect, useState } from "react";
import { AreaLinks } from "./areas.tsx";
import { useApp, useLook, useStore, useText } from "./context.tsx";

/** OnHost lists what the host has, after somebody asked for it. */
export function OnHost({ onOpen }: { onOpen(id: string): void }): React.ReactNode {
  const t = useText();
  const { host } = useApp();
  const { status, fault } = useStore(host.state, (state) => state);
  return (
    <section className="on-host" aria-labelledby="host-title" aria-busy={status === "asking"}>
      <h2 id="host-title">{t("host.title")}</h2>
      <AreaLinks always />
      {status === "unknown" && <button type="button" onClick={() => void host.connect()}>{t("host.show")}</button>}
      {status === "asking" && <p className="quiet" role="status"><span className="spinner" /> {t("host.asking")}</p>}
      {status === "none" && <p className="quiet" role="status">{t("host.none", fault ?? "")} <button type="button" onClick={() => void host.connect()}>{t("host.again")}</button></p>}
      {status === "closed" && <SignIn />}
      {status === "open" && <Canvases onOpen={onOpen} />}
    </section>
  );
}

/** SignIn asks for a key, or leads to the login page of the host. */
export function SignIn(): React.ReactNode {
  const t = useText();
  const { host } = useApp();
  const fault = useStore(host.state, (state) => state.fault);
  const [key, setKey] = useState("");
  return (
    <form className="sign-in" onSubmit={(event) => { event.preventDefault(); void host.connect(key); }}>
      <p>{t("host.sign_in")} <a href="/login?next=%2F%23host">{t("host.log_in")}</a></p>
      <div className="line">
        <label className="field">{t("host.key")}<input type="password" autoComplete="off" required value={key} onChange={(event) => setKey(event.target.value)} /></label>
        <button type="submit" className="primary">{t("host.use_key")}</button>
      </div>
      <p className="quiet small">{t("host.key_hint")}</p>
      {fault !== undefined && <p className="fault" role="alert">{t("host.wrong_key")}</p>}
    </form>
  );
}

function Canvases({ onOpen }: { onOpen(id: string): void }): React.ReactNode {
  const t = useText();
  const { host } = useApp();
  const language = useLook((look) => look.language);
  const { canvases, total, name } = useStore(host.state, (state) => state);
  const [words, setWords] = useState<string>();
  useEffect(() => {
    if (words === undefined) return;
    const timer = setTimeout(() => void host.find(words).catch((err: unknown) => host.state.update({ fault: String(err) })), 200);
    return () => clearTimeout(timer);
  }, [words, host]);
  const day = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
  return (
    <>
      <div className="line">
        <input type="search" value={words ?? ""} placeholder={t("host.find")} aria-label={t("host.find")} onChange={(event) => setWords(event.target.value)} />
        <span className="quiet small">{t("host.count", canvases.length, total)}{name && ` · ${name}`}</span>
      </div>
      {canvases.length === 0 ? <p className="quiet">{t("host.empty")}</p> : (
        <ul className="cards">
          {canvases.map((canvas) => (
            <li key={canvas.id}>
              <button type="button" className="card" onClick={() => onOpen(canvas.id)}>
                <b>{canvas.title}</b>
                {canvas.description && <span>{canvas.description}</span>}
                <small>{t("host.changed", day.format(new Date(canvas.updated)))}</small>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
