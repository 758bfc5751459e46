// A language of scripts that the host cannot run, with the button that installs it.

import { useEffect } from "react";
import { word } from "../../canvas/dsl.ts";
import { languageOf } from "../../canvas/script.ts";
import { ScriptLanguages } from "../../run/script-languages.ts";
import { useApp, useStore } from "../context.tsx";
import { useAttempt } from "../loaded.ts";
import { Fault, useConnectText, useMayAsk } from "./connect-parts.tsx";
import type { ControlProps } from "./props.ts";

const languages = new ScriptLanguages();
const titles: Record<string, string> = { python: "Python", javascript: "JavaScript" };

/** MissingLanguage names a language that the host lacks; it is empty where the scripts run. */
export function MissingLanguage({ name }: { name: string }): React.ReactNode {
  const c = useConnectText();
  const { host, session } = useApp();
  const mayAsk = useMayAsk();
  const saved = useStore(session.origin, (origin) => origin !== undefined);
  const list = useStore(languages.list, (all) => all);
  const loading = useAttempt(); // apart, so that only an installation is shown as one
  const attempt = useAttempt();
  const asks = mayAsk && saved;
  useEffect(() => {
    if (asks) void loading.run(() => languages.load(host));
  }, [asks, host]);
  const language = list?.find((each) => each.name === name);
  const fault = attempt.fault ?? loading.fault;
  if (!asks || (language?.missing === undefined && fault === undefined)) return null;
  const title = titles[name] ?? name;
  return (
    <div className="field-problem" data-severity="error" role="group" aria-label={c("language_missing", title)}>
      {language?.missing !== undefined && <p>{c("language_missing", title)}</p>}
      {language?.installs === true && (
        <button type="button" disabled={attempt.busy} onClick={() => void attempt.run(() => languages.install(host))}>
          {attempt.busy && <span className="spinner" aria-hidden="true" />}
          {c(attempt.busy ? "language_installing" : "language_install", title)}
        </button>
      )}
      {language?.missing !== undefined && language.installs !== true && <p>{c("language_ask", title)}</p>}
      <Fault text={fault} />
    </div>
  );
}

/** LanguageOfScript is MissingLanguage for the script of a form. */
export function LanguageOfScript({ around }: ControlProps): React.ReactNode {
  return <MissingLanguage name={languageOf(around.params, word(around.schemas["lang"]?.default ?? ""))} />;
}
