// The overlays of the canvas: the palette, find, the command palette and the help sheet.

import { useReactFlow } from "@xyflow/react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import type { CanvasModel } from "../../canvas/drawing.ts";
import { errorHandle } from "../../canvas/edit/wires.ts";
import { canFail } from "../../canvas/model.ts";
import type { Wire } from "../../run/editing.ts";
import { useApp, useSelect, useSpecText, useStore, useText } from "../context.tsx";
import { Icon, iconOfNode, type IconName } from "../icons.tsx";
import { brief, titled } from "../text.ts";
import { center, leave, type Command } from "./commands.ts";
import { Palette, useOffered } from "./palette.tsx";
import { remember } from "./recent.ts";
import { choose, close, useEdited } from "./state.ts";

/** Overlays shows what is open. */
export function Overlays({ commands }: { commands: readonly Command[] }): React.ReactNode {
  const edited = useEdited();
  const overlay = useStore(edited, (state) => state.overlay);
  if (overlay === "add") return <AddStep />;
  if (overlay === "find") return <Find />;
  if (overlay === "connect") return <Connect />;
  if (overlay === "menu") return <OpenMenu commands={commands} />;
  if (overlay === "commands") return <Commands commands={commands} />;
  if (overlay !== "help") return null;
  return <Suspense><Help commands={commands} Keys={Keys} onLeave={() => leave(edited)} /></Suspense>;
}

const Menu = lazy(() => import("./menu.tsx"));

function OpenMenu({ commands }: { commands: readonly Command[] }): React.ReactNode {
  const edited = useEdited();
  const { at, menu, spot } = useStore(edited, (state) => state);
  return at && menu && (
    <Suspense>
      <Menu
        key={`${at.x} ${at.y}`} of={menu} at={at} commands={commands} Keys={Keys}
        onClose={() => close(edited)} onLeave={() => leave(edited)}
        onAdd={() => edited.update({ overlay: "add", spot, at, menu: undefined })}
      />
    </Suspense>
  );
}

function AddStep(): React.ReactNode {
  const t = useText();
  const { session, look } = useApp();
  const words = useSpecText();
  const edited = useEdited();
  const select = useSelect();
  const flow = useReactFlow();
  const at = useStore(edited, (state) => state.at);
  const box = useRef<HTMLDivElement>(null);
  const { specs, start } = useOffered();
  useOutside(box, () => close(edited));
  const pick = (kind: string): void => {
    if (start && kind === start.spec?.name) {
      leave(edited);
      choose(edited, [start.id]);
      return select(start.id, { tab: "node", reveal: true });
    }
    const { spot = {} } = edited.get();
    const { x, y } = center(flow);
    const place = spot.at || spot.after || spot.between ? spot : { near: { x: x - 100, y: y - 40 } };
    const id = session.editing.add(kind, words(titled(session.specs.get().get(kind), kind)), place);
    leave(edited);
    if (id === undefined) return;
    remember(kind);
    choose(edited, [id]);
    select(id, { tab: "node", reveal: !spot.at });
  };
  const addPlugin = (): void => {
    close(edited);
    look.update({ dialog: "plugins" });
  };
  const style = at ? placed(at) : undefined;
  return (
    <div ref={box} className={at ? "overlay floating" : "overlay docked"} style={style}>
      <Palette
        specs={specs} started={start?.spec} draggable={!at}
        onPick={(spec) => pick(spec.name)} onClose={() => leave(edited)}
      >
        <button type="button" className="palette-foot" onClick={addPlugin}>
          <Icon name="box" />
          {t("plugins.add")}
        </button>
      </Palette>
    </div>
  );
}

// placed keeps a floating list on the screen.
function placed({ x, y }: { x: number; y: number }): React.CSSProperties {
  const board = document.querySelector(".board")?.getBoundingClientRect();
  if (!board) return {};
  return {
    left: Math.max(8, Math.min(x - board.left, board.width - 330)),
    top: Math.max(8, Math.min(y - board.top, board.height - 400)),
  };
}

function useOutside(box: React.RefObject<HTMLElement | null>, away: () => void): void {
  const latest = useRef(away);
  latest.current = away;
  useEffect(() => {
    const down = (event: PointerEvent): void => {
      if (!box.current?.contains(event.target as Node)) latest.current();
    };
    addEventListener("pointerdown", down, true);
    return () => removeEventListener("pointerdown", down, true);
  }, [box]);
}

interface Choice {
  key: string;
  icon: IconName;
  label: string;
  detail?: string;
  keys?: string;
  run(): void;
}

// Chooser returns a search field over a list, worked by keyboard or pointer.
function Chooser({
  label,
  choices,
  onClose,
}: {
  label: string;
  choices(query: string): Choice[];
  onClose(): void;
}): React.ReactNode {
  const t = useText();
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  useOutside(box, onClose);
  const found = useMemo(() => choices(query.trim().toLowerCase()), [choices, query]);
  const at = Math.min(active, found.length - 1);
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const key = (event: React.KeyboardEvent): void => {
    if (event.key === "ArrowDown") setActive(Math.min(at + 1, found.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(at - 1, 0));
    else if (event.key === "Enter") found[at]?.run();
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={box} className="overlay centered palette" role="dialog" aria-label={label} onKeyDown={key}>
      <input
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-label={label}
        placeholder={label}
        autoFocus
        value={query}
        aria-activedescendant={found[at] ? `choice-${at}` : undefined}
        onChange={(event) => {
          setQuery(event.target.value);
          setActive(0);
        }}
      />
      <ul id="choices" role="listbox" aria-label={label}>
        {found.map((choice, i) => (
          <li
            key={choice.key}
            id={`choice-${i}`}
            role="option"
            aria-selected={i === at}
            className="palette-entry"
            onClick={choice.run}
          >
            <span className="glyph">
              <Icon name={choice.icon} />
            </span>
            <span className="palette-text">
              <b>{choice.label}</b>
              {choice.detail && <small>{choice.detail}</small>}
            </span>
            {choice.keys && <Keys keys={choice.keys} />}
          </li>
        ))}
        {found.length === 0 && (
          <li className="quiet small" role="option" aria-disabled="true" aria-selected="false">
            {t("palette.none")}
          </li>
        )}
      </ul>
    </div>
  );
}

function Find(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const edited = useEdited();
  const select = useSelect();
  const words = useSpecText();
  const model = useStore(session.document, (document) => document?.model);
  const choices = useMemo(
    () =>
      (query: string): Choice[] =>
        (model ? found(model, query, words) : []).map(({ id, name, icon, detail }) => ({
          key: id,
          icon,
          label: name,
          detail,
          run: () => {
            leave(edited);
            choose(edited, [id]);
            select(id, { tab: "node", reveal: true });
          },
        })),
    [model, edited, select, words],
  );
  return <Chooser label={t("find.label")} choices={choices} onClose={() => leave(edited)} />;
}

interface Hit extends Pick<Choice, "icon" | "detail"> {
  id: string;
  name: string;
}

// found lists the boxes whose name, kind, id or settings hold the words, names first.
function found(model: CanvasModel, query: string, words: (english: string) => string): Hit[] {
  const ranked = model.nodes.flatMap((node): [number, Hit][] => {
    const { id, name, kind, text = "", spec, params } = node;
    const title = words(titled(spec, kind));
    const kinds = [title, titled(spec, kind), kind, id].join(" ").toLowerCase();
    const hit = { id, name: name || title, icon: iconOfNode(node), detail: title };
    if (name.toLowerCase().includes(query)) return [[0, hit]];
    if (kinds.includes(query)) return [[1, hit]];
    for (const each of [text, ...textsIn(params)]) {
      const at = each.toLowerCase().indexOf(query);
      if (at >= 0) return [[2, { ...hit, detail: brief(each.slice(Math.max(0, at - 30), at + 60), 90) }]];
    }
    return [];
  });
  return ranked
    .sort(([a], [b]) => a - b)
    .slice(0, 60)
    .map(([, hit]) => hit);
}

// textsIn returns the texts of settings, and their names of categories and members.
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, each]) => [...(Array.isArray(value) ? [] : [key]), ...textsIn(each)])
    : [];
}

// Connect lists where an edge of the selected box may lead, and the edges that it has.
function Connect(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const edited = useEdited();
  const [source] = useStore(edited, (state) => state.nodes);
  const model = useStore(session.document, (document) => document?.model);
  const choices = useMemo(
    () =>
      (query: string): Choice[] => {
        const done = (act: () => void) => (): void => {
          leave(edited);
          act();
        };
        const ways = model && source !== undefined ? waysOf(model, source, t("edit.on_error")) : [];
        return ways.flatMap(({ wire, label, icon, known }) => {
          const text = t(known ? "connect.remove" : "connect.add", label);
          if (!text.toLowerCase().includes(query) || (!known && session.editing.refused(wire))) return [];
          const act = (): void => {
            if (known) session.editing.disconnect(wire);
            else session.editing.connect(wire);
          };
          const choice = { key: `${wire.branch ?? ""}/${wire.target}`, label: text, run: done(act) };
          return [{ ...choice, icon: known ? ("trash" as const) : icon }];
        });
      },
    [model, source, edited, session, t],
  );
  return <Chooser label={t("edit.connect")} choices={choices} onClose={() => leave(edited)} />;
}

interface WayTo {
  wire: Wire;
  label: string;
  icon: IconName;
  known: boolean;
}

// waysOf lists the edges that a box has, and then those that it may get, the nearest boxes first.
function waysOf(model: CanvasModel, source: string, onError: string): WayTo[] {
  const from = model.byId.get(source);
  if (!from) return [];
  const branches: [branch: string | undefined, label: string][] =
    from.branches.length > 0 ? from.branches.map(({ id, label }) => [id, `${label}: `]) : [[undefined, ""]];
  if (canFail(from)) branches.push([errorHandle, `${onError}: `]);
  const near = model.nodes
    .filter(({ id, role }) => id !== source && (role === "node" || role === "group"))
    .sort((a, b) => Math.hypot(a.x - from.x, a.y - from.y) - Math.hypot(b.x - from.x, b.y - from.y));
  const ways = branches.flatMap(([branch, label]) =>
    near.map((node): WayTo => {
      const known = model.edges.some(
        (edge) =>
          edge.source === source &&
          edge.target === node.id &&
          (edge.role === "error" ? errorHandle : edge.branch) === branch,
      );
      const wire = { source, target: node.id, ...(branch === undefined ? {} : { branch }) };
      return { wire, label: label + node.name, icon: iconOfNode(node), known };
    }),
  );
  return ways.sort((a, b) => Number(b.known) - Number(a.known));
}

function Commands({ commands }: { commands: readonly Command[] }): React.ReactNode {
  const t = useText();
  const edited = useEdited();
  const choices = useMemo(
    () =>
      (query: string): Choice[] =>
        commands.flatMap(({ label, icon, keys, needs = 0, run }) => {
          const text = t(label);
          if (edited.get().nodes.length < needs || !text.toLowerCase().includes(query)) return [];
          return [
            {
              key: label,
              icon,
              label: text,
              ...(keys === undefined ? {} : { keys }),
              run: () => {
                leave(edited);
                run();
              },
            },
          ];
        }),
    [commands, edited, t],
  );
  return <Chooser label={t("edit.commands")} choices={choices} onClose={() => leave(edited)} />;
}

const Help = lazy(() => import("./help.tsx"));

const mac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** Keys draws keys as they are labelled here. */
export function Keys({ keys }: { keys: string }): React.ReactNode {
  return (
    <span className="keys">
      {keys.split(/\+(?=.)/).map((key) => (
        <kbd key={key}>{key === "Mod" ? (mac ? "⌘" : "Ctrl") : key}</kbd>
      ))}
    </span>
  );
}
