// The waiting time of a user who opens the page for the first time: until a node is
// drawn, and until the first event of a run is shown.

import type { Stage } from "../browser/stage.ts";

/** Cold is one opening, milliseconds after the navigation began. */
export interface Cold {
  node: number;
  event: number;
}

/** cold opens the page with an empty cache; a run is started as soon as its button appears. */
export async function cold(stage: Stage): Promise<Cold> {
  const context = await stage.browser.newContext({ viewport: { width: 1360, height: 820 } });
  await context.addInitScript(() => {
    const times: { node?: number; event?: number } = {};
    Object.assign(globalThis, { times });
    const look = (): void => {
      if (
        times.node === undefined &&
        document.querySelector(".react-flow__node .box")?.checkVisibility({ visibilityProperty: true })
      )
        times.node = performance.now();
      if (times.node !== undefined && !document.querySelector(".turned")) {
        const run = document.querySelector<HTMLButtonElement>(".composer button[type=submit]");
        run?.classList.add("turned");
        run?.click();
      }
      if (times.event === undefined && document.querySelector('.box[data-status]:not([data-status="idle"])'))
        times.event = performance.now();
      else setTimeout(look, 1);
    };
    setTimeout(look, 1);
  });
  const page = await context.newPage();
  await page.goto(stage.address + "#example=exchange");
  await page.waitForFunction(
    () => (globalThis as unknown as { times: { event?: number } }).times.event !== undefined,
    undefined,
    { polling: 20 },
  );
  const times = await page.evaluate(() => (globalThis as unknown as { times: Cold }).times);
  await context.close();
  return { node: Math.round(times.node), event: Math.round(times.event) };
}
