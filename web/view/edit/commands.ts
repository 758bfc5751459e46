// The commands on a canvas, each with its keys: the toolbar, the command palette, the help sheet
// and the keyboard all use this list.

import { useReactFlow, type ReactFlowInstance } from "@xyflow/react";
import { useMemo } from "react";
import { flushSync } from "react-dom";
import type { Alignment } from "../../canvas/edit/align.ts";
import { errorHandle } from "../../canvas/edit/wires.ts";
import type { Point } from "../../run/editing.ts";
import type { Store } from "../../run/store.ts";
import { Subcanvases, type Outcome } from "../../run/subcanvas.ts";
import type { Key } from "../../words/en.ts";
import { useApp, useText, type App } from "../context.tsx";
import type { IconName } from "../icons.tsx";
import { choose, close, notify, useEdited, type Edited } from "./state.ts";
import { reasonOf } from "../reason.tsx";
import { saver } from "../saver.ts";

/** Command is one thing to do. */
export interface Command {
  label: Key;
  icon: IconName;
  /** Keys as the help sheet shows them; Mod is Ctrl, or Cmd on a Mac. */
  keys?: string;
  /** How many boxes must be selected. */
  needs?: number;
  /**
   * The scope of its keys: the canvas and its boxes only, all but the bar and the panel, or fields
   * too. By default all but fields.
   */
  where?: "canvas" | "board" | "anywhere";
  run(): void;
}

/** fitPadding is the room around the boxes when all are shown: the tools stand above them. */
export const fitPadding = { top: "76px", right: "32px", bottom: "48px", left: "56px" } as const;

/** legible is the smallest zoom that the page chooses by itself on a desktop. */
export const legible = 0.8;

/**
 * leastZoom returns the smallest zoom that the page chooses: a phone shows the whole canvas, a
 * desktop legible boxes.
 */
export function leastZoom(): number {
  return innerWidth > 820 ? legible : 0.1;
}

/** center returns the middle of what is visible of the canvas. */
export function center(flow: ReactFlowInstance): Point {
  const board = document.querySelector(".board")?.getBoundingClientRect();
  if (!board) return { x: 0, y: 0 };
  return flow.screenToFlowPosition({ x: board.left + board.width / 2, y: board.top + board.height / 2 });
}

const alignments: [Alignment, Key, IconName][] = [
  ["left", "align.left", "alignLeft"],
  ["center", "align.center", "alignCenter"],
  ["right", "align.right", "alignRight"],
  ["top", "align.top", "alignTop"],
  ["middle", "align.middle", "alignMiddle"],
  ["bottom", "align.bottom", "alignBottom"],
  ["across", "align.across", "across"],
  ["down", "align.down", "down"],
];

/** useCommands returns the commands for the open canvas. */
export function useCommands(): Command[] {
  const flow = useReactFlow();
  const app = useApp();
  const t = useText();
  const edited = useEdited();
  return useMemo(() => [...editing(app, edited, flow, t), ...viewing(app, edited, flow)], [app, edited, flow, t]);
}

/** follow selects what was pasted, and shows it in the panel. */
export function follow({ look }: App, edited: Store<Edited>, ids: readonly string[]): void {
  choose(edited, ids);
  look.update({ selected: ids[0] });
}

const ofSelection = new Set<Key>(["edit.duplicate", "edit.delete", "edit.off", "edit.extract"]);

/** useSelectionCommands returns those for several selected boxes, also outside of the canvas. */
export function useSelectionCommands(): Command[] {
  const app = useApp();
  const t = useText();
  const edited = useEdited();
  return useMemo(
    () => editing(app, edited, undefined, t)
      .filter(({ label }) => ofSelection.has(label) || label.startsWith("align.")),
    [app, edited, t],
  );
}

// editing lists the commands that change the canvas; a note needs its view.
function editing(
  app: App, edited: Store<Edited>, flow: ReactFlowInstance | undefined, t: (key: Key) => string,
): Command[] {
  const { session, look } = app;
  const selected = (): readonly string[] => edited.get().nodes;
  const pasteCopy = (): void => {
    const text = session.editing.copied(selected());
    if (text === undefined) return notify(edited, t("edit.nothing_copied"));
    follow(app, edited, session.editing.paste(text));
  };
  return [
    {
      label: "edit.add",
      icon: "plus",
      keys: "A",
      run: () => edited.update({ overlay: "add", ...spotOf(edited), at: undefined }),
    },
    {
      label: "edit.note",
      icon: "note",
      keys: "M",
      run: () => {
        const id = flow && session.editing.note(center(flow), t("edit.note_name"));
        if (id === undefined) return;
        choose(edited, [id]);
        look.update({ selected: id, reveal: { node: id, count: (look.get().reveal?.count ?? 0) + 1 } });
      },
    },
    { label: "bar.undo", icon: "undo", keys: "Mod+Z", run: () => session.undo() },
    { label: "bar.redo", icon: "redo", keys: "Mod+Shift+Z", run: () => session.redo() },
    { label: "edit.duplicate", icon: "copy", keys: "Mod+D", needs: 1, where: "board", run: pasteCopy },
    { label: "edit.delete", icon: "trash", keys: "Delete", needs: 1, where: "board", run: () => remove(app, edited) },
    {
      label: "edit.settings",
      icon: "panel",
      keys: "Enter",
      needs: 1,
      where: "canvas",
      run: () => {
        open(look, selected()[0]);
      },
    },
    {
      label: "edit.connect", icon: "link", keys: "C", needs: 1, where: "board",
      run: () => edited.update({ overlay: "connect" }),
    },
    {
      label: "edit.off",
      icon: "off",
      keys: "D",
      needs: 1,
      where: "board",
      run: () => session.editing.switch(selected()),
    },
    {
      label: "edit.extract",
      icon: "box",
      keys: "G",
      needs: 1,
      where: "board",
      run: () => void extract(app, edited, t),
    },
    { label: "edit.inline", icon: "expand", needs: 1, run: () => void inline(app, edited, t) },
    { label: "edit.tidy", icon: "tidy", keys: "T", where: "board", run: () => void session.editing.tidy(selected()) },
    {
      label: "edit.all",
      icon: "grid",
      keys: "Mod+A",
      run: () => {
        choose(edited, session.document.get()?.model.nodes.map(({ id }) => id) ?? []);
      },
    },
    {
      label: "edit.rename",
      icon: "text",
      keys: "F2",
      needs: 1,
      run: () => {
        open(look, selected()[0], false);
        document.querySelector<HTMLInputElement>(".node-name")?.select();
      },
    },
    ...alignments.map(([how, label, icon]): Command => ({
      label,
      icon,
      needs: 2,
      run: () => session.editing.align(selected(), how),
    })),
  ];
}

// open shows the settings of a step at once: keys typed next belong to the field that gets the
// focus.
function open(look: App["look"], selected: string | undefined, enters = true): void {
  const enter = enters ? selected : undefined;
  flushSync(() => look.update({ selected, tab: "node", panel: true, part: "settings", enter }));
}

// extract makes a canvas of the selection, or shows the reason why it cannot.
async function extract(app: App, edited: Store<Edited>, t: (key: Key) => string): Promise<void> {
  const { nodes } = edited.get();
  const { byId } = app.session.document.get()?.model ?? {};
  const name = byId?.get(nodes[0] ?? "")?.name ?? t("edit.subcanvas");
  const title = nodes.length > 1 ? `${name} +${nodes.length - 1}` : name;
  await settle(subcanvases(app).extract(nodes, title), app, edited, t);
}

async function inline(app: App, edited: Store<Edited>, t: (key: Key) => string): Promise<void> {
  const [node = ""] = edited.get().nodes;
  await settle(subcanvases(app).inline(node), app, edited, t);
}

function subcanvases({ session, host, drafts, canvases }: App): Subcanvases {
  return new Subcanvases(session, { host, drafts, find: canvases && ((id, version) => canvases.find(id, version)) });
}

async function settle(
  work: Promise<Outcome>,
  { look }: App,
  edited: Store<Edited>,
  t: (key: Key) => string,
): Promise<void> {
  try {
    const done = await work;
    if ("why" in done) return notify(edited, t(`subcanvas.${done.why}`));
    choose(edited, done.chosen);
    look.update({ selected: done.chosen[0] });
  } catch (err) {
    notify(edited, reasonOf(err));
  }
}

function viewing({ look }: App, edited: Store<Edited>, flow: ReactFlowInstance): Command[] {
  return [
    { label: "bar.keep", icon: "keep", keys: "Mod+S", where: "anywhere", run: () => void saver.get()?.() },
    { label: "edit.find", icon: "search", keys: "Mod+F", run: () => edited.update({ overlay: "find" }) },
    { label: "edit.commands", icon: "list", keys: "Mod+K", run: () => edited.update({ overlay: "commands" }) },
    { label: "edit.help", icon: "help", keys: "?", run: () => edited.update({ overlay: "help" }) },
    {
      label: "edit.fit",
      icon: "fit",
      keys: "1",
      run: () => void flow.fitView({ padding: fitPadding, minZoom: leastZoom(), maxZoom: 1.1 }),
    },
    {
      label: "edit.overview",
      icon: "fit",
      keys: "Shift+1",
      run: () => void flow.fitView({ padding: fitPadding, maxZoom: 1.1 }),
    },
    { label: "edit.zoom_in", icon: "plus", keys: "+", run: () => void flow.zoomIn() },
    { label: "edit.zoom_out", icon: "minus", keys: "-", run: () => void flow.zoomOut() },
    {
      label: "edit.wheel",
      icon: "hand",
      run: () => look.update({ wheel: look.get().wheel === "zoom" ? "pan" : "zoom" }),
    },
    { label: "edit.region", icon: "panel", keys: "F6", where: "anywhere", run: nextRegion },
    { label: "edit.wide", icon: "panel", keys: "Shift+Enter", where: "board", run: () => widen(look) },
    { label: "edit.tests", icon: "play", run: () => look.update({ tab: "tests", panel: true }) },
    { label: "edit.draft", icon: "spark", run: () => look.update({ dialog: "draft" }) },
    { label: "canvas.settings", icon: "sliders", run: () => look.update({ dialog: "canvas" }) },
    { label: "plugins.title", icon: "box", run: () => look.update({ dialog: "plugins" }) },
    { label: "bar.panel", icon: "panel", keys: "P", run: () => look.update({ panel: !look.get().panel }) },
  ];
}

// widen toggles the panel between its usual width and room for three columns.
function widen(look: App["look"]): void {
  const { width = 0 } = look.get();
  look.update({ tab: "node", panel: true, width: width >= 920 ? undefined : 960 });
}

// spotOf puts a step behind the selected box.
function spotOf(edited: Store<Edited>): Pick<Edited, "spot"> {
  const [only, more] = edited.get().nodes;
  return only === undefined || more !== undefined ? { spot: undefined } : { spot: { after: { node: only } } };
}

/** remove deletes what is selected. */
export function remove({ session, look }: App, edited: Store<Edited>): void {
  const { nodes, edges } = edited.get();
  const wires = (session.document.get()?.model.edges ?? [])
    .filter(({ id, role }) => edges.includes(id) && role !== "tool")
    .map(({ source, target, branch, role }) => {
      const by = role === "error" ? errorHandle : branch;
      return { source, target, ...(by === undefined ? {} : { branch: by }) };
    });
  session.editing.remove(nodes, wires);
  edited.update({ nodes: [], edges: [] });
  if (nodes.includes(look.get().selected ?? "")) look.update({ selected: undefined });
}

/** matches reports whether an event is the keys of a command. */
export function matches(event: KeyboardEvent, keys: string): boolean {
  const parts = keys.split(/\+(?=.)/);
  const name = parts.at(-1) ?? "";
  const wants = (part: string): boolean => parts.length > 1 && parts.includes(part);
  const mod = event.ctrlKey || event.metaKey;
  if (mod !== wants("Mod") || event.altKey) return false;
  if (name === "Delete") return event.key === "Delete" || event.key === "Backspace";
  if (name === "Enter") return event.key === name && event.shiftKey === wants("Shift");
  if (/^\d$/.test(name)) return event.code === `Digit${name}` && event.shiftKey === wants("Shift");
  if (/^[A-Z]$/.test(name)) return event.key.toUpperCase() === name && event.shiftKey === wants("Shift");
  return event.key === name;
}

const regions = [".bar", ".board", ".panel"];

// nextRegion moves the keyboard from the bar to the canvas, to the panel, and around.
function nextRegion(): void {
  const at = regions.findIndex((each) => document.activeElement?.closest(each));
  for (let step = 1; step <= regions.length; step++) {
    if (focusIn(regions[(at + step) % regions.length] as string)) return;
  }
}

// focusIn focuses the selected box, the current tab or the first field of a region.
function focusIn(region: string): boolean {
  const all = '.react-flow__node.selected, [role="tab"][aria-selected="true"], .settings :is(input, select, textarea)';
  const inside = document.querySelector(region);
  const first = (selector: string): HTMLElement | undefined =>
    // Fields of a closed section cannot have the focus.
    [...(inside?.querySelectorAll<HTMLElement>(selector) ?? [])].find((target) => target.checkVisibility());
  const target = first(all) ?? first("button:enabled, input");
  target?.focus();
  return target !== undefined;
}

/** leave closes the overlays and focuses the canvas. */
export function leave(edited: Store<Edited>): void {
  close(edited);
  const board = document.querySelector<HTMLElement>(".board");
  board?.focus();
  // The following code may select another box, which is drawn later.
  requestAnimationFrame(() => {
    const box = board?.querySelector<HTMLElement>(".react-flow__node.selected");
    if (document.activeElement === board) box?.focus({ preventScroll: true });
  });
}
