// Programs that call the published canvas.

import { useState } from "react";
import { curl, javascript, python } from "../../run/snippets.ts";
import { useAttempt } from "../loaded.ts";
import { Code, Fault, usePublishText, type Section } from "./parts.tsx";

const languages = {
  curl: ["curl", curl],
  javascript: ["JavaScript", javascript],
  python: ["Python", python],
} as const;
type Language = keyof typeof languages;

/** ProgramsSection shows one program at a time. */
export function ProgramsSection({ release }: Section): React.ReactNode {
  const t = usePublishText();
  const [language, setLanguage] = useState<Language>("curl");
  const [key, setKey] = useState<string>();
  const { busy, fault, run } = useAttempt();
  const [name, write] = languages[language];
  const text = write({ host: location.origin, canvas: release.id, key: key ?? "YOUR_API_KEY" });
  return (
    <>
      <p>{t("api_hint")}</p>
      <div className="publish-act">
        <fieldset className="choices">
          <legend className="sr">{t("language")}</legend>
          {(Object.keys(languages) as Language[]).map((each) => (
            <label key={each}>
              <input type="radio" name="language" checked={each === language} onChange={() => setLanguage(each)} />
              {languages[each][0]}
            </label>
          ))}
        </fieldset>
        {key === undefined && (
          <button
            type="button"
            disabled={busy}
            onClick={() => void run(async () => setKey(await release.key(`API page ${release.id.slice(0, 8)}`)))}
          >
            {t("make_key")}
          </button>
        )}
      </div>
      {key !== undefined && (
        <p className="good" role="status">
          {t("key_hint")}
        </p>
      )}
      <Fault text={fault} />
      <Code label={name} text={text} />
    </>
  );
}
