// Tools of a canvas in the page: the page calls services that allow requests of pages, tools of
// the host call others for signed-in users, and else a stand-in answers. The card and the
// page of the node show which.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { Tools, type ToolIndex } from "../../run/tools.ts";
import { root, serveHost, type Served } from "./host.ts";
import { allow, ask, missing, raise, type Stage } from "./stage.ts";

const canvasOf = (service: string, key = "key-0123456789"): object => ({
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["TavilySearch:S"], upstream: [] },
    "TavilySearch:S": {
      obj: { component_name: "TavilySearch", params: { query: "sys.query", api_key: key, base_url: service } },
      downstream: ["Message:M"], upstream: ["begin"],
    },
    "Message:M": {
      obj: { component_name: "Message", params: { content: ["{TavilySearch:S@formalized_content}"] } },
      downstream: [], upstream: ["TavilySearch:S"],
    },
  },
});

/** Service is a double of Tavily. */
interface Service {
  address: string;
  /** Answered requests, without preflights. */
  asked: { method: string; authorization: string; agent: string; body: string }[];
  server: Server;
}

async function serve(allows: boolean): Promise<Service> {
  const asked: Service["asked"] = [];
  const server = createServer((request, response) => {
    if (allows) {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "authorization, content-type");
    }
    if (request.method === "OPTIONS") return void response.writeHead(allows ? 204 : 405).end();
    void bodyOf(request).then((body) => {
      const { authorization = "", "user-agent": agent = "" } = request.headers;
      asked.push({ method: request.method ?? "", authorization, agent, body });
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ results: [{ title: "T", url: "http://a.example", content: "coats of wool" }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text;
}

describe("tools in the page", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  let open: Service; // for requests of pages
  let closed: Service;

  before(async () => {
    [open, closed] = await Promise.all([serve(true), serve(false)]);
    host = await serveHost("--allow-private");
    for (const [title, { address }] of Object.entries({ Open: open, Closed: closed })) {
      const answer = await fetch(host.address + "/api/v2/canvases", {
        method: "POST", headers: { authorization: `Bearer ${host.key}`, "content-type": "application/json" },
        body: JSON.stringify({ title, dsl: canvasOf(address) }),
      });
      assert.equal(answer.status, 201);
    }
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
    open?.server.close();
    closed?.server.close();
  });

  // routed waits for the mark on the card of the search, and for the line on its page.
  async function routed(page: Page, mark: string, line: string): Promise<void> {
    const card = page.locator('.react-flow__node:has(small:has-text("Tavily"))');
    await card.locator(".badge.route", { hasText: mark }).waitFor();
    await card.click();
    await page.locator("#tab-node").click();
    await page.locator(".inspector .route", { hasText: line }).waitFor();
  }

  async function show(page: Page, canvas: object, ...local: string[]): Promise<void> {
    await page.setInputFiles('input[type="file"][accept*="json"]', {
      name: "searches.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(canvas)),
    });
    for (const address of local) {
      await page.getByRole("button", { name: /^Model/ }).click();
      const locals = page.locator("dialog .locals");
      await locals.getByLabel("Address").fill(address);
      await locals.getByRole("button", { name: "Add" }).click();
      await page.getByRole("button", { name: "Done" }).click();
    }
    await allow(page);
  }

  async function signIn(page: Page, canvas: RegExp): Promise<void> {
    await page.getByRole("button", { name: "Show the canvases of this host" }).click();
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("button", { name: canvas }).click();
  }

  test("the page calls a service that allows requests of pages", async () => {
    const { page, done } = await stage.visit();
    const loaded: string[] = [];
    page.on("request", (request) => {
      if (/\.sections$|interpreter-|tools-/.test(request.url())) loaded.push(request.url());
    });
    await show(page, canvasOf(open.address), open.address);
    assert.equal(loaded.length, 0, "modules are loaded when a canvas calls them");
    await ask(page, "coats");
    await page.locator(".transcript", { hasText: "coats of wool" }).waitFor();
    await routed(page, "From this page", "TavilySearch: this page asked the service");
    assert.equal(loaded.filter((url) => url.endsWith(".sections")).length, 1, "one tool");
    assert.equal(open.asked.length, 1);
    const [sent] = open.asked;
    assert.equal(sent?.method, "POST");
    assert.equal(sent?.authorization, "Bearer key-0123456789");
    assert.match(sent?.agent ?? "", /Chrom/);
    assert.equal((JSON.parse(sent?.body ?? "{}") as { query?: string }).query, "coats");
    await done();
  });

  test("a stand-in answers for a service that does not, without a login", async () => {
    const { page, done } = await stage.visit();
    await show(page, canvasOf(closed.address), closed.address);
    await ask(page, "coats");
    await routed(page, "Mock answer", "TavilySearch: mock answer. The service does not accept requests from pages");
    assert.equal(closed.asked.length, 0);
    await done(/CORS policy|net::ERR_FAILED/);
  });

  test("a stand-in answers for a private address that the user did not allow", async () => {
    const { page, done } = await stage.visit();
    await show(page, canvasOf(open.address));
    const before_ = open.asked.length;
    await ask(page, "coats");
    await routed(page, "Mock answer", "A page does not reach its private address");
    assert.equal(open.asked.length, before_);
    await done();
  });

  test("a stand-in answers where the key is missing", async () => {
    const { page, done } = await stage.visit();
    await show(page, canvasOf(open.address, ""), open.address);
    await ask(page, "coats");
    await routed(page, "Mock answer", "Its key is missing");
    await done();
  });

  test("the tool of the host answers for a signed-in user", async () => {
    const { page, done } = await stage.visit();
    await signIn(page, /^Closed/);
    await ask(page, "coats");
    await page.locator(".transcript", { hasText: "coats of wool" }).waitFor();
    await routed(page, "Host tool", "TavilySearch: answered by the tool of your host");
    assert.equal(closed.asked.length, 1);
    await done(/status of 401/);
  });
});

test("the page runs the tool modules of the program", { skip: missing() }, async () => {
  const at = (name: string): URL => new URL(name, new URL("web/dist/", `file://${root}`));
  const send = ((input: unknown) => Promise.resolve(new Response(readFileSync(input as URL)))) as typeof fetch;
  const script = readFileSync(at("index.html"), "utf8").match(/assets\/page-[A-Z0-9]+\.js/)?.[0] ?? "";
  const index = readFileSync(at(script), "utf8").match(/assets\/tools-[A-Z0-9]+\.json/)?.[0] ?? "";
  const { tools } = JSON.parse(readFileSync(at(index), "utf8")) as ToolIndex;
  const page = new Tools(new Promise(() => undefined), { index, at, send });
  assert.ok(Object.keys(tools).length >= 20);
  for (const [component, { digest }] of Object.entries(tools)) {
    const bytes = await page.bytes(component) ?? assert.fail(component);
    assert.equal(createHash("sha256").update(bytes).digest("hex"), digest, component);
  }
});
