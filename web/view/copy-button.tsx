// A button that copies a text which is shown next to it.

import { useState } from "react";
import { texts } from "../words/copy.ts";
import { useLook } from "./context.tsx";
import { copyText } from "./copy.ts";
import { Icon } from "./icons.tsx";

const shortly = 2000; // milliseconds

/** CopyButton copies a text; `shown` finds the element that is selected without a clipboard. */
export function CopyButton({ text, label, shown, link = false }: {
  text: string;
  /** Names what is copied, where several texts can be. */
  label?: string;
  shown(): Element | null | undefined;
  /** It looks like a link. */
  link?: boolean;
}): React.ReactNode {
  const t = texts[useLook((look) => look.language)];
  const [state, setState] = useState<"copied" | "refused">();
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(text, shown());
    setState(isCopied ? "copied" : "refused");
    if (isCopied) setTimeout(() => setState(undefined), shortly);
  };
  const word = state === "copied" ? t.copied : t.copy;
  return (
    <>
      <button
        type="button" className={link ? "link" : undefined} aria-label={label && `${word}: ${label}`}
        onClick={() => void copy()}
      >
        {!link && <Icon name={state === "copied" ? "check" : "copy"} />}
        {word}
      </button>
      {state === "refused" && <small className="missing" role="alert">{t.refused}</small>}
    </>
  );
}
