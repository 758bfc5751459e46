// The context menu of the canvas, its boxes and edges, and the position of added and copied steps.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { openDropped, drop, counted, missing, raise, still, type Stage } from "./stage.ts";

const step = (component_name: string, params: object, upstream: string[], downstream: string[]): object =>
  ({ obj: { component_name, params }, upstream, downstream });
const chain = {
  components: {
    begin: step("Begin", {}, [], ["Message:A"]),
    "Message:A": step("Message", { content: ["one"] }, ["begin"], ["Message:B"]),
    "Message:B": step("Message", { content: ["two"] }, ["Message:A"], []),
  },
  graph: {
    nodes: [["begin", "Begin", 0], ["Message:A", "Hello", 300], ["Message:B", "Goodbye", 600]].map(([id, name, x]) =>
      ({ id, position: { x, y: 100 }, data: { name } })),
  },
};

describe("menus", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  const boxes = (page: Page): Locator => page.locator(".react-flow__node");
  const box = (page: Page, id: string): Locator => page.locator(`.react-flow__node[data-id="${id}"]`);

  async function opened(page: Page): Promise<void> {
    await page.waitForSelector(".card");
    await drop(page, JSON.stringify(chain));
    await openDropped(page);
    await box(page, "Message:B").waitFor();
    await still(boxes(page).first());
  }

  test("a step, the canvas, a connection and a selection have menus", async () => {
    const { page, done } = await stage.visit("", { width: 1440 });
    await opened(page);
    await box(page, "Message:A").click({ button: "right" });
    const menu = page.getByRole("menu", { name: "Menu of the step" });
    await menu.getByRole("menuitem", { name: /^Duplicate/ }).waitFor();
    await audit(page, "the menu of a step");
    await page.keyboard.press("Escape");
    await counted(page.getByRole("menu"), 0);
    await box(page, "Message:A").click({ button: "right" });
    await menu.getByRole("menuitem", { name: /^Duplicate/ }).click();
    await counted(boxes(page), 4);
    const places = await Promise.all((await boxes(page).all()).map((each) => each.boundingBox()));
    const cover = places.some((a, i) => places.some((b, j) => i < j && a && b &&
      a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height));
    assert.equal(cover, false, "a copy stands beside the others");
    await page.keyboard.press("Control+z");
    await counted(boxes(page), 3);

    const edge = page.locator(".react-flow__edge").first().locator(".react-flow__edge-interaction");
    await edge.click({ button: "right", force: true });
    const ofEdge = page.getByRole("menu", { name: "Menu of the connection" });
    await ofEdge.getByRole("menuitem", { name: "Delete" }).click();
    await counted(page.locator(".react-flow__edge"), 1);
    await page.keyboard.press("Control+z");
    await counted(page.locator(".react-flow__edge"), 2);

    await page.locator(".board").focus();
    await page.keyboard.press("Control+a");
    await box(page, "Message:B").click({ button: "right" });
    await page.getByRole("menu", { name: "Menu of the selection" }).waitFor();
    await page.keyboard.press("Escape");
    await done();
  });

  test("the menu is walked by keys, and a double click adds a step where it is", async () => {
    const { page, done } = await stage.visit("", { width: 1440 });
    await opened(page);
    const pane = page.locator(".react-flow__pane");
    await pane.click({ button: "right", position: { x: 300, y: 700 } });
    const menu = page.getByRole("menu", { name: "Menu of the canvas" });
    await menu.getByRole("menuitem", { name: /^Add a? ?step/ }).waitFor();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.locator(".palette").waitFor();
    await page.keyboard.press("Escape");
    await counted(page.locator(".palette"), 0);
    await pane.dblclick({ position: { x: 420, y: 720 } });
    await page.locator(".palette").getByRole("combobox").or(page.locator(".palette input")).first().fill("reply");
    await page.keyboard.press("Enter");
    await counted(boxes(page), 4);
    const added = await page.locator(".react-flow__node.selected").boundingBox();
    const board = await page.locator(".board").boundingBox();
    assert.ok(added && board);
    assert.ok(Math.abs(added.x - board.x - 420) < 20 && Math.abs(added.y - board.y - 720) < 20, JSON.stringify(added));
    await done();
  });
});
