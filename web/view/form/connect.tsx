// The editors of settings that connect a canvas with the outside. They are loaded when a form first
// shows one.

import { lazy, Suspense, type ComponentType } from "react";
import type { ControlProps } from "./props.ts";

type Editor = ComponentType<ControlProps>;

const Servers = lazy(() => import("./servers.tsx"));
const HeaderRows = lazy(() => import("./headers.tsx"));

function editorOf({ name }: ControlProps): Editor | undefined {
  if (name === "mcp") return Servers;
  if (name === "custom_header") return HeaderRows;
  return undefined;
}

/** connects reports whether a setting has one of these editors. */
export function connects(props: ControlProps): boolean {
  return editorOf(props) !== undefined;
}

/** Connection edits a setting that connects a canvas with the outside. */
export function Connection(props: ControlProps): React.ReactNode {
  const Chosen = editorOf(props);
  const waiting = <p className="quiet small"><span className="spinner" aria-hidden="true" /></p>;
  return Chosen && <Suspense fallback={waiting}><Chosen {...props} /></Suspense>;
}
