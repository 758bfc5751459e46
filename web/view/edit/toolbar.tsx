// The tools over the canvas, and those of the selection.

import { useEffect } from "react";
import type { Key } from "../../words/en.ts";
import { useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import type { Command } from "./commands.ts";
import { useEdited } from "./state.ts";

const always: Key[] = [
  "edit.add", "edit.note", "edit.tidy", "edit.find", "edit.draft", "canvas.settings", "edit.commands", "edit.help",
];
const selection: Key[] = ["edit.duplicate", "edit.delete"];
const several: Key[] = ["align.left", "align.center", "align.top", "align.middle", "align.across", "align.down"];

/** Toolbar shows the tools of the canvas. */
export function Toolbar({ commands }: { commands: readonly Command[] }): React.ReactNode {
  const t = useText();
  const edited = useEdited();
  const count = useStore(edited, ({ nodes, edges }) => nodes.length + edges.length);
  const boxes = useStore(edited, ({ nodes }) => nodes.length);
  const shown = [...always, ...(count > 0 ? selection : []), ...(boxes > 1 ? several : [])];
  return (
    <div className="toolbar" role="toolbar" aria-label={t("edit.tools")}>
      {shown
        .flatMap((label) => commands.find((command) => command.label === label) ?? [])
        .map(({ label, icon, keys, run }) => (
          <button
            key={label}
            type="button"
            className={label === "edit.add" ? "primary" : "icon-button"}
            aria-label={t(label)}
            title={keys ? `${t(label)} (${keys.replace("Mod", "Ctrl")})` : t(label)}
            data-first={label === selection[0] || label === several[0] || undefined}
            onClick={run}
          >
            <Icon name={icon} />
            {label === "edit.add" && <span className="action-label">{t(label)}</span>}
          </button>
        ))}
    </div>
  );
}

/** Notice shows the latest message for a while. */
export function Notice(): React.ReactNode {
  const edited = useEdited();
  const notice = useStore(edited, (state) => state.notice);
  useEffect(() => {
    if (!notice) return;
    const timer = setTimeout(() => edited.update({ notice: undefined }), 6000);
    return () => clearTimeout(timer);
  }, [notice, edited]);
  return (
    <p className="notice" role="status" data-shown={notice ? true : undefined}>
      {notice?.text}
    </p>
  );
}
