// What diagnostics say, with the titles that a person sees. Loaded with the views that show them.

import { useCallback } from "react";
import { fieldOf, spoken } from "../canvas/problems.ts";
import { useApp, useSpecText, useStore } from "./context.tsx";
import { titled } from "./text.ts";

/** useSpoken returns a function that names steps and components in a message by their titles. */
export function useSpoken(): (message: string) => string {
  const { session } = useApp();
  const words = useSpecText();
  const model = useStore(session.document, (document) => document?.model);
  const specs = useStore(session.specs, (all) => all);
  return useCallback((message) => {
    const titleOf = (name: string): string | undefined =>
      specs.has(name) ? words(titled(specs.get(name), name)) : undefined;
    return spoken(message, (id) => model?.byId.get(id)?.name || undefined, titleOf);
  }, [model, specs, words]);
}

/** useFieldName returns a function that names a param of a component as its form does. */
export function useFieldName(): (param: string, component: string | undefined) => string {
  const { session } = useApp();
  const words = useSpecText();
  const specs = useStore(session.specs, (all) => all);
  return useCallback((param, component) =>
    fieldOf(param, specs.get(component ?? "")).map((part) => (typeof part === "number" ? part : words(part))).join(" "),
  [specs, words]);
}
