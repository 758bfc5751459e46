// Home: the person's canvases, starting points for a new one, and files to import.

import { useEffect, useRef, useState } from "react";
import { useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { NoModel } from "../no-model.tsx";
import type { HomeActs } from "./acts.ts";
import { Canvases } from "./canvases.tsx";
import { Checklist } from "./checklist.tsx";
import { Describe } from "./describe.tsx";
import { Starters } from "./starters.tsx";
import { useHomeText } from "./text.ts";

/** Home is shown while no canvas is open. It leads to the templates when `templates` changes. */
export default function Home({ acts, templates }: { acts: HomeActs; templates: number }): React.ReactNode {
  const t = useText();
  const h = useHomeText();
  const [words, setWords] = useState("");
  const starters = useRef<HTMLElement>(null);
  useEffect(() => {
    if (templates === 0) return;
    starters.current?.scrollIntoView();
    starters.current?.querySelector<HTMLElement>("h2")?.focus();
  }, [templates]);
  return (
    <div className="home">
      <div className="home-head">
        <h1>{h("title")}</h1>
        <input
          type="search"
          value={words}
          placeholder={h("find")}
          aria-label={t("host.find")}
          onChange={(event) => setWords(event.target.value)}
        />
        <button type="button" onClick={acts.onImport}>
          <Icon name="keep" />
          {h("import")}
        </button>
      </div>
      <p className="home-lead">{h("lead")}</p>
      <Describe acts={acts} />
      <NoModel />
      <Checklist acts={acts} />
      <Canvases words={words.trim()} acts={acts} />
      <Starters ref={starters} acts={acts} />
    </div>
  );
}
