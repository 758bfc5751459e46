// Walks by what a person sees: each click, key and filled field is an act, and a walk has a bound.

import type { Locator, Page } from "playwright-core";

/** Hand acts on a page and counts. */
export class Hand {
  acts = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** press clicks. */
  async press(what: Locator): Promise<void> {
    this.acts++;
    await what.click();
  }

  async fill(what: Locator, text: string): Promise<void> {
    this.acts++;
    await what.fill(text);
  }

  async choose(what: Locator, label: string | RegExp): Promise<void> {
    this.acts++;
    const text = await what.locator("option", { hasText: label }).first().innerText();
    await what.selectOption({ label: text.trim() });
  }

  async check(what: Locator): Promise<void> {
    this.acts++;
    await what.check();
  }

  async key(name: string): Promise<void> {
    this.acts++;
    await this.page.keyboard.press(name);
  }

  /** write types into what has the keyboard, and picks the variables between braces. */
  async write(text: string): Promise<void> {
    this.acts++;
    for (const [, plain = "", variable] of text.matchAll(/([^{]*)(?:\{([^}]*)\})?/g)) {
      if (plain !== "") await this.page.keyboard.type(plain);
      if (variable === undefined) continue;
      await this.page.keyboard.type("{");
      const option = this.page.locator(".cm-tooltip-autocomplete li", { hasText: variable }).first();
      await option.waitFor();
      await option.click();
    }
  }

  /** setting is a field of the selected step. */
  setting(label: string): Locator {
    return this.page.locator(".settings").getByLabel(label, { exact: true });
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", { name, exact: typeof name === "string" });
  }

  /** box is a step on the canvas. */
  box(title: string): Locator {
    return this.page.locator(".react-flow__node", { has: this.page.locator(".box-name b", { hasText: title }) });
  }

  /** add puts a step behind another one by its plus, and its settings are shown. */
  async add(after: string, title: string): Promise<void> {
    await this.press(this.box(after).locator(".way:not(.on-error)").first());
    await this.page.locator(".palette input").waitFor();
    this.acts++;
    await this.page.keyboard.type(title);
    await this.key("Enter");
    await this.box(title).first().waitFor();
  }
}
