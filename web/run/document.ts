// An open canvas: its source, its stored document, and its current state.

import type { CanvasModel } from "../canvas/drawing.ts";
import type { Dsl, Opened } from "../canvas/dsl.ts";
import type { History } from "../canvas/history.ts";
import type { Places } from "../canvas/places.ts";
import type { Origin } from "./host.ts";

/**
 * Source is the origin of a canvas. One of a link or a file runs after the person allowed it. A
 * copy is of a template or of the empty canvas: the page can make it again.
 */
export type Source =
  | { kind: "example" | "plugin" | "link" | "file" }
  | { kind: "new"; copy?: true }
  | { kind: "host"; origin: Origin };

/** Base is a stored document with its text. */
export interface Base {
  dsl: Dsl;
  text: string;
}

/** Document is the opened canvas as it is now. */
export interface Document {
  /** Counts opened canvases, so that a view can distinguish one from the next. */
  number: number;
  source: Source;
  opened: Opened;
  /** The canvas as it was opened, or saved to the host last. */
  base: Base;
  history: History;
  /** The canvas with its edits. */
  dsl: Dsl;
  model: CanvasModel;
  /** The engine's layout, for a canvas without positions. */
  places?: Places;
}
