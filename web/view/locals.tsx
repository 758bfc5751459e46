// Local addresses that canvases may call: the list, and a field to add one.

import { useId, useState } from "react";
import type { LocalFault } from "../run/local.ts";
import { useApp, useStore, useText } from "./context.tsx";

/** LocalList returns a part of the model dialog. */
export function LocalList(): React.ReactNode {
  const t = useText();
  const id = useId();
  const { locals } = useApp().session;
  const list = useStore(locals.list, (all) => all);
  const [text, setText] = useState("");
  const [fault, setFault] = useState<LocalFault>();
  const add = (): void => {
    const wrong = locals.add(text);
    setFault(wrong);
    if (!wrong) setText("");
  };
  return (
    <section className="plugins locals" aria-labelledby={id}>
      <h3 id={id}>{t("local.title")}</h3>
      <p className="quiet small">{t("local.hint")}</p>
      {list.length > 0 && (
        <ul>
          {list.map((origin) => (
            <li key={origin} className="line">
              <code>{origin}</code>
              <button
                type="button"
                className="icon-button"
                aria-label={t("chat.remove", origin)}
                onClick={() => locals.remove(origin)}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <label className="field">
          {t("local.address")}
          <span className="line">
            <input
              type="text"
              value={text}
              spellCheck={false}
              placeholder="http://localhost:3000"
              onChange={(event) => setText(event.target.value)}
            />
            <button type="submit">{t("form.add")}</button>
          </span>
        </label>
      </form>
      {fault && (
        <p className="fault" role="alert">
          {t(`local.${fault}`)}
        </p>
      )}
    </section>
  );
}
