// A field for a text with variables, or for code. The editor is loaded when a field is first shown;
// until then, and where it cannot be loaded, a plain field does.

import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { usable } from "../../canvas/upstream.ts";
import { own } from "../../canvas/dsl.ts";
import { useApp, useSpecText, useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { Plain } from "../plain.tsx";
import type { Selected } from "../selected.ts";
import { brief, sentence } from "../text.ts";
import type { Language } from "./code-languages.ts";
import type { Offered } from "./prompt-editor.tsx";

const load = (): Promise<typeof import("./prompt-editor.tsx")> => import("./prompt-editor.tsx");
const Editor = lazy(load);

/**
 * preload fetches the editor when the page has nothing else to do: it then stands there at once.
 */
export function preload(): () => void {
  const idle = setTimeout(() => void load().catch(() => undefined), 400);
  return () => clearTimeout(idle);
}

/** useOfferedVariables lists what a node may refer to, with the values of the last run. */
export function useOfferedVariables(node: string): Offered[] {
  const { session } = useApp();
  const document = useStore(session.document, (now) => now);
  const specs = useStore(session.specs, (all) => all);
  const shown = useStore(session.player.play, (play) => play.shown);
  const words = useSpecText();
  return useMemo(() => {
    if (!document) return [];
    return usable(document.dsl, document.model, specs, node).map((each) => {
      const value =
        each.node === undefined ? shown.variables[each.ref] : own(own(shown.latest, each.node)?.outputs, each.name);
      return {
        ...each, ...(each.about ? { about: sentence(words(each.about)) } : {}),
        ...(value === undefined ? {} : { value: brief(value, 60) }),
      };
    });
  }, [document?.dsl, document?.model, specs, node, shown, words]);
}

/** Prompt edits a text of a node. */
export function Prompt({
  node,
  label,
  text,
  hint,
  language,
  failed,
  bare = false,
  onChange,
}: {
  node: string;
  label: string;
  text: string;
  hint?: string | undefined;
  language?: Language | undefined;
  /** The line that failed in the last run, from 1. */
  failed?: number | undefined;
  /** The text is a reference, with or without braces; "known": it may be one that is offered. */
  bare?: boolean | "known";
  onChange(text: string): void;
}): React.ReactNode {
  const t = useText();
  const offered = useOfferedVariables(node);
  const reference = bare === "known" ? offered.some(({ ref }) => ref === text) : bare;
  const [full, setFull] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const selected = useRef<Selected>(undefined);
  useEffect(() => {
    if (full) dialog.current?.showModal();
  }, [full]);
  const editor = (tall: boolean): React.ReactNode => (
    <Suspense
      fallback={
        <Plain label={label} rows={tall ? 20 : 3} text={text} selected={selected} onChange={onChange} />
      }
    >
      <Editor
        text={text}
        label={label}
        offered={offered}
        tall={tall}
        bare={reference}
        language={language}
        failed={failed}
        selected={selected}
        onChange={onChange}
        {...(hint ? { hint } : {})}
      />
    </Suspense>
  );
  return (
    <div className="prompt-field">
      {!full && editor(false)}
      <button
        type="button"
        className="icon-button full"
        aria-label={`${t("form.full")}: ${label}`}
        title={t("form.full")}
        onClick={() => setFull(true)}
      >
        <Icon name="expand" />
      </button>
      {full && (
        <dialog ref={dialog} className="full-screen" aria-label={label} onClose={() => setFull(false)}>
          <header>
            <h2>{label}</h2>
            <button type="button" className="primary" onClick={() => dialog.current?.close()}>
              {t("model.done")}
            </button>
          </header>
          {editor(true)}
        </dialog>
      )}
    </div>
  );
}
