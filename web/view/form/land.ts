// The keyboard on a field of a form, wherever it stands.

import type { ComponentSpec } from "@easel/engine";
import { own } from "../../canvas/dsl.ts";
import { widgetOf } from "./shown.ts";

/** firstOf returns the field that a component names as its first, else the first but toggles. */
export function firstOf(spec: ComponentSpec | undefined, names: readonly string[]): string | undefined {
  if (spec?.first !== undefined && names.includes(spec.first)) return spec.first;
  const schemas = spec?.params?.properties;
  return names.find((name) => widgetOf(own(schemas, name) ?? {}, undefined) !== "toggle") ?? names[0];
}

const fields = ':is(input, select, textarea, button, [contenteditable="true"]):enabled, .cm-content';

/** land focuses a field, opens the part around it, and marks it if it was searched for. */
export function land(form: HTMLElement | null, name: string | undefined, flash = false): void {
  const row = form?.querySelector<HTMLElement>(`.setting[data-param="${CSS.escape(name ?? "")}"]`);
  if (!row) return;
  for (let at = row.closest("details"); at; at = at.parentElement?.closest("details") ?? null) at.open = true;
  const inside = [...row.querySelectorAll<HTMLElement>("*")]
    .flatMap((each) => each.shadowRoot?.querySelector<HTMLElement>(".cm-content") ?? (each.matches(fields) ? each : []))
    .filter((each) => !each.closest(".setting-head"));
  const target = inside.find((each) => !each.matches("button")) ?? inside[0];
  target?.focus();
  row.scrollIntoView({ block: "nearest" });
  if (!flash) return;
  row.dataset["found"] = "true";
  row.addEventListener("focusout", () => delete row.dataset["found"], { once: true });
}
