// The choice between conflicting changes, setting by setting: those of this page or those stored
// by others since. Loaded on demand.

import { useEffect, useRef, useState } from "react";
import type { Conflict } from "../../canvas/merge.ts";
import { useApp, useSpecText, useStore, useText } from "../context.tsx";
import { SettingDiff } from "./history.tsx";
import { usePublishText } from "./parts.tsx";

/** Choice is a dialog; closing it leaves the canvas as it is here, unsaved. */
export default function Choice({ onCopy, onClose }: { onCopy(): void; onClose(): void }): React.ReactNode {
  const t = usePublishText();
  const words = useText();
  const { session, together } = useApp();
  const author = useStore(together.author, (name) => name) || words("others.unknown");
  const rival = useStore(session.sharing.rival, (now) => now);
  const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const conflicts = rival?.conflicts ?? [];
  const all = (take: boolean): void => setTheirs(new Set(take ? conflicts.map(({ key }) => key) : []));
  const one = (key: string, take: boolean): void =>
    setTheirs(new Set(take ? [...theirs, key] : [...theirs].filter((each) => each !== key)));
  const done = (): void => {
    session.sharing.choose(new Set(conflicts.map(({ key }) => key).filter((key) => !theirs.has(key))));
    dialog.current?.close();
  };
  return (
    <dialog ref={dialog} className="choice" aria-labelledby="choice-title" onClose={onClose}>
      <h2 id="choice-title">{t("choice_title")}</h2>
      <p className="lead-in">{rival?.tab === true ? t("choice_tab") : t("choice_text", author)}</p>
      {conflicts.length > 1 && (
        <p className="publish-act">
          <button type="button" onClick={() => all(false)}>
            {t("choice_all_mine")}
          </button>
          <button type="button" onClick={() => all(true)}>
            {t("choice_all_theirs")}
          </button>
        </p>
      )}
      <div className="choice-list">
        {conflicts.map((conflict) => (
          <One
            key={conflict.key}
            conflict={conflict}
            theirs={theirs.has(conflict.key)}
            onTake={(take) => one(conflict.key, take)}
          />
        ))}
      </div>
      <div className="line">
        <button type="button" className="primary" disabled={conflicts.length === 0} onClick={done}>
          {t("choice_take")}
        </button>
        <button
          type="button"
          onClick={() => {
            dialog.current?.close();
            onCopy();
          }}
        >
          {t("choice_copy")}
        </button>
        <button type="button" onClick={() => dialog.current?.close()}>
          {t("choice_later")}
        </button>
      </div>
    </dialog>
  );
}

function One({
  conflict,
  theirs,
  onTake,
}: {
  conflict: Conflict;
  theirs: boolean;
  onTake(theirs: boolean): void;
}): React.ReactNode {
  const t = usePublishText();
  const words = useSpecText();
  const { session } = useApp();
  const node = useStore(session.document, (document) => document?.model.byId.get(conflict.node ?? ""));
  const { name, mine, theirs: other, key } = conflict;
  const label = name === undefined ? t("choice_node") : words(node?.spec?.params?.properties?.[name]?.title ?? name);
  const ways: [take: boolean, label: string][] = [
    [false, t(mine === undefined ? "choice_mine_gone" : "choice_mine")],
    [true, t(other === undefined ? "choice_theirs_gone" : "choice_theirs")],
  ];
  const title = conflict.node === undefined ? t("other") : (node?.name ?? conflict.node);
  return (
    <fieldset className="change">
      <legend>
        {title} <small>{label}</small>
      </legend>
      <SettingDiff setting={{ name: label, before: mine, after: other }} label={t("choice_diff")} />
      {ways.map(([take, text]) => (
        <label key={text} className="row">
          <input type="radio" name={key} checked={theirs === take} onChange={() => onTake(take)} /> {text}
        </label>
      ))}
    </fieldset>
  );
}
