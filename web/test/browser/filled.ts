// Filled buttons mark the primary action of a view; an open dialog counts as a separate view.

import type { Page } from "playwright-core";

/** filled returns the names of the buttons that are filled with ink: of the open dialog, if any. */
export function filled(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const ink = document.createElement("i");
    ink.style.setProperty("background", "var(--primary)");
    document.body.append(ink);
    const colour = getComputedStyle(ink).backgroundColor;
    ink.remove();
    const view = [...document.querySelectorAll<HTMLElement>("dialog[open]")].at(-1) ?? document.body;
    return [...view.querySelectorAll<HTMLElement>("button, summary, a")]
      .filter((each) => each.checkVisibility() && getComputedStyle(each).backgroundColor === colour)
      .map((each) => each.getAttribute("aria-label") ?? each.innerText.trim());
  });
}
