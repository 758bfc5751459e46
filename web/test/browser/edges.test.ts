// Chromium draws exactly the edges of the document while branches are edited. EASEL_SEED reproduces
// a failure; web/test/drawn.test.ts makes more edits without a browser.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { ComponentSpec } from "@easel/engine";
import type { Locator, Page } from "playwright-core";
import { open } from "../../canvas/dsl.ts";
import { build } from "../../canvas/model.ts";
import { drop, missing, openDropped, raise, type Stage } from "./stage.ts";

const assets = new URL("../../dist/assets/", import.meta.url);
const node = (name: string, params: object, downstream: string[], upstream: string[]): object => ({
  obj: { component_name: name, params }, downstream, upstream,
});
const ends = ["Message:A", "Message:B", "Message:C"];
const canvas = JSON.stringify({
  components: {
    begin: node("Begin", {}, ["Switch:S"], []),
    "Switch:S": node("Switch", {
      conditions: [{ logical_operator: "and", items: [{}], to: ["Message:A"] }], end_cpn_ids: ["Categorize:K"],
    }, ["Message:A", "Categorize:K"], ["begin"]),
    "Categorize:K": node("Categorize", {
      category_description: { Tea: { to: ["Message:A"] }, Milk: { to: ["Message:B"] }, Rest: { to: ["Message:C"] } },
    }, ends, ["Switch:S"]),
    ...Object.fromEntries(ends.map((id) => [id, node("Message", { content: [id] }, [], ["Categorize:K"])])),
  },
});

describe("edges", { skip: missing(), timeout: 600_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  // wanted returns the ids of the edges of the canvas as its export has it.
  async function wanted(page: Page): Promise<string[]> {
    const file = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const text = readFileSync(await (await file).path(), "utf8");
    const described = readdirSync(assets).find((name) => /^components-.*\.json$/.test(name)) ?? assert.fail();
    const specs = JSON.parse(readFileSync(new URL(described, assets), "utf8")) as ComponentSpec[];
    const model = build(open(text).dsl, new Map(specs.map((spec) => [spec.name, spec])));
    return model.edges.map(({ id }) => id).sort();
  }

  const drawn = (page: Page): Promise<string[]> =>
    page.locator(".react-flow__edge").evaluateAll((all) =>
      all.filter((each) => each.querySelector("path.react-flow__edge-path")?.getAttribute("d"))
        .map((each) => each.getAttribute("data-id") ?? "").sort());

  test("are those of the document after each of 30 random edits of branches", async () => {
    const seed = Number(process.env["EASEL_SEED"] ?? Date.now() % 1_000_000);
    let state = seed + 1;
    const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
    const { page, done } = await stage.visit("", { width: 1440, height: 900 });
    await page.locator(".card").first().waitFor();
    await drop(page, canvas, { name: "branches.json" });
    await openDropped(page);
    await page.locator(".react-flow__node").nth(4).waitFor();
    const inspector = page.locator(".inspector");
    const any = async (found: Locator): Promise<Locator | undefined> => {
      const all = found.filter({ visible: true }); // some settings are folded
      const count = await all.count();
      return count > 0 ? all.nth(random(count)) : undefined;
    };
    const acts: Record<string, () => Promise<void>> = {
      add: async () => (await any(inspector.getByRole("button", { name: /^Add: (Case|Categor|Branch)/ })))?.click(),
      remove: async () => (await any(inspector.locator(".row-tools > button:last-child")))?.click(),
      move: async () => (await any(inspector.locator(".row-tools > button:first-child:not(:last-child)")))?.click(),
      rename: async () => {
        const name = await any(inspector.locator("input.branch-name"));
        await name?.fill(`Kind ${random(1000)}`);
        await name?.blur();
      },
      lead: async () => {
        const choice = await any(inspector.locator(".reached select"));
        const options = await choice?.locator("option").count() ?? 0;
        if (options > 1) await choice?.selectOption({ index: 1 + random(options - 1) });
      },
      undo: async () => { await page.keyboard.press("Control+z"); },
      redo: async () => { await page.keyboard.press("Control+Shift+z"); },
    };
    const names = [...Object.keys(acts), "lead", "rename", "move"];
    for (let step = 1; step <= 30; step++) {
      await page.locator(`.react-flow__node[data-id="${["Switch:S", "Categorize:K"][random(2)]}"] .box-head`).click();
      const name = names[random(names.length)] ?? "undo";
      await acts[name]?.();
      const edges = await wanted(page);
      const where = `seed ${seed}, step ${step}: ${name}`;
      for (let tries = 0; tries < 40 && (await drawn(page)).join() !== edges.join(); tries++) {
        await page.waitForTimeout(50);
      }
      assert.deepEqual(await drawn(page), edges, where);
    }
    await done();
  });
});
