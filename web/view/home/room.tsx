// The drafts of this browser by size, to discard some of them.

import { useEffect, useRef, useState } from "react";
import type { Draft, Drafts } from "../../run/drafts.ts";
import { shown } from "../../words/shown.ts";
import { pick } from "../../words/words.ts";
import { Confirm } from "../area/parts.tsx";
import { useLook, useStore, useText } from "../context.tsx";
import { sizeText } from "../text.ts";
import { useHomeText } from "./text.ts";

/** Room is a dialog; the open canvas is not offered. */
export default function Room({ drafts, onClose }: { drafts: Drafts; onClose(): void }): React.ReactNode {
  const t = useText();
  const h = useHomeText();
  const language = useLook((look) => look.language);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useStore(drafts.list, (all) => all);
  const open = useStore(drafts.key, (key) => key);
  const [sizes, setSizes] = useState<ReadonlyMap<string, number>>();
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    let current = true;
    const measured = Promise.all(list.map(async (draft) => [draft.key, await drafts.size(draft)] as const));
    void measured.then((all) => { if (current) setSizes(new Map(all)); }, () => undefined);
    return () => { current = false; };
  }, [drafts, list]);
  const others = list.filter(({ key }) => key !== open);
  const size = ({ key }: Draft): number => sizes?.get(key) ?? 0;
  return (
    <dialog ref={dialog} aria-labelledby="room-title" onClose={onClose}>
      <h2 id="room-title">{h("room_title")}</h2>
      <p className="lead-in">{h("room_text")}</p>
      {others.length === 0 && <p className="quiet">{h("room_none")}</p>}
      <ul className="drafts">
        {others.toSorted((a, b) => size(b) - size(a) || a.updated - b.updated).map((draft) => {
          const title = pick(draft.title, language) || h("untitled");
          return (
            <li key={draft.key} className="line">
              <span className="grow">{shown(title)}</span>
              <span className="quiet small">{sizes && sizeText(size(draft))}</span>
              <Confirm
                label={h("delete", title)} sure={h("delete_sure")} icon onDone={() => void drafts.drop(draft.key)}
              />
            </li>
          );
        })}
      </ul>
      <button type="button" className="primary wide" onClick={() => dialog.current?.close()}>{t("model.done")}</button>
    </dialog>
  );
}
