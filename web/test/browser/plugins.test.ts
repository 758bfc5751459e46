// Plugins of a real host in its page: their settings and secrets, and schedules with plugins that
// start runs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { allow, ask, counted, missing, raise, type Stage } from "./stage.ts";

const refused = /status of 4\d\d/;

// mail starts a run for each request with the token of its schedule.
const mail = `export const manifest = {
  abi: 1, name: "mail", version: "1.0.0", description: "Begins a run for each mail.", trigger: "webhook",
  params: { type: "object", required: ["token"],
    properties: { token: { type: "string", description: "Known to the sender." } } },
  settings: { type: "object", required: ["region"], properties: {
    region: { type: "string", enum: ["eu", "us"] }, days: { type: "integer", default: 3 },
    fast: { type: "boolean" } } },
  permissions: { http: { hosts: ["mail.example"], reason: "Reads mails." },
    secrets: { MAIL_KEY: { hosts: ["mail.example"], reason: "The key of the service." } } },
};
export default ({ params, arguments: { request }, info }) => {
  if (request.query.token !== params.token) throw new PluginError("unauthorized", "wrong token");
  return { items: [{ query: request.body }], response: { body: info.settings.region + info.settings.days } };
};
`;

// price reads a price with a key of the host, and remembers it.
const price = `export const manifest = {
  abi: 1, name: "price", version: "1.1.0", description: "Reads a price.",
  arguments: { type: "object", properties: { of: { type: "string" } } },
  outputs: { type: "object", properties: { text: { type: "string" } } },
  permissions: { http: { hosts: ["127.0.0.1"], private: true, reason: "Reads the price." },
    secrets: { SHOP_KEY: { hosts: ["127.0.0.1"], reason: "The key of the shop." } } },
};
export default (call) => {
  const headers = { "X-Key": call.secret("SHOP_KEY") };
  const { status, body } = call.fetch({ url: "ADDRESS/" + call.arguments.of, headers });
  return { text: status + " " + body };
};
`;

// order returns its params and arguments.
const order = `export const manifest = {
  abi: 1, name: "order", version: "1.0.0", description: "Orders tea.",
  params: { type: "object", properties: { shop: { type: "string", "x-easel-ref": true } } },
  arguments: { type: "object", required: ["tea", "grams"], properties: {
    tea: { type: "string", enum: ["green", "black"] }, grams: { type: "integer" }, gift: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } }, note: { type: "string" } } },
};
export default ({ params, arguments: given }) => ({ text: JSON.stringify({ ...params, ...given }) });
`;

const orders = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["P"], upstream: [] },
    P: {
      obj: { component_name: "plugin:order@1", params: { shop: "{sys.query}", note: "from {sys.user_id}" } },
      downstream: ["M"], upstream: ["begin"],
    },
    M: { obj: { component_name: "Message", params: { content: ["{P@text}"] } }, downstream: [], upstream: ["P"] },
  },
};

const canvas = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["M"], upstream: [] },
    M: {
      obj: { component_name: "Message", params: { content: ["{sys.query}"] } }, downstream: [], upstream: ["begin"],
    },
  },
};

const prices = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["P"], upstream: [] },
    P: {
      obj: { component_name: "plugin:price@1", params: { of: "{sys.query}" } }, downstream: ["M"], upstream: ["begin"],
    },
    M: { obj: { component_name: "Message", params: { content: ["{P@text}"] } }, downstream: [], upstream: ["P"] },
  },
};

describe("plugins of a host", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  let host: Served;
  before(async () => {
    host = await serveHost();
    const source = join(host.folder, "mail");
    mkdirSync(source);
    writeFileSync(join(source, "plugin.js"), mail);
    const plugins = join(host.folder, "data", "plugins");
    execFileSync(host.program, ["plugin", "install", source, "--plugins", plugins, "--yes"]);
    while ((await api<{ items: unknown[] }>("GET", "/plugins")).items.length === 0); // the host sees it soon
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${host.key}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${host.address}/api/v2${path}`, { method, headers, ...sent });
    return (await answer.json()) as T;
  }

  async function enter(page: Page): Promise<void> {
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
  }

  test("settings and secrets are set in one form", async () => {
    const { page, done } = await stage.visit("#settings=plugins");
    await enter(page);
    const row = page.locator(".settings-list li", { hasText: "plugin:mail@1" });
    await row.getByText("begins runs with requests to a schedule").waitFor();
    await row.getByText("MAIL_KEY is missing").waitFor();
    await row.locator("summary", { hasText: "Settings" }).click();
    await row.getByText("Required and not set: region").waitFor();
    await audit(page, "settings of a plugin");
    await row.getByLabel("region").selectOption("eu");
    await row.getByLabel("days").fill("7");
    await row.getByLabel("MAIL_KEY").fill("sesame");
    await row.getByRole("button", { name: "Save" }).click();
    await row.getByRole("status").getByText("Saved").waitFor();
    await row.getByText("MAIL_KEY is stored").waitFor();
    assert.equal((await page.content()).includes("sesame"), false);
    const kept = await api<{ values: unknown; secrets: { set: boolean }[] }>("GET", "/plugins/mail@1/settings");
    assert.deepEqual(kept.values, { region: "eu", days: 7 });
    assert.equal(kept.secrets[0]!.set, true);

    await row.getByLabel("days").fill("7.5");
    await row.getByRole("button", { name: "Save" }).click();
    await row.locator(".fault", { hasText: "setting days: want integer" }).waitFor();
    await row.getByLabel("days").fill("");
    await row.getByRole("button", { name: "Save" }).click();
    await row.getByRole("status").getByText("Saved").waitFor();
    assert.deepEqual((await api<{ values: unknown }>("GET", "/plugins/mail@1/settings")).values, { region: "eu" });
    await done(refused);
  });

  test("the limit for all plugins is chosen in parts, and counts at once", async () => {
    const { page, done } = await stage.visit("#settings=plugins");
    await enter(page);
    const row = page.locator(".settings-list li", { hasText: "plugin:mail@1" });
    await row.getByText("requests to mail.example · secrets: MAIL_KEY").waitFor();
    await page.locator("summary", { hasText: "Choose permissions" }).click();
    const form = page.locator(".adder[open] form");
    await form.getByLabel("Hosts, separated by commas").fill("mail.example, *.shop.example");
    for (const part of ["Secrets in requests", "Model calls", "Embeddings", "Storage", "Variables of the run"])
      await form.getByLabel(part, { exact: true }).uncheck();
    for (const part of ["Reading files of runs", "Storing files", "Precise clock"])
      await form.getByLabel(part, { exact: true }).uncheck();
    await audit(page, "permissions in parts");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("whatever was approved: requests to mail.example, *.shop.example").waitFor();
    await row.getByText("secrets: MAIL_KEY").waitFor({ state: "detached" });
    const { grant } = await api<{ grant: object }>("GET", "/plugins/grant");
    assert.deepEqual(grant, { http: { hosts: ["mail.example", "*.shop.example"], methods: ["*"], private: true } });

    await page.getByRole("button", { name: "Remove the limit" }).click();
    await row.getByText("secrets: MAIL_KEY").waitFor();
    assert.equal((await api<{ grant: unknown }>("GET", "/plugins/grant")).grant, null);
    await done(refused);
  });

  test("a plugin of the page gets the permissions that are allowed one by one", async () => {
    const { page, done } = await stage.visit();
    await page.getByRole("button", { name: /^Model/ }).click();
    const packed = join(host.folder, "mail.wasm");
    execFileSync(host.program, ["plugin", "pack", join(host.folder, "mail"), "-o", packed]);
    await page.getByLabel("Add a plugin").setInputFiles(packed);
    const entry = page.locator(".plugins li", { hasText: "mail" });
    await entry.getByText("Reads mails.").waitFor();
    await counted(entry.getByRole("checkbox", { checked: true }), 0);
    await entry.getByLabel(/^Requests/).click();
    await counted(entry.getByRole("checkbox", { checked: true }), 1);
    await entry.getByRole("button", { name: "Allow all" }).click();
    await counted(entry.getByRole("checkbox", { checked: true }), 2);
    await entry.getByLabel(/^Secrets/).click();
    await counted(entry.getByRole("checkbox", { checked: true }), 1);
    await audit(page, "permissions of a plugin of the page");
    await done();
  });

  test("a canvas of the host runs in the page with the plugins of the host", async (t) => {
    const shop = createServer((request, response) => {
      response.end(`${request.url!.slice(1)} costs 7 with ${request.headers["x-key"]}`);
    });
    await new Promise<void>((resolve) => shop.listen(0, "127.0.0.1", resolve));
    t.after(() => shop.close()); // else the process stays after a failure
    const { port } = shop.address() as AddressInfo;
    const source = join(host.folder, "price");
    mkdirSync(source);
    const at = `127.0.0.1:${port}`;
    const text = price.replace("ADDRESS", `http://${at}`).replaceAll('"127.0.0.1"', `"${at}"`);
    writeFileSync(join(source, "plugin.js"), text);
    const plugins = join(host.folder, "data", "plugins");
    execFileSync(host.program, ["plugin", "install", source, "--plugins", plugins, "--yes"]);
    while (!(await api<{ items: { name: string }[] }>("GET", "/plugins")).items.some(({ name }) => name === "price"));
    await api("PATCH", "/plugins/price@1/settings", { secrets: { SHOP_KEY: "sesame" } });
    const { id } = await api<{ id: string }>("POST", "/canvases", { title: "Prices", dsl: prices });
    const { page, done } = await stage.visit(`#canvas=${id}`);
    await enter(page);
    const offer = page.getByRole("region", { name: "Plugins" });
    await offer.getByText("This page does not have plugins of this canvas: price@1.").waitFor();
    await audit(page, "plugins of the host that the page does not have");
    await offer.getByRole("button", { name: "Load from the host" }).click();
    await offer.getByText("Reads the price.").waitFor();
    await counted(offer.getByRole("checkbox", { checked: true }), 0);
    await audit(page, "permissions of a plugin of the host");
    await ask(page, "apple");
    await page.getByText("http.fetch is not granted").first().waitFor();
    await page.locator('.react-flow__node[data-id="P"]').click();
    await page.getByText("price may not use in this page: Requests, Secrets in requests.").waitFor();
    await page.getByRole("button", { name: "Permissions", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Allow all" }).click();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Permissions", exact: true }).waitFor({ state: "detached" });
    await page.locator("#tab-chat").click();
    await counted(offer.getByRole("checkbox", { checked: true }), 2);
    await offer.getByRole("button", { name: "Done" }).click();
    await offer.waitFor({ state: "detached" });
    await ask(page, "pear");
    await page.getByText("200 pear costs 7 with ***").first().waitFor();
    assert.equal((await page.content()).includes("sesame"), false);
    await done(refused);
  });

  test("a plugin runs alone with values of the declared types", async () => {
    const source = join(host.folder, "order");
    mkdirSync(source);
    writeFileSync(join(source, "plugin.js"), order);
    const packed = join(host.folder, "order.wasm");
    execFileSync(host.program, ["plugin", "pack", source, "-o", packed]);
    const { page, done } = await stage.visit();
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.getByLabel("Add a plugin").setInputFiles(packed);
    await page.locator(".plugins li", { hasText: "order" }).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.locator('header input[type="file"]').setInputFiles({
      name: "orders.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(orders)),
    });
    await allow(page);
    await page.locator('.react-flow__node[data-id="P"]').click();
    await page.getByRole("button", { name: /^Run only this/ }).click();
    const form = page.locator("form.alone");
    await form.getByLabel("tea").waitFor();
    assert.deepEqual(await form.getByLabel("tea").locator("option").allInnerTexts(), ["", "green", "black"]);
    await form.getByLabel("tea").selectOption("green");
    await form.getByLabel("grams").fill("100");
    assert.equal(await form.getByLabel("grams").getAttribute("type"), "number");
    await form.getByLabel(/^gift/).check();
    await form.getByLabel(/^tags/).fill('["cold", "new"]');
    await form.getByLabel("sys.query").fill("Tea house");
    await form.getByLabel("sys.user_id").fill("ann");
    await audit(page, "a plugin that runs alone");
    if (process.env["EASEL_PICTURE"]) await page.screenshot({ path: process.env["EASEL_PICTURE"] });
    await form.getByRole("button", { name: /^Run only this/ }).click();
    const want = { shop: "Tea house", tea: "green", grams: 100, gift: true, tags: ["cold", "new"], note: "from ann" };
    const text = page.locator(".values", { hasText: "Outputs" }).getByText("Tea house").filter({ visible: true });
    await text.first().waitFor();
    assert.deepEqual(JSON.parse(await text.first().innerText()), want);
    await done();
  });

  test("a schedule with a plugin shows its address, whose requests begin runs", async () => {
    const { id } = await api<{ id: string }>("POST", "/canvases", { title: "Mails", dsl: canvas });
    await api("POST", `/canvases/${id}/publish`, {});
    const { page, done } = await stage.visit("login");
    await page.getByLabel("Password or API key").fill(host.key);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL((url) => url.pathname === "/");
    await page.goto(`${host.address}/#host`);
    await page.locator(".on-host .cards").waitFor();
    await page.goto(`${host.address}/#canvas=${id}`);
    await page.locator(".box").first().waitFor();
    await page.locator(".bar").getByRole("button", { name: "Publish" }).click();
    const dialog = page.locator("dialog.publish");
    await dialog.locator("#section-schedules").click();
    await dialog.getByLabel("Name").fill("Inbox");
    await dialog.getByLabel("Begins runs").selectOption({ label: "mail" });
    await counted(dialog.getByLabel("When"), 0);
    await dialog.getByLabel("token").fill("t0k");
    await dialog.getByRole("button", { name: "Add schedule" }).click();
    const row = dialog.locator(".schedules li", { hasText: "Inbox" });
    const address = await row.locator("code").innerText();
    await audit(page, "a schedule with a plugin");
    assert.equal((await fetch(`${address}?token=x`, { method: "POST", body: "no" })).status, 401);
    const answer = await fetch(`${address}?token=t0k`, { method: "POST", body: "You have mail" });
    assert.equal(await answer.text(), "eu3");
    const { items } = await api<{ items: { id: string }[] }>("GET", `/runs?canvas=${id}`);
    assert.equal(items.length, 1);
    await done(refused);
  });
});
