// The menu of the canvas, of a step, of a connection and of a selection: commands that fit what is
// below the pointer.

import { useEffect, useRef } from "react";
import type { Key } from "../../words/en.ts";
import { useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import type { Command } from "./commands.ts";
import type { MenuOf } from "./state.ts";

const common: Key[] = ["edit.duplicate", "edit.off", "edit.extract"];
const listed: Record<MenuOf, Key[]> = {
  canvas: ["edit.add", "edit.note", "edit.all", "edit.tidy", "edit.fit", "bar.undo", "bar.redo"],
  step: ["edit.settings", "edit.rename", "edit.connect", ...common, "edit.delete"],
  edge: ["edit.add", "edit.delete"],
  selection: [...common, "edit.tidy", "align.left", "align.top", "align.across", "edit.delete"],
};

/** MenuProps bring what is loaded already: imports of it would split the first scripts. */
export interface MenuProps {
  of: MenuOf;
  at: { x: number; y: number };
  commands: readonly Command[];
  Keys: React.ComponentType<{ keys: string }>;
  onClose(): void;
  /** Closes the menu and focuses the canvas. */
  onLeave(): void;
  /** Opens the palette for the place of the menu. */
  onAdd(): void;
}

/** Menu stands where the pointer is, or at the box that has the keyboard. */
export default function Menu({ of, at, commands, Keys, onClose, onLeave, onAdd }: MenuProps): React.ReactNode {
  const t = useText();
  const latest = useRef(onClose);
  latest.current = onClose;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("button")?.focus();
    const down = (event: PointerEvent): void => {
      if (!list.current?.contains(event.target as Node)) latest.current();
    };
    addEventListener("pointerdown", down, true);
    return () => removeEventListener("pointerdown", down, true);
  }, []);
  const board = document.querySelector(".board")?.getBoundingClientRect();
  const offered = listed[of].flatMap((label) => commands.find((each) => each.label === label) ?? []);
  const height = offered.length * rowHeight + 12;
  const style = board && {
    left: Math.max(8, Math.min(at.x - board.left, board.width - Math.min(width, board.width - 16) - 8)),
    top: Math.max(8, Math.min(at.y - board.top, board.height - height - 8)),
    width: Math.min(width, board.width - 16),
  };
  const run = ({ label, run: act }: Command): void => {
    if (label === "edit.add") return onAdd();
    onLeave();
    act();
  };
  const key = (event: React.KeyboardEvent): void => {
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const now = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") onLeave();
    else if (to === undefined) return;
    else buttons.at(to % buttons.length)?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={list} className="overlay floating menu" role="menu" aria-label={t(`menu.${of}`)} style={style}
      onKeyDown={key} onContextMenu={(event) => event.preventDefault()}
    >
      {offered.map((command) => (
        <button
          key={command.label} type="button" role="menuitem" tabIndex={-1}
          data-danger={command.label === "edit.delete" || undefined} onClick={() => run(command)}
        >
          <Icon name={command.icon} />
          <span>{t(of === "edge" && command.label === "edit.add" ? "edit.insert" : command.label)}</span>
          {command.keys !== undefined && <Keys keys={command.keys} />}
        </button>
      ))}
    </div>
  );
}

const width = 360;
const rowHeight = 32;
