// Home: the person's canvases, starting points for a new one, and files to import.

import { useRef, useState } from "react";
import { useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import type { HomeActs } from "./acts.ts";
import { chooseFile } from "./choose.ts";
import { Canvases } from "./canvases.tsx";
import { ImportDialog } from "./import.tsx";
import { Starters } from "./starters.tsx";
import { useHomeText } from "./text.ts";

/** Home returns shown while no canvas is open. */
export default function Home({ acts }: { acts: HomeActs }): React.ReactNode {
  const t = useText();
  const h = useHomeText();
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<File>();
  const templates = useRef<HTMLElement>(null);
  const choose = (): void => chooseFile(".json,.yaml,.yml,application/json", setChosen);
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
        <button type="button" onClick={choose}>
          <Icon name="keep" />
          {h("import")}
        </button>
      </div>
      <Canvases words={words.trim()} acts={acts} />
      <Starters ref={templates} acts={acts} />
      {chosen && (
        <ImportDialog
          key={`${chosen.name} ${chosen.lastModified} ${chosen.size}`}
          file={chosen}
          onOther={choose}
          onTemplates={() => {
            setChosen(undefined);
            templates.current?.scrollIntoView();
            templates.current?.querySelector<HTMLElement>("h2")?.focus();
          }}
          onImport={(text, name) => {
            setChosen(undefined);
            acts.onImport(text, name);
          }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </div>
  );
}
