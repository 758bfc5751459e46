// When the nodes of a canvas start: settings.scheduling of the document.

import { isObject, type Dsl } from "../dsl.ts";
import type { Draft } from "./draft.ts";

/** Order is what a canvas asks for; "auto" leaves it to the engine. */
export type Order = "auto" | "batch" | "eager";

/** orders are all of them. */
export const orders: readonly Order[] = ["auto", "eager", "batch"];

/** orderOf returns what a canvas asks for. */
export function orderOf({ settings }: Dsl): Order {
  const asked = isObject(settings) ? settings["scheduling"] : undefined;
  return orders.find((each) => each === asked) ?? "auto";
}

/** setOrder changes it, and keeps the other settings. */
export function setOrder(draft: Draft, order: Order): void {
  if (order === "auto") {
    draft.remove(["settings", "scheduling"]);
    return;
  }
  if (!isObject(draft.dsl["settings"])) draft.set(["settings"], {});
  draft.set(["settings", "scheduling"], order);
}
