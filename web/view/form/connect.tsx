// The editors of settings that connect a canvas with the outside. They are loaded when a form first
// shows one, as one file: each file that is loaded later splits those that are loaded first.

import { lazy, Suspense } from "react";
import { AsJson } from "./as-json.tsx";
import { Rows } from "./lists.tsx";
import { PartsContext, type Kind } from "./params.tsx";
import { Prompt } from "./prompt.tsx";
import type { ControlProps } from "./props.ts";

const Editor = lazy(() => import("./connect-editors.tsx"));

const parts = { AsJson, Rows, Prompt };

/** connection returns the editor of a kind of settings that connect a canvas with the outside. */
export function connection(kind: Kind): React.ComponentType<ControlProps> {
  return function Connection(props: ControlProps): React.ReactNode {
    return (
      <PartsContext value={parts}>
        <Suspense fallback={<span className="spinner" />}>
          <Editor kind={kind} {...props} />
        </Suspense>
      </PartsContext>
    );
  };
}
