// The views of a host with typical content: documents in several states, canvases, runs.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { parsed, serveHost, type Served } from "./host.ts";
import { raise, type Stage } from "./stage.ts";
import { modelVendor } from "./vendor.ts";

/** HostShot is a view: its name, address, and the actions that lead to it after the login. */
export type HostShot = [name: string, hash: string, act: (page: Page) => Promise<void>];

/** HostTour is a host with its views. */
export interface HostTour {
  stage: Stage;
  shots: HostShot[];
  enter(page: Page): Promise<void>;
  close(): Promise<void>;
}

/** hostTour starts a host and fills it. */
export async function hostTour(): Promise<HostTour> {
  const folder = mkdtempSync(join(tmpdir(), "easel-prices-"));
  writeFileSync(join(folder, "prices.json"), JSON.stringify({ small: { input: 100, output: 400 } }));
  const host = await serveHost("--allow-private", "--prices", join(folder, "prices.json"));
  const vendor = await modelVendor();
  const stage = await raise({ at: host.address + "/" });
  const dataset = await addDataset(host);
  await addCanvases(host, `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`);
  addPlugin(host, join(folder, "mail"));
  return {
    stage,
    shots: [...knowledgeShots(dataset), ...areaShots],
    async enter(page) {
      await page.getByLabel(/API key|密钥/).fill(host.key);
      await page.locator(".sign-in button").click();
    },
    async close() {
      await stage.close();
      await host.close();
      vendor.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function post({ address, key }: Served, path: string, body: unknown, method = "POST"): Promise<{ id: string }> {
  const answer = await fetch(`${address}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as { id: string };
}

async function addDataset(host: Served): Promise<string> {
  const { id } = await post(host, "/datasets", {
    name: "Shop handbook",
    description: "What customers ask about returns, shipping and gift cards",
  });
  for (const [name, text] of [
    [
      "returns.md",
      "# Returns\n\nGoods can be returned within thirty days.\n\n## Sale items\n\nThey can be exchanged.",
    ],
    [
      "shipping.md",
      "# Shipping\n\nParcels leave the warehouse on weekdays. Express parcels cost nine euros.",
    ],
    ["prices.csv", "Item,Price\nTea pot,24\nCup,8\n"],
    ["scan.pdf", "no PDF"],
    ["later.txt", "A note for later"],
  ] as const) {
    const form = new FormData();
    form.append("file", new Blob([text]), name);
    await fetch(`${host.address}/api/v2/datasets/${id}/documents?parse=${name !== "later.txt"}`, {
      method: "POST",
      headers: { authorization: `Bearer ${host.key}` },
      body: form,
    });
  }
  await post(host, "/datasets", { name: "Recipes" });
  await parsed(host, id);
  return id;
}

async function addCanvases(host: Served, models: string): Promise<void> {
  await post(host, "/canvases", {
    title: "Cut a handbook",
    dsl: {
      components: {
        File: { obj: { component_name: "File", params: {} }, downstream: ["Parser:A"], upstream: [] },
        "Parser:A": {
          obj: {
            component_name: "Parser",
            params: { setups: { "text&markdown": { suffix: ["md"], output_format: "json" } } },
          },
          downstream: ["TokenChunker:B"],
          upstream: ["File"],
        },
        "TokenChunker:B": {
          obj: { component_name: "TokenChunker", params: { chunk_token_size: 40, delimiters: ["\n"] } },
          downstream: [],
          upstream: ["Parser:A"],
        },
      },
    },
  });
  const echo = await post(host, "/canvases", {
    title: "Customer greeting",
    dsl: {
      components: {
        begin: { obj: { component_name: "Begin", params: {} }, downstream: ["LLM:C"], upstream: [] },
        "LLM:C": {
          obj: { component_name: "LLM", params: { prompts: [{ role: "user", content: "{sys.query}" }] } },
          downstream: ["Message:B"],
          upstream: ["begin"],
        },
        "Message:B": {
          obj: { component_name: "Message", params: { content: ["{LLM:C@content}"] } },
          downstream: [],
          upstream: ["LLM:C"],
        },
      },
    },
  });
  await post(host, "/providers/Local", { base_url: models, key: "sk", models: [{ name: "small" }] }, "PUT");
  await post(host, `/canvases/${echo.id}/publish`, {});
  for (const query of ["When do you open?", "Can I return a cup?", "Danke"]) {
    const headers = {
      authorization: `Bearer ${host.key}`, "content-type": "application/json", accept: "text/event-stream",
    };
    await (
      await fetch(`${host.address}/api/v2/canvases/${echo.id}/runs`, {
        method: "POST",
        headers,
        body: JSON.stringify({ query }),
      })
    ).text();
  }
}

function addPlugin(host: Served, folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, "plugin.js"), `export const manifest = { abi: 1, name: "mail", version: "1.0.0",
  description: "Reads the mails of a mailbox.", params: { type: "object" },
    permissions: { http: { hosts: ["mail.example"], reason: "Reads mails." },
      kv: { bytes: 20000, reason: "Remembers what it has read." } } };
  export default () => ({ outputs: {} });`);
  execFileSync(host.program, ["plugin", "install", folder, "--plugins", join(host.folder, "data", "plugins"), "--yes"]);
}

const ready = async (page: Page): Promise<void> => page.locator('.entries > li[data-state="failed"]').waitFor();

function knowledgeShots(id: string): HostShot[] {
  return [
    ["knowledge", "#knowledge", async (page) => page.locator(".area a.card").first().waitFor()],
    [
      "documents",
      `#knowledge=${id}`,
      async (page) => {
        await page.locator(".fault button").click();
        await ready(page);
        await page.locator(".entries input").nth(0).check();
      },
    ],
    [
      "chunks",
      `#knowledge=${id}`,
      async (page) => {
        await page.locator(".fault button").click();
        await ready(page);
        await page.getByRole("link", { name: "returns.md" }).click();
        await page.locator(".chunk-card").first().waitFor();
      },
    ],
    [
      "search",
      `#knowledge=${id}`,
      async (page) => {
        await page.locator(".fault button").click();
        await page.locator("#dataset-search").click();
        await page.locator('.search-test input[type="search"]').fill("When are goods returned?");
        await page.keyboard.press("Enter");
        await page.locator(".chunk-card").first().waitFor();
      },
    ],
    [
      "settings",
      `#knowledge=${id}`,
      async (page) => {
        await page.locator(".fault button").click();
        await page.locator("#dataset-settings").click();
        await page.locator(".dataset-settings").waitFor();
      },
    ],
  ];
}

const handbook = Array.from(
  { length: 9 },
  (_, i) =>
    `## Rule ${i + 1}\n\nGoods of kind ${i + 1} can be returned within ${i + 10} days when unused.`,
).join("\n\n");

const areaShots: HostShot[] = [
[
    "runs",
    "#runs",
    async (page) => {
      await page.locator(".entries.runs > li").nth(2).waitFor();
      await page.locator(".entries input").nth(0).check();
    },
  ],
  [
    "compare",
    "#runs",
    async (page) => {
      await page.locator(".entries.runs > li").nth(2).waitFor();
      for (const i of [0, 1]) await page.locator(".entries input").nth(i).check();
      await page.locator(".tools button.primary").click();
      await page.locator(".compare tbody tr").nth(3).waitFor();
    },
  ],
  [
    "run",
    "#runs",
    async (page) => {
      await page.locator(".entries.runs > li .acts button").first().click();
      await page.locator(".steps .step").nth(2).waitFor();
      await page.locator("#tab-chat").click();
      await page.locator(".where").waitFor();
    },
  ],
  ["home", "#host", async (page) => page.locator(".on-host .card").first().waitFor()],
  ...["models", "secrets", "plugins", "mcp", "schedules", "keys", "users", "usage", "tenants", "health"].map(
    (name): HostShot => [
      `settings-${name}`,
      `#settings=${name}`,
      async (page) => {
        await page.locator(".settings-view").waitFor();
        await page.locator(".settings-view .spinner").waitFor({ state: "detached" });
        if (name !== "plugins" && name !== "models") return;
        await page.locator(".settings-view .adder > summary").last().click();
      },
    ],
  ),
  ...["release", "history", "api", "embed", "webhook", "schedules"].map((name): HostShot => [
    `publish-${name}`,
    "#host",
    async (page) => {
      await page.locator(".on-host .card", { hasText: "Customer greeting" }).click();
      await page.locator(".bar").getByRole("button", { name: /^(Publish|发布)$/ }).click();
      await page.locator(`#section-${name}`).click();
      await page.locator("#publish-page .spinner").waitFor({ state: "detached" });
    },
  ]),
  [
    "picker",
    "#host",
    async (page) => {
      await page.locator(".on-host .card").first().waitFor();
      await page.locator(".card.new").click();
      await page.locator(".box").first().waitFor();
      await page.locator(".board").focus();
      await page.keyboard.press("a");
      await page.locator(".palette input:focus").waitFor();
      await page.keyboard.type("retrieval");
      await page.keyboard.press("Enter");
      await page
        .locator(".react-flow__node", { has: page.locator('[data-hue="knowledge"]') })
        .first()
        .click();
      await page.locator("#tab-node").click();
      await page.locator(".datasets select").first().selectOption({ index: 1 });
    },
  ],
  [
    "pipeline",
    "#host",
    async (page) => {
      await page.locator(".on-host .card", { hasText: "Cut a handbook" }).click();
      await page
        .locator('.pipeline input[type="file"]')
        .setInputFiles({ name: "handbook.md", mimeType: "text/markdown", buffer: Buffer.from(handbook) });
      await page.locator(".stations .facts").nth(1).waitFor();
    },
  ],
  [
    "bench",
    "#host",
    async (page) => {
      await page.locator(".on-host .card", { hasText: "Cut a handbook" }).click();
      await page
        .locator('.pipeline input[type="file"]')
        .setInputFiles({ name: "handbook.md", mimeType: "text/markdown", buffer: Buffer.from(handbook) });
      await page.locator(".stations .facts").nth(1).waitFor();
      await page.locator(".pipeline .tools button.primary").click();
      await page.locator(".column .piece").last().click();
    },
  ],
];
