// When the nodes of a canvas start: settings.scheduling of the document.

import { isObject, type Dsl } from "../dsl.ts";
import type { Draft } from "./draft.ts";

/** Order is the setting of a canvas; "auto" lets the engine decide. */
export type Order = "auto" | "batch" | "eager";

/** orders lists all values of the setting. */
export const orders: readonly Order[] = ["auto", "eager", "batch"];

/** orderOf returns the order in the settings of a canvas, or "auto". */
export function orderOf({ settings }: Dsl): Order {
  const asked = isObject(settings) ? settings["scheduling"] : undefined;
  return orders.find((each) => each === asked) ?? "auto";
}

/** setOrder changes the order and keeps the other settings. */
export function setOrder(draft: Draft, order: Order): void {
  if (order === "auto") {
    draft.remove(["settings", "scheduling"]);
    return;
  }
  if (!isObject(draft.dsl["settings"])) draft.set(["settings"], {});
  draft.set(["settings", "scheduling"], order);
}
