// Outputs that a node declares: renamed together with the references to them.

import { isObject } from "../dsl.ts";
import { setParam, type Draft } from "./draft.ts";
import { follow } from "./variables.ts";

/** nameOutput renames a declared output of a node in its place, and every reference to it. */
export function nameOutput(draft: Draft, id: string, from: string, to: string): void {
  const outputs = draft.params(id)["outputs"];
  if (!isObject(outputs) || !Object.hasOwn(outputs, from) || Object.hasOwn(outputs, to)) return;
  const renamed = Object.entries(outputs).map(([name, each]) => [name === from ? to : name, each] as const);
  setParam(draft, id, "outputs", Object.fromEntries(renamed));
  follow(draft, new Map([[`${id}@${from}`, `${id}@${to}`]]));
}
