// The cost of editing a large canvas: dragging a card, typing into a prompt, opening a file.

import type { Stage } from "../browser/stage.ts";
import { chain, openChain, watch, type Frames } from "./frames.ts";

/** drag measures the frames while a card is dragged in circles. */
export async function drag(stage: Stage, count: number): Promise<Frames> {
  const { page } = await stage.open("");
  await openChain(page, count);
  const head = page.locator('.react-flow__node[data-id="LLM:N1"] .box-name');
  await head.waitFor();
  await page.waitForTimeout(500);
  const { x, y } = (await head.boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(x + 20, y + 10);
  await page.mouse.down();
  await page.mouse.move(x + 40, y + 30);
  const frames = await watch(page, async () => {
    for (let step = 0; step < 150; step++) {
      await page.mouse.move(x + 60 * Math.sin(step / 8) + 60, y + 60 * Math.cos(step / 8) + 60);
    }
  });
  await page.mouse.up();
  await page.context().close();
  return frames;
}

/** keys returns the milliseconds that the page's thread works for a key typed into a prompt. */
export async function keys(stage: Stage, count: number): Promise<number> {
  const { page } = await stage.open("");
  await openChain(page, count);
  await page.locator('.react-flow__node[data-id="LLM:N1"]').click();
  await page.locator(".settings .cm-content").first().click();
  await page.keyboard.press("x");
  await page.waitForTimeout(2000); // the canvas is checked
  const { busy } = await watch(page, async () => {
    for (let i = 0; i < presses; i++) await page.keyboard.press("x");
  });
  await page.context().close();
  return busy / presses;
}

const presses = 200;

/**
 * opening returns the milliseconds from the choice of a file to the frame that shows its cards, and
 * those that the page's thread works until then.
 */
export async function opening(stage: Stage, bytes: number): Promise<{ took: number; busy: number }> {
  let count = 100;
  while (chain(count).length < bytes) count += 10;
  const { page } = await stage.open("#example=exchange");
  await page.locator(".box .summary").first().waitFor();
  await page.locator("#tab-timeline").click(); // the engine has started by the time of the next view
  await page.evaluate(() => {
    document.querySelector('input[type="file"][accept*="json"]')?.addEventListener("change", () => {
      const from = performance.now();
      const look = (): void => {
        if (document.querySelector('[data-id="LLM:N1"] .box')) {
          requestAnimationFrame(() => setTimeout(() => Object.assign(globalThis, { took: performance.now() - from })));
        } else requestAnimationFrame(look);
      };
      look();
    }, true);
  });
  const { busy } = await watch(page, async () => {
    await openChain(page, count);
    await page.waitForFunction(() => (globalThis as unknown as { took?: number }).took !== undefined);
  });
  const took = await page.evaluate(() => (globalThis as unknown as { took: number }).took);
  await page.context().close();
  return { took, busy };
}
