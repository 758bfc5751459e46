// The editors of settings that connect a canvas with the outside. They are loaded when a form first
// shows one, as one file: each file that is loaded later splits those that are loaded first.

import { lazy, Suspense } from "react";
import { Rows } from "./lists.tsx";
import { PartsContext, type Kind } from "./params.tsx";
import { Prompt } from "./prompt.tsx";
import type { ControlProps } from "./props.ts";

const Editor = lazy(() => import("./connect-editors.tsx"));

const hooks = ["methods", "content_types", "schema", "execution_mode", "response"];
const request = ["url", "method", "headers", "variables", "datatype"];
const database = ["db_type", "database", "host", "port", "username", "password"];

/** connects returns the kind of editor of a setting; undefined for settings with another one. */
export function connects({ name, spec }: ControlProps): Kind | undefined {
  // Params that requests and databases have together tell them apart from others.
  const has = (names: string[]): boolean => names.every((each) => spec?.params?.properties?.[each] !== undefined);
  if (name === "custom_header") return "headers";
  if (hooks.includes(name) && has(hooks)) return "webhook";
  if (request.includes(name) && has(request)) return "request";
  return database.includes(name) && has(database) ? "database" : undefined;
}

const parts = { Rows, Prompt };

/** Connection edits a setting that connects a canvas with the outside. */
export function Connection({ kind, ...props }: ControlProps & { kind: Kind }): React.ReactNode {
  return (
    <PartsContext value={parts}>
      <Suspense fallback={<span className="spinner" />}>
        <Editor kind={kind} {...props} />
      </Suspense>
    </PartsContext>
  );
}
