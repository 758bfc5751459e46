// Filled buttons of a view: the one act that matters. A dialog is a view of its own.

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
