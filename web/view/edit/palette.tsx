// The list of components that can be added, made from their descriptions. A step is chosen by
// click, by keyboard or by dragging it onto the canvas.

import { useEffect, useId, useMemo, useRef, useState } from "react";
import type { ComponentSpec, Group } from "@easel/engine";
import type { CanvasNode } from "../../canvas/drawing.ts";
import { useApp, useSpecText, useStore, useText } from "../context.tsx";
import { hueOf, Icon, iconOf } from "../icons.tsx";
import { titled } from "../text.ts";
import { recent, remember } from "./recent.ts";

/** dragType is the type of a dragged component. */
export const dragType = "application/x-easel-component";

const order: Group[] = [
  "talk", "ai", "knowledge", "flow", "data", "code", "files", "web", "papers", "finance", "weather", "plugins",
  "pipeline",
];

/** offered lists the components that can be added to a canvas, by group. */
export function offered(specs: Iterable<ComponentSpec>, pipeline: boolean, started: boolean): ComponentSpec[] {
  const all = [...new Set(specs)].filter(({ role, pipeline: of = false }) => {
    if (role === "item" || (role === "start" && started)) return false;
    return of === pipeline;
  });
  return order.flatMap((group) => all.filter((spec) => spec.group === group));
}

/** recentFirst returns a list that begins with components added last, and their number. */
export function recentFirst(
  specs: readonly ComponentSpec[], names: readonly string[],
): { specs: ComponentSpec[]; recent: number } {
  const first = names.flatMap((name) => specs.find((spec) => spec.name === name) ?? []);
  return { specs: [...first, ...specs.filter((spec) => !first.includes(spec))], recent: first.length };
}

// headsOf returns the heading above each row, where there is one.
function headsOf(rows: readonly ComponentSpec[], recent: number): ("palette.recent" | `group.${Group}` | undefined)[] {
  return rows.map(({ group }, i) => {
    if (i < recent) return i === 0 ? "palette.recent" : undefined;
    return i === recent || rows[i - 1]?.group !== group ? (`group.${group}` as const) : undefined;
  });
}

/** Palette lists components; onPick gets the chosen one. */
export function Palette({
  specs,
  onPick,
  onClose,
  draggable,
  started,
  children,
}: {
  specs: readonly ComponentSpec[];
  /** Start of the canvas, which is found but not added a second time. */
  started?: ComponentSpec | undefined;
  onPick(spec: ComponentSpec): void;
  onClose(): void;
  draggable?: boolean;
  /** What stands below the list. */
  children?: React.ReactNode;
}): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const found = useMemo(() => {
    if (query.trim() === "") return recentFirst(specs, recent()).specs;
    return search(started ? [...specs, started] : specs, query, words, (group) => t(`group.${group}`));
  }, [specs, started, query, words, t]);
  const at = Math.min(active, found.length - 1);
  // In a search, the best hits come first without headings.
  const heads = query.trim() === "" ? headsOf(found, recentFirst(specs, recent()).recent) : [];
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const key = (event: React.KeyboardEvent): void => {
    const chosen = found[at];
    if (event.key === "ArrowDown") setActive(Math.min(at + 1, found.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(at - 1, 0));
    else if (event.key === "Enter" && chosen && !(event.target instanceof HTMLButtonElement)) onPick(chosen);
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="palette" role="dialog" aria-label={t("edit.add")} onKeyDown={key}>
      <input
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-label={t("palette.search")}
        autoFocus
        aria-activedescendant={found[at] ? `${id}-${at}` : undefined}
        placeholder={t("palette.search")}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setActive(0);
        }}
      />
      <ul ref={list} id={id} role="listbox" aria-label={t("edit.add")}>
        {found.map((spec, i) => (
          <li key={spec.name} role="presentation">
            {heads[i] && <p className="palette-head" role="presentation">{t(heads[i])}</p>}
            <Entry
              id={`${id}-${i}`} spec={spec} selected={i === at} onMark={() => setActive(i)}
              draggable={draggable === true && spec !== started}
              line={spec === started ? t("palette.started") : undefined} onPick={onPick}
            />
          </li>
        ))}
        {found.length === 0 && (
          <li className="quiet small" role="option" aria-disabled="true" aria-selected="false">
            {t("palette.none")}
          </li>
        )}
      </ul>
      {children}
    </div>
  );
}

function Entry({
  id,
  spec,
  selected,
  onMark,
  draggable,
  line: own,
  onPick,
}: {
  id: string;
  spec: ComponentSpec;
  selected: boolean;
  /** The pointer is over it. */
  onMark(): void;
  draggable: boolean;
  line: string | undefined;
  onPick(spec: ComponentSpec): void;
}): React.ReactNode {
  const words = useSpecText();
  const line = own ?? words(spec.description ?? "");
  return (
    <div
      id={id}
      role="option"
      aria-selected={selected}
      className="palette-entry"
      data-hue={hueOf(spec)}
      draggable={draggable}
      title={spec.missing ?? line}
      onPointerMove={selected ? undefined : onMark}
      onClick={() => onPick(spec)}
      onDragStart={(event) => {
        remember(spec.name);
        event.dataTransfer.setData(dragType, spec.name);
        event.dataTransfer.effectAllowed = "copy";
      }}
    >
      <span className="glyph">
        <Icon name={iconOf(spec)} />
      </span>
      <span className="palette-text">
        <b>{words(titled(spec, spec.name))}</b>
        {selected && <small>{line}</small>}
      </span>
    </div>
  );
}

/**
 * search returns the components that all words of a query name or describe: first those whose name
 * begins with it, then those with it among their search words, in their name, in their description.
 */
export function search(
  specs: readonly ComponentSpec[], query: string, words: (english: string) => string,
  titleOf: (group: Group) => string,
): ComponentSpec[] {
  const wanted = query.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = specs.flatMap((spec) => {
    const texts = textsOf(spec, words, titleOf(spec.group)).map((text) => text.toLowerCase());
    const has = (list: readonly string[]): boolean => wanted.every((word) => list.join(" ").includes(word));
    if (!has(texts)) return [];
    const names = texts.slice(0, 3);
    const called = (spec.search ?? []).some((word) => word.toLowerCase() === wanted.join(" "));
    const begins = names.some((name) => name.startsWith(wanted[0] ?? ""));
    return { spec, rank: begins ? 0 : called ? 1 : has(names) ? 2 : 3 };
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ spec }) => spec);
}

// textsOf returns the texts under which a component is found: its names first.
function textsOf(spec: ComponentSpec, words: (text: string) => string, group: string): string[] {
  const { name, description = "", search = [] } = spec;
  const title = titled(spec, name);
  return [words(title), title, name, [description, words(description), group, ...search].join(" ")];
}

/** useOffered returns the components that can be added to the open canvas, and its start. */
export function useOffered(): { specs: ComponentSpec[]; start: CanvasNode | undefined } {
  const { session } = useApp();
  const specs = useStore(session.specs, (all) => all);
  const model = useStore(session.document, (document) => document?.model);
  return useMemo(() => {
    const start = model?.nodes.find((node) => node.spec?.role === "start");
    return { specs: offered(specs.values(), start?.spec?.pipeline === true, start !== undefined), start };
  }, [specs, model]);
}
