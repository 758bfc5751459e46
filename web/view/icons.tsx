// Small line drawings: those that components ask for by name, and those of buttons.

import type { Category, ComponentSpec, Icon as ComponentIcon } from "@easel/engine";
import type { CanvasNode } from "../canvas/drawing.ts";

const components: Record<ComponentIcon, string> = {
  play: "M8 5v14l11-7z",
  speech: "M4 5h16v11H9l-5 4z",
  spark: "M12 3l2 6 6 2-6 2-2 6-2-6-6-2 6-2z",
  robot: "M12 4v3M6 7h12v10H6zM3 11v3M21 11v3M10 11v2M14 11v2M9 20h6",
  sort: "M4 6h6l4 6h6M14 12l-4 6H4M10 6l0 0",
  fork: "M5 12h4l5-6h5M9 12l5 6h5",
  repeat: "M4 7h12M4 12h9M4 17h6M17 11v8l4-4M17 19l-4-4",
  loop: "M5 12a7 7 0 0 1 12-5l2 2M19 4v5h-5M19 12a7 7 0 0 1-12 5l-2-2M5 20v-5h5",
  enter: "M6 12h12M14 8l4 4-4 4",
  exit: "M10 5H5v14h5M13 8l4 4-4 4M17 12H9",
  form: "M5 4h14v16H5zM8 9h8M8 13h8M8 17h4",
  assign: "M4 9h9M4 15h9M16 7l5 5-5 5",
  merge: "M4 5l8 7-8 7M12 12h8",
  list: "M9 6h11M9 12h11M9 18h11M4 6h1M4 12h1M4 18h1",
  data: "M5 6c0-3 14-3 14 0v12c0 3-14 3-14 0zM5 6c0 3 14 3 14 0M5 12c0 3 14 3 14 0",
  text: "M5 6h14M12 6v13M8 19h8",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18",
  search: "M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 15l5 5",
  code: "M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16",
  open: "M3 7h6l2 2h10v10H3z",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  note: "M5 4h14v10l-5 6H5zM14 20v-6h5",
  box: "M12 3l8 5v8l-8 5-8-5V8zM4 8l8 5 8-5M12 13v8",
};

const others = {
  tool: "M14 6a4 4 0 0 0-5 5l-6 6 3 3 6-6a4 4 0 0 0 5-5l-3 3-3-3z",
  sun: "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1 1M18 18l1 1M19 5l-1 1M6 18l-1 1",
  moon: "M19 14A8 8 0 0 1 10 5a7 7 0 1 0 9 9z",
  send: "M4 12l16-8-6 16-3-7z",
  stop: "M7 7h10v10H7z",
  microphone: "M9 4h6v9H9zM6 11v1a6 6 0 0 0 12 0v-1M12 18v3",
  loudspeaker: "M4 9h4l5-4v14l-5-4H4zM16 9a4 4 0 0 1 0 6M18 6a8 8 0 0 1 0 12",
  attach: "M19 11l-8 8a5 5 0 0 1-7-7l8-8a3 3 0 0 1 5 5l-8 8a1 1 0 0 1-2-2l7-7",
  undo: "M9 7L4 12l5 5M4 12h10a5 5 0 0 1 0 10",
  redo: "M15 7l5 5-5 5M20 12H10a5 5 0 0 0 0 10",
  first: "M6 5v14M18 5l-9 7 9 7z",
  back: "M16 5l-9 7 9 7z",
  forward: "M8 5l9 7-9 7z",
  live: "M6 5l9 7-9 7zM18 5v14",
  save: "M12 4v11M7 11l5 5 5-5M4 20h16",
  keep: "M12 16V5M7 9l5-5 5 5M4 20h16",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  key: "M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12l9-8M16 7.5l3 3",
  pin: "M9 4h6l-1 6 4 4H6l4-4zM12 14v6",
  check: "M5 12l5 5 9-10",
  cross: "M6 6l12 12M18 6L6 18",
  pause: "M8 5v14M16 5v14",
  off: "M12 4v8M7 7a7 7 0 1 0 10 0",
  more: "M5 12v.01M12 12v.01M19 12v.01",
  panel: "M4 5h16v14H4zM14 5v14",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  copy: "M8 8h12v12H8zM16 8V4H4v12h4",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  tidy: "M4 5h6v5H4zM14 5h6v5h-6zM9 15h6v5H9zM10 7.5h4M12 10v5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.5-6 8-6s8 2 8 6",
  sliders: "M4 7h9M17 7h3M4 12h3M11 12h9M4 17h11M19 17h1M15 5v4M9 10v4M17 15v4",
  help: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18v.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  hand: "M12 3v18M3 12h18M12 3l-3 3M12 3l3 3M12 21l-3-3M12 21l3-3M3 12l3-3M3 12l3 3M21 12l-3-3M21 12l-3 3",
  alignLeft: "M4 4v16M8 7h12v3H8zM8 14h7v3H8z",
  alignCenter: "M12 3v18M5 7h14v3H5zM8 14h8v3H8z",
  alignRight: "M20 4v16M4 7h12v3H4zM9 14h7v3H9z",
  alignTop: "M4 4h16M7 8h3v12H7zM14 8h3v7h-3z",
  alignMiddle: "M3 12h18M7 5h3v14H7zM14 8h3v8h-3z",
  alignBottom: "M4 20h16M7 4h3v12H7zM14 9h3v7h-3z",
  across: "M4 4v16M20 4v16M10 8h4v8h-4z",
  down: "M4 4h16M4 20h16M8 10v4h8v-4z",
  expand: "M9 4H4v5M15 4h5v5M9 20H4v-5M15 20h5v-5",
};

const paths = { ...components, ...others };

/** IconName names one of the drawings. */
export type IconName = keyof typeof paths;

/** Icon draws an icon as decoration, hidden from screen readers: a label accompanies it. */
export function Icon({ name }: { name: IconName }): React.ReactNode {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name] ?? paths.box} />
    </svg>
  );
}

/** iconOf names the drawing of a component. */
export function iconOf(spec: ComponentSpec | undefined): IconName {
  return spec?.icon ?? "box";
}

/** iconOfNode names the drawing of a box. */
export function iconOfNode({ role, spec }: CanvasNode): IconName {
  return role === "note" || role === "tool" ? role : iconOf(spec);
}

/** hueOf returns the colour of a component. */
export function hueOf(spec: ComponentSpec | undefined): Category {
  return spec?.category ?? "tool";
}
