// One filled button in each view: what a person does there most.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { filled } from "./filled.ts";
import { hostTour, type HostTour } from "./host-tour.ts";
import { missing, raise, type Stage } from "./stage.ts";
import { shots } from "./tour.ts";

describe("filled buttons", { skip: missing(), timeout: 2_400_000 }, () => {
  let tour: HostTour;
  let stage: Stage;
  before(async () => {
    stage = await raise();
    tour = await hostTour();
  });
  after(async () => {
    await stage?.close();
    await tour?.close();
  });

  test("no view of the page has two", async () => {
    const wrong: Record<string, string[]> = {};
    for (const [name, hash, look, act] of shots.filter(([each]) => !/-dark$|-phone$|^narrow/.test(each))) {
      const { page } = await stage.open(hash, look);
      await act(page);
      const found = await filled(page);
      if (found.length > 1) wrong[name] = found;
      await page.context().close();
    }
    assert.deepEqual(wrong, {});
  });

  test("no view of a host has two", async () => {
    const wrong: Record<string, string[]> = {};
    for (const [name, hash, act] of tour.shots) {
      const { page } = await tour.stage.open(hash, {});
      await tour.enter(page);
      await act(page);
      const found = await filled(page);
      if (found.length > 1) wrong[name] = found;
      await page.context().close();
    }
    assert.deepEqual(wrong, {});
  });
});
