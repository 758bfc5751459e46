// The runs of a host in the page: started there, listed, opened on the canvas, run again from a
// node, compared, and saved as a case for `easel test`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { ask, missing, press, raise, type Stage } from "./stage.ts";

const refused = /status of 401/;

const node = (name: string, params: object, downstream: string[], upstream: string[] = []): object => ({
  obj: { component_name: name, params },
  downstream,
  upstream,
});
const echo = {
  components: {
    begin: node("Begin", {}, ["StringTransform:A"]),
    "StringTransform:A": node(
      "StringTransform",
      { method: "merge", script: "You said {sys.query}", delimiters: [","] },
      ["LLM:C"],
      ["begin"],
    ),
    "LLM:C": node(
      "LLM",
      { prompts: [{ role: "user", content: "{StringTransform:A@result}" }] },
      ["Message:B"],
      ["StringTransform:A"],
    ),
    "Message:B": node("Message", { content: ["{StringTransform:A@result}. {LLM:C@content}"] }, [], ["LLM:C"]),
  },
};

describe("runs of a host", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  let canvas = "";

  before(async () => {
    host = await serveHost();
    stage = await raise({ at: host.address + "/" });
    canvas = String((await api("POST", "/canvases", { title: "Echo", dsl: echo }))["id"]);
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  const api = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${host.key}`, "content-type": "application/json" };
    const answer = await fetch(`${host.address}/api/v2${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const enter = async (page: Page): Promise<void> => {
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
  };
  const total = async (): Promise<number> => Number((await api("GET", `/runs?canvas=${canvas}`))["total"]);

  test("a canvas runs at the place of the switch, and the chat names it", async () => {
    const { page, done } = await stage.visit("#host");
    await enter(page);
    await page.getByRole("button", { name: /^Echo/ }).click();
    await ask(page, "hello");
    await page.locator(".bubble.theirs", { hasText: "You said hello" }).waitFor();
    await page.getByText(/^in this page ·/).waitFor();
    assert.equal(await total(), 0, "a run in the page is none of the host");
    await page.getByLabel("Run on the host").check();
    await ask(page, "good evening");
    await page.locator(".bubble.theirs", { hasText: "You said good evening" }).waitFor();
    await page.getByText(/^on the host ·/).waitFor();
    await page.locator('.box[data-status="succeeded"]').first().waitFor();
    assert.equal(await total(), 1);
    await page.locator('.react-flow__node[data-id="StringTransform:A"]').click();
    await page.locator("#tab-node").click();
    await page.getByRole("button", { name: "Run from here" }).click();
    await page.locator("#tab-chat").click();
    await page.locator(".bubble.theirs", { hasText: "You said good evening" }).nth(1).waitFor();
    await page
      .getByText(/^on the host ·/)
      .nth(1)
      .waitFor();
    assert.equal(await total(), 2, "the host ran it again from the node");
    await audit(page, "chat with the switch");
    await done(refused);
  });

  test("a run is found by canvas and status, opened with its timeline, and stepped through", async () => {
    await api("POST", "/canvases", { title: "Never run", dsl: echo });
    const { page, done } = await stage.visit("#runs");
    await enter(page);
    await page.locator(".entries.runs > li").nth(1).waitFor();
    await page.getByLabel("Canvas", { exact: true }).selectOption({ label: "Never run" });
    await page.getByText("No matches.").waitFor();
    await page.getByLabel("Canvas", { exact: true }).selectOption({ label: "Echo" });
    await page.getByLabel("Status", { exact: true }).selectOption("failed");
    await page.getByText("No matches.").waitFor();
    await page.getByLabel("Status", { exact: true }).selectOption("succeeded");
    await page.getByLabel("Source", { exact: true }).selectOption("v2");
    await page.locator(".entries.runs > li").nth(1).waitFor();
    await audit(page, "runs");
    await page.locator(".entries.runs > li").last().getByRole("button", { name: "Open" }).click();
    await page.locator("h1.title", { hasText: "Echo" }).waitFor();
    await page.locator(".steps .step").nth(3).waitFor();
    await page.locator('.box[data-status="succeeded"]').nth(3).waitFor();
    await page.getByRole("button", { name: "First record" }).click();
    await page.waitForFunction(() => document.querySelectorAll('.box[data-status="succeeded"]').length === 0);
    await done(refused);
  });

  test("a run of an agent with a tool becomes a case with the answers of both", async () => {
    const helper = { component_name: "Agent", name: "Helper", params: { description: "helps", llm_id: "", tools: [] } };
    const agents = {
      components: {
        begin: node("Begin", {}, ["Agent:A"]),
        "Agent:A": node(
          "Agent",
          { llm_id: "", prompts: [{ role: "user", content: "{sys.query}" }], tools: [helper] },
          ["Message:M"],
          ["begin"],
        ),
        "Message:M": node("Message", { content: ["{Agent:A@content}"] }, [], ["Agent:A"]),
      },
    };
    const id = String((await api("POST", "/canvases", { title: "Agents", dsl: agents }))["id"]);
    const run = String((await api("POST", `/canvases/${id}/runs`, { query: "help me" }))["id"]);
    const { page, done } = await stage.visit("#runs");
    await enter(page);
    const row = page.locator(".entries.runs > li", { hasText: "Agents" });
    await row.locator(".badge", { hasText: "succeeded" }).waitFor();
    const events = await fetch(`${host.address}/api/v2/runs/${run}/events`, {
      headers: { authorization: `Bearer ${host.key}` },
    });
    assert.match(await events.text(), /tool_finished/, "the agent called its tool");
    const download = page.waitForEvent("download");
    await row.getByRole("button", { name: "Download as a case" }).click();
    const file = join(host.folder, "agents.json");
    await (await download).saveAs(file);
    const played = spawnSync(host.program, ["test", file, "-v"], { encoding: "utf8" });
    assert.match(played.stdout, /1 passed, 0 failed/, played.stderr);
    await done(refused);
  });

  test("two runs are compared, and one becomes a case for easel test", async () => {
    const session = String((await api("POST", `/canvases/${canvas}/sessions`, {}))["id"]);
    const headers = {
      authorization: `Bearer ${host.key}`,
      "content-type": "application/json",
      accept: "text/event-stream",
    };
    const answer = await fetch(`${host.address}/api/v2/canvases/${canvas}/runs`, {
      method: "POST",
      headers,
      body: JSON.stringify({ query: "something else", session }),
    });
    assert.match(await answer.text(), /event: end/);
    const { page, done } = await stage.visit("#runs");
    await enter(page);
    const rows = page.locator(".entries.runs > li");
    await rows.nth(2).waitFor();
    await rows.first().getByRole("checkbox").check();
    await rows.last().getByRole("checkbox").check();
    await page.getByRole("button", { name: /^Compare/ }).click();
    await page.locator(".compare [data-differs]", { hasText: "something else" }).first().waitFor();
    await page.locator(".compare tbody tr:not([data-differs])", { hasText: "begin" }).waitFor();
    await audit(page, "compare");
    await page.getByRole("button", { name: "Back to the runs" }).click();
    const download = page.waitForEvent("download");
    await rows.first().getByRole("button", { name: "Download as a case" }).click();
    const file = join(host.folder, "case.json");
    await (await download).saveAs(file);
    const played = spawnSync(host.program, ["test", file, "-v"], { encoding: "utf8" });
    assert.match(played.stdout, /1 passed, 0 failed/, played.stderr);
    const { runs } = JSON.parse(readFileSync(file, "utf8")) as {
      runs: { kwargs: { query: string }; llm_script: unknown[] }[];
    };
    assert.deepEqual(
      runs.map(({ kwargs, llm_script: script }) => [kwargs.query, script.length]),
      [["something else", 1]],
    );
    await rows.first().getByRole("button", { name: "Save as a test" }).click();
    await rows.first().getByRole("button", { name: "Saved as a test" }).waitFor();
    await rows.first().getByRole("button", { name: "Open", exact: true }).click();
    await page.getByRole("button", { name: "Save as a test" }).first().waitFor();
    await page.locator("#tab-tests").click();
    await page.locator(".cases b", { hasText: "something else" }).waitFor();
    await page.getByRole("button", { name: "Run all" }).click();
    await page.getByText("1 passed, 0 failed, 0 not played").waitFor();
    await page.getByRole("button", { name: "Save the last run as a test" }).click();
    await page.getByText("2 passed, 0 failed, 0 not played").waitFor();
    await done(refused);
  });

  test("the list fits a phone, in Chinese and dark", async () => {
    const { page, done } = await stage.visit("#runs", { width: 390, height: 844, dark: true });
    await enter(page);
    await page.locator(".entries.runs > li").first().waitFor();
    await press(page, "中文");
    await page.getByRole("heading", { name: "运行记录" }).waitFor();
    await audit(page, "phone");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
    await done(refused);
  });
});
