// Pictures of the areas of a host, with what a person has there after a day: a dataset of documents
// in several states. Usage: host-screenshots.ts FOLDER [NAME...]

import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { serveHost } from "./host.ts";
import { raise, type Look } from "./stage.ts";

const folder = process.argv[2];
if (!folder) throw new Error("a folder for the pictures is needed");
const only = process.argv.slice(3);
mkdirSync(folder, { recursive: true });
const host = await serveHost();
const stage = await raise({ at: host.address + "/" });
const signed = { authorization: `Bearer ${host.key}` };

async function post(path: string, body: unknown): Promise<{ id: string }> {
  const answer = await fetch(`${host.address}/api/v2${path}`, { method: "POST", headers: { ...signed, "content-type": "application/json" }, body: JSON.stringify(body) });
  return (await answer.json()) as { id: string };
}

const { id } = await post("/datasets", { name: "Shop handbook", description: "What customers ask about returns, shipping and gift cards" });
for (const [name, text] of [
  ["returns.md", "# Returns\n\nGoods can be returned within thirty days. The money is back on the card after five working days.\n\n## Sale items\n\nSale items can be exchanged, not returned."],
  ["shipping.md", "# Shipping\n\nParcels leave the warehouse on weekdays before noon. Express parcels cost nine euros and arrive the next day."],
  ["prices.csv", "Item,Price\nTea pot,24\nCup,8\n"], ["scan.pdf", "no PDF"], ["later.txt", "A note for later"],
] as const) {
  const form = new FormData();
  form.append("file", new Blob([text]), name);
  await fetch(`${host.address}/api/v2/datasets/${id}/documents?parse=${name !== "later.txt"}`, { method: "POST", headers: signed, body: form });
}
await post("/datasets", { name: "Recipes" });

async function enter(page: Page): Promise<void> {
  await page.getByLabel(/API key|密钥/).fill(host.key);
  await page.locator(".sign-in button").click();
}

const ready = async (page: Page): Promise<void> => page.locator('.entries > li[data-state="failed"]').waitFor();
const shots: [name: string, hash: string, act: (page: Page) => Promise<void>][] = [
  ["knowledge", "#knowledge", async (page) => page.locator(".area a.card").first().waitFor()],
  ["documents", `#knowledge=${id}`, async (page) => { await page.locator(".fault button").click(); await ready(page); await page.locator(".entries input").nth(0).check(); }],
  ["chunks", `#knowledge=${id}`, async (page) => {
    await page.locator(".fault button").click();
    await ready(page);
    await page.getByRole("link", { name: "returns.md" }).click();
    await page.locator(".chunk-card").first().waitFor();
  }],
  ["search", `#knowledge=${id}`, async (page) => {
    await page.locator(".fault button").click();
    await page.locator("#dataset-search").click();
    await page.locator('.search-test input[type="search"]').fill("When are goods returned?");
    await page.keyboard.press("Enter");
    await page.locator(".chunk-card").first().waitFor();
  }],
  ["settings", `#knowledge=${id}`, async (page) => {
    await page.locator(".fault button").click();
    await page.locator("#dataset-settings").click();
    await page.locator(".dataset-settings").waitFor();
  }],
];
const looks: [suffix: string, look: Look, chinese: boolean][] = [
  ["", {}, false], ["-dark", { dark: true }, false], ["-phone", { width: 390, height: 844 }, false], ["-chinese", {}, true],
];

try {
  for (const [name, hash, act] of shots) {
    for (const [suffix, look, chinese] of looks) {
      if (only.length > 0 && !only.includes(name) && !only.includes(name + suffix)) continue;
      const { page } = await stage.open(hash, look);
      if (chinese) await page.getByRole("button", { name: "中文" }).click();
      await enter(page);
      await act(page).catch((err: unknown) => { throw new Error(`picture ${name}${suffix}`, { cause: err }); });
      await page.waitForTimeout(250);
      await page.screenshot({ path: `${folder}/${name}${suffix}.png` });
      await page.context().close();
    }
  }
} finally {
  await stage.close();
  await host.close();
}
