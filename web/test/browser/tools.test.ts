// Tools of a canvas in the page: a stand-in answers, or the tool of the host for those who are
// signed in, and the card and the page of the node say which.

import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { serveHost, type Served } from "./host.ts";
import { allow, ask, missing, raise, type Stage } from "./stage.ts";

const canvasOf = (service: string): object => ({
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["TavilySearch:S"], upstream: [] },
    "TavilySearch:S": {
      obj: { component_name: "TavilySearch", params: { query: "sys.query", api_key: "key", base_url: service } },
      downstream: ["Message:M"], upstream: ["begin"],
    },
    "Message:M": {
      obj: { component_name: "Message", params: { content: ["{TavilySearch:S@formalized_content}"] } },
      downstream: [], upstream: ["TavilySearch:S"],
    },
  },
});

describe("tools in the page", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  let service: Server;
  let address = "";
  let asked = 0;

  before(async () => {
    service = createServer((_request, response) => {
      asked++;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ results: [{ title: "T", url: "http://a.example", content: "coats of wool" }] }));
    });
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    host = await serveHost("--allow-private");
    const answer = await fetch(host.address + "/api/v2/canvases", {
      method: "POST", headers: { authorization: `Bearer ${host.key}`, "content-type": "application/json" },
      body: JSON.stringify({ title: "Searches", dsl: canvasOf(address) }),
    });
    assert.equal(answer.status, 201);
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
    service?.close();
  });

  // routed waits for the mark on the card of the search, and for the line on its page.
  async function routed(page: Page, mark: string, line: string): Promise<void> {
    const card = page.locator('.react-flow__node:has(small:has-text("Tavily"))');
    await card.locator(".badge.route", { hasText: mark }).waitFor();
    await card.click();
    await page.locator("#tab-node").click();
    await page.locator(".inspector .route", { hasText: line }).waitFor();
  }

  test("a stand-in answers for those who are not signed in", async () => {
    const { page, done } = await stage.visit();
    await page.setInputFiles('input[type="file"][accept*="json"]', {
      name: "searches.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(canvasOf(address))),
    });
    await allow(page);
    await ask(page, "coats");
    await routed(page, "Mock answer", "TavilySearch: mock answer, nothing outside was asked");
    assert.equal(asked, 0);
    await done();
  });

  test("the tool of the host answers for those who are signed in", async () => {
    const { page, done } = await stage.visit();
    await page.getByRole("button", { name: "Show the canvases of this host" }).click();
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("button", { name: /Searches/ }).click();
    await ask(page, "coats");
    await page.locator(".transcript", { hasText: "coats of wool" }).waitFor();
    await routed(page, "Host tool", "TavilySearch: answered by the tool of your host");
    assert.equal(asked, 1);
    await done(/status of 401/);
  });
});
