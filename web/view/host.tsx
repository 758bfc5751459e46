// The sign-in to the host that serves the page.

import { useState } from "react";
import { expectLogin, isOwn } from "../run/signed.ts";
import { useApp, useStore, useText } from "./context.tsx";

/** SignIn takes an API key, or links to the login page of the host. */
export function SignIn(): React.ReactNode {
  const t = useText();
  const { host } = useApp();
  const fault = useStore(host.state, (state) => state.fault);
  const [key, setKey] = useState("");
  const next = isOwn(location.hash) && location.hash.length > 1 ? location.hash : "#host";
  return (
    <form
      className="sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        void host.connect(key);
      }}
    >
      <p>
        {t("host.sign_in")}{" "}
        <a href={`/login?next=${encodeURIComponent("/" + next)}`} onClick={expectLogin}>
          {t("host.log_in")}
        </a>
      </p>
      <div className="line">
        <label className="field">
          {t("host.key")}
          <input
            type="password"
            autoComplete="off"
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        <button type="submit" className="primary">
          {t("host.use_key")}
        </button>
      </div>
      <p className="quiet small">{t("host.key_hint")}</p>
      {fault !== undefined && (
        <p className="fault" role="alert">
          {t("host.wrong_key")}
        </p>
      )}
    </form>
  );
}
