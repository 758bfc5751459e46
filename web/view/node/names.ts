// References as a person reads them.

import { own } from "../../canvas/dsl.ts";
import type { CanvasModel } from "../../canvas/drawing.ts";

/** namedAll shows references to outputs by the names of their nodes; equal ones keep their ids. */
export function namedAll(values: Record<string, unknown>, model: CanvasModel | undefined): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const label = named(key, model);
    shown[own(shown, label) === undefined ? label : key] = value;
  }
  return shown;
}

/** named shows a reference to an output by the name of its node. */
export function named(ref: string, model: CanvasModel | undefined): string {
  const [id = "", ...output] = ref.split("@");
  const name = output.length > 0 ? model?.byId.get(id)?.name : undefined;
  return name ? `${name} · ${output.join("@")}` : ref;
}
