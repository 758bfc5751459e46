// Writes pictures of the main views: node --import ../wasm/js/test/strip.mjs test/browser/screenshots.ts FOLDER

import { mkdirSync } from "node:fs";
import { missing, raise } from "./stage.ts";

const folder = process.argv[2] ?? "dist/screenshots";
const why = missing();
if (why) throw new Error(why);
mkdirSync(folder, { recursive: true });
const stage = await raise();

/** Shot is one picture: where to go, what to do there, how large. */
const shots: [name: string, hash: string, more: { dark?: boolean; width?: number; height?: number }, act: (page: Awaited<ReturnType<typeof stage.open>>["page"]) => Promise<void>][] = [
  ["gallery", "", {}, async (page) => { await page.waitForSelector(".card"); }],
  ["run", "#example=tea-house", {}, async (page) => {
    await page.locator(".composer textarea").fill("How hot should the water be for green tea?");
    await page.keyboard.press("Enter");
    await page.locator('.box[data-status="done"]', { hasText: "Answer" }).waitFor();
  }],
  ["loop", "#example=piggy-bank", { dark: true }, async (page) => {
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="done"]', { hasText: "The result" }).waitFor();
    await page.locator("#tab-timeline").click();
  }],
  ["iteration", "#example=meeting-notes", {}, async (page) => {
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="running"]', { hasText: "Make a task" }).waitFor();
  }],
  ["form", "#example=letter", {}, async (page) => {
    await page.getByLabel("To whom?").fill("Ada");
    await page.getByLabel("What is the occasion?").fill("A new telescope");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.box[data-status="waiting"]').waitFor();
  }],
  ["agent", "#example=garden-desk", {}, async (page) => {
    await page.locator(".composer textarea").fill("When do I cut lavender?");
    await page.keyboard.press("Enter");
    await page.locator('.box[data-status="done"]', { hasText: "Answer" }).waitFor();
    await page.locator(".react-flow__node", { hasText: "Gardener" }).click();
  }],
  ["chinese", "#example=morning-paper", { dark: true }, async (page) => {
    await page.getByRole("button", { name: "中文" }).click();
    await page.locator(".composer textarea").fill("雨天");
    await page.keyboard.press("Enter");
    await page.locator('.box[data-status="done"]', { hasText: "小报" }).waitFor();
  }],
  ["settings", "#example=exchange", {}, async (page) => { await page.locator(".react-flow__node", { hasText: "Do the sum" }).click(); }],
  ["model", "#example=exchange", {}, async (page) => { await page.getByRole("button", { name: /Model/ }).click(); }],
  ["narrow", "#example=tea-house", { width: 420, height: 800 }, async (page) => { await page.locator(".box").first().waitFor(); }],
];

try {
  for (const [name, hash, more, act] of shots) {
    const { page } = await stage.open(hash, more);
    await act(page);
    await page.waitForTimeout(250);
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.context().close();
  }
} finally {
  await stage.close();
}
