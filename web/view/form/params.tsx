// What the editors of connections get from the form around them: its other settings, of which some
// change several at once, and parts of other editors. These come by a context, since a file that is
// imported here and there is split from those that are loaded first, which makes these larger.

import { createContext, useContext } from "react";
import type { Params } from "../../canvas/dsl.ts";
import { useApp, useStore } from "../context.tsx";
import type { AsJson } from "./as-json.tsx";
import type { Rows } from "./lists.tsx";
import type { Prompt } from "./prompt.tsx";

/** Kind is a group of editors of connections. */
export type Kind =
  | "servers" | "headers" | "request-headers" | "webhook" | "request" | "address" | "database" | "connection"
  | "secret" | "language";

/** Settings has the params of a node, or of a tool of an agent. */
export interface Settings {
  params: Params;
  /** Sets several params in one step of undo; undefined removes a param. */
  set(changes: Params): void;
  /** The params belong to a tool, which does not run alone. */
  tool?: boolean;
}

/** SettingsContext carries the settings of a tool; without it useSettings reads the canvas. */
export const SettingsContext = createContext<Settings | undefined>(undefined);

const nothing: Params = {};

/** useSettings returns the settings around an editor. */
export function useSettings(node: string): Settings {
  const { session } = useApp();
  const params = useStore(session.document, (document) => document?.model.byId.get(node)?.params) ?? nothing;
  return useContext(SettingsContext) ?? { params, set: (changes) => session.editing.params(node, changes) };
}

/** Parts are editors that other editors embed. */
export interface Parts {
  AsJson: typeof AsJson;
  Rows: typeof Rows;
  Prompt: typeof Prompt;
}

/** PartsContext carries the parts. */
export const PartsContext = createContext<Parts | undefined>(undefined);

/** useParts returns the parts. */
export function useParts(): Parts {
  const parts = useContext(PartsContext);
  if (!parts) throw new Error("no form around this editor");
  return parts;
}
