// Visitors whom the site knows: the secret with which its server signs user ids, and the programs
// that do.

import { useState } from "react";
import { signingNode, signingPython } from "../../run/signing.ts";
import { widgetTag, type Embed } from "../../run/snippets.ts";
import { useAttempt } from "../loaded.ts";
import { Code, Fault, usePublishText, type Section } from "./parts.tsx";

const languages = { node: ["Node", signingNode], python: ["Python", signingPython] } as const;
type Language = keyof typeof languages;

/** Signing shows the secret on request only. */
export function Signing({ release, embed }: Pick<Section, "release"> & { embed: Embed }): React.ReactNode {
  const t = usePublishText();
  const [language, setLanguage] = useState<Language>("node");
  const [secret, setSecret] = useState<string>();
  const { busy, fault, run } = useAttempt();
  const [name, write] = languages[language];
  const load = (replaces: boolean): void => void run(async () => setSecret(await release.secret(replaces)));
  return (
    <details className="signing">
      <summary>{t("signing")}</summary>
      <p>
        {t("signing_hint")} {t("signing_how")} {t("signing_warning")}
      </p>
      {secret !== undefined && <Code label={t("signing_secret")} text={secret} />}
      <p className="publish-act">
        {secret === undefined ? (
          <button type="button" disabled={busy} onClick={() => load(false)}>
            {t("signing_show")}
          </button>
        ) : (
          <button type="button" className="danger" disabled={busy} onClick={() => load(true)}>
            {t("signing_replace")}
          </button>
        )}
      </p>
      <Fault text={fault} />
      <fieldset className="choices">
        <legend className="sr">{t("language")}</legend>
        {(Object.keys(languages) as Language[]).map((each) => (
          <label key={each}>
            <input type="radio" name="signing" checked={each === language} onChange={() => setLanguage(each)} />
            {languages[each][0]}
          </label>
        ))}
      </fieldset>
      <Code label={name} text={write(embed.agent)} />
      <Code label={t("signing_tag")} text={widgetTag(embed, true)} />
    </details>
  );
}
