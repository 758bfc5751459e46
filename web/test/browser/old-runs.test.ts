// Runs of days ago in the page: listed with question and answer, opened with their steps, compared
// and saved as a test; and why a run is no longer kept.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveClocked, type Clocked } from "./host.ts";
import { missing, press, raise, type Stage } from "./stage.ts";

const refused = /status of 401/;

const node = (name: string, params: object, downstream: string[], upstream: string[] = []): object => ({
  obj: { component_name: name, params },
  downstream,
  upstream,
});
const shop = {
  components: {
    begin: node("Begin", {}, ["LLM:C"]),
    "LLM:C": node("LLM", { prompts: [{ role: "user", content: "{sys.query}" }] }, ["Message:B"], ["begin"]),
    "Message:B": node("Message", { content: ["You asked: {sys.query}. {LLM:C@content}"] }, [], ["LLM:C"]),
  },
};

const field = { name: "City", type: "line", optional: false };
const asking = {
  components: {
    begin: node("Begin", {}, ["UserFillUp:F"]),
    "UserFillUp:F": node("UserFillUp", { enable_tips: true, tips: "Where?", inputs: { city: field } }, ["Message:M"], [
      "begin",
    ]),
    "Message:M": node("Message", { content: ["To {UserFillUp:F@city}"] }, [], ["UserFillUp:F"]),
  },
};

describe("runs of days ago", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Clocked;
  let stage: Stage;
  let canvas = "";

  const api = async (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${host.address}/api/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${host.key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const json = async (answer: Promise<Response>): Promise<Record<string, unknown>> =>
    (await (await answer).json()) as Record<string, unknown>;
  const run = async (query: string, user: string): Promise<string> => {
    const { id } = await json(api("POST", `/canvases/${canvas}/runs`, { query, user }));
    const events = await api("GET", `/runs/${String(id)}/events`);
    assert.match(await events.text(), /event: end/);
    return String(id);
  };
  const enter = async (page: Page): Promise<void> => {
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
  };

  before(async () => {
    host = await serveClocked();
    canvas = String((await json(api("POST", "/canvases", { title: "Shop", dsl: shop })))["id"]);
    const first = await run("How long do I have to send back boots?", "anna");
    await run("Do you ship to Norway?", "ben");
    const form = String((await json(api("POST", "/canvases", { title: "Form", dsl: asking })))["id"]);
    const { id: asked } = await json(api("POST", `/canvases/${form}/runs`, { query: "parcel" }));
    assert.match(await (await api("GET", `/runs/${String(asked)}/events`)).text(), /event: end/);
    const { id: answered } = await json(api("POST", `/runs/${String(asked)}/resume`, { inputs: { city: "Oslo" } }));
    assert.match(await (await api("GET", `/runs/${String(answered)}/events`)).text(), /To Oslo/);
    const edited = structuredClone(shop);
    edited.components["Message:B"] = node("Message", { content: ["Edited since."] }, [], ["LLM:C"]);
    assert.equal((await api("PUT", `/canvases/${canvas}`, { dsl: edited, rev: 1 })).status, 200);
    await host.later(48);
    stage = await raise({ at: host.address + "/" });
    const rerun = await api("POST", `/runs/${first}/rerun`, { node: "Message:B" });
    assert.equal(rerun.status, 410, "the log of the run is gone");
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  test("are found by question, user and day, and open with their steps", async () => {
    const { page, done } = await stage.visit("#runs");
    await enter(page);
    const rows = page.locator(".entries.runs > li");
    await rows.nth(1).waitFor();
    const boots = rows.filter({ hasText: "send back boots" });
    await boots.getByText("You asked: How long do I have").waitFor();
    await page.getByLabel("User", { exact: true }).fill("ben");
    await boots.waitFor({ state: "detached" });
    await rows.filter({ hasText: "Norway" }).waitFor();
    await page.getByLabel("User", { exact: true }).fill("");
    await boots.waitFor();
    const day = (later: number): string => {
      const date = new Date(Date.now() + later * 86_400_000);
      return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
    };
    await page.getByLabel("From", { exact: true }).fill(day(1));
    await page.getByText("No matches.").waitFor();
    await page.getByLabel("From", { exact: true }).fill(day(-1));
    await page.getByLabel("To", { exact: true }).fill(day(0));
    await boots.waitFor();
    await audit(page, "runs of days ago");
    await boots.getByRole("button", { name: "Open", exact: true }).click();
    await page.locator(".steps .step").nth(2).waitFor();
    await page.locator('.box[data-status="succeeded"]').nth(2).waitFor();
    await done(refused);
  });

  test("are compared, saved as a test that passes, and downloaded as a case", async () => {
    const { page, done } = await stage.visit("#runs");
    await enter(page);
    const rows = page.locator(".entries.runs > li", { hasText: "Shop" });
    await rows.nth(1).waitFor();
    await rows.first().getByRole("checkbox").check();
    await rows.last().getByRole("checkbox").check();
    await page.getByRole("button", { name: /^Compare/ }).click();
    await page.locator(".compare [data-differs]", { hasText: "Norway" }).first().waitFor();
    await page.getByRole("button", { name: "Back to the runs" }).click();
    const boots = rows.filter({ hasText: "send back boots" });
    const download = page.waitForEvent("download");
    await boots.getByRole("button", { name: "Download as a case" }).click();
    const file = join(host.folder, "case.json");
    await (await download).saveAs(file);
    const played = spawnSync(host.program, ["test", file, "-v"], { encoding: "utf8" });
    assert.match(played.stdout, /1 passed, 0 failed/, played.stderr);
    await boots.getByRole("button", { name: "Save as a test" }).click();
    await boots.getByRole("button", { name: "Saved as a test" }).waitFor();
    await boots.getByRole("button", { name: "Open", exact: true }).click();
    await page.locator("#tab-tests").click();
    await page.locator(".cases b", { hasText: "send back boots" }).waitFor();
    await page.getByRole("button", { name: "Run all" }).click();
    await page.getByText("0 passed, 1 failed, 0 not played").waitFor(); // the canvas was edited since
    await done(refused);
  });

  test("that answer a form become a test of that part", async () => {
    const { page, done } = await stage.visit("#runs");
    await enter(page);
    const answered = page.locator(".entries.runs > li", { hasText: "To Oslo" });
    await answered.getByRole("button", { name: "Save as a test" }).click();
    await answered.getByRole("button", { name: "Saved as a test" }).waitFor();
    await answered.getByRole("button", { name: "Open", exact: true }).click();
    await page.locator("#tab-tests").click();
    await page.getByRole("button", { name: "Run all" }).click();
    await page.getByText("1 passed, 0 failed, 0 not played").waitFor();
    await done(refused);
  });

  test("that are no longer kept name the reason", async () => {
    assert.equal((await api("PUT", "/settings/traces", { days: 1 })).status, 200);
    await host.later(96);
    const { page, done } = await stage.visit("#runs");
    await enter(page);
    const boots = page.locator(".entries.runs > li").last();
    await boots.getByText("older than the days of the settings").waitFor();
    assert.equal(await boots.getByRole("button", { name: "Open", exact: true }).isDisabled(), true);
    assert.equal(await boots.getByRole("button", { name: "Save as a test" }).isDisabled(), true);
    await audit(page, "runs that are not kept");
    assert.equal((await api("PUT", "/settings/traces", { days: 0 })).status, 200);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("status").filter({ hasText: "The settings keep no runs" }).waitFor();
    await press(page, "中文");
    await page.getByText("设置为不保留运行").first().waitFor();
    await done(refused);
  });

  test("whose key may not read traces say so", async () => {
    const { key } = await json(api("POST", "/keys", { name: "reader", scopes: ["read"] }));
    const { page, done } = await stage.visit("#runs");
    await page.getByLabel("API key").fill(String(key));
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("You may not read what steps got and returned").waitFor();
    await done(refused);
  });
});
