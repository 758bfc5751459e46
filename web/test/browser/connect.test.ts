// Connections of a canvas with the outside, made by mouse on a real host: an agent with tools of an
// MCP server, a webhook whose test call is signed, a request that is pasted, a database.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, serveTools, type Served } from "./host.ts";
import { counted, missing, raise, saveToHost, type Stage } from "./stage.ts";

const refused = /status of 40[01]/;

// The model calls each offered tool in turn, then answers.
interface Model {
  server: Server;
  address: string;
  /** Names of the tools in each request. */
  offered: string[][];
}

async function toolModel(): Promise<Model> {
  const offered: string[][] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece: Buffer) => { text += piece.toString(); });
    request.on("end", () => {
      const { tools = [], messages = [], stream } = JSON.parse(text || "{}") as {
        tools?: { function: { name: string } }[]; messages?: { role: string }[]; stream?: boolean;
      };
      const names = tools.map((tool) => tool.function.name);
      offered.push(names);
      const next = names[messages.filter(({ role }) => role === "tool").length];
      const message = next === undefined ? { role: "assistant", content: "Your order is on its way." } : {
        role: "assistant", content: null,
        tool_calls: [
          { index: 0, id: `call_${next}`, type: "function", function: { name: next, arguments: `{"number":7}` } },
        ],
      };
      const finish_reason = next === undefined ? "stop" : "tool_calls";
      if (stream) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`data: ${JSON.stringify({ choices: [{ delta: message, finish_reason }] })}\n\ndata: [DONE]\n\n`);
        return;
      }
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ choices: [{ message, finish_reason }] }));
    });
  });
  await new Promise<void>((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, offered };
}

const step = (component_name: string, params: object, upstream: string[], downstream: string[]): object =>
  ({ obj: { component_name, params }, upstream, downstream });

const agent = {
  components: {
    begin: step("Begin", {}, [], ["Agent:Desk"]),
    "Agent:Desk": step("Agent", { prompts: [{ role: "user", content: "{sys.query}" }] }, ["begin"], ["Message:M"]),
    "Message:M": step("Message", { content: ["{Agent:Desk@content}"] }, ["Agent:Desk"], []),
  },
};

describe("connections", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  let model: Model;
  let folder: string;
  let tools: Awaited<ReturnType<typeof serveTools>>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "easel-databases-"));
    host = await serveHost("--allow-private", "--sqlite", folder);
    const file = join(folder, "shop.db");
    [stage, model, tools] = await Promise.all([raise({ at: host.address + "/" }), toolModel(), serveTools(file)]);
    const models = [{ name: "m", tools: true }];
    await api("PUT", "/providers/Local", { base_url: model.address, key: "k", models });
    await api("PUT", "/models/default", { chat: "m@Local" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
    await tools?.close();
    model?.server.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${host.key}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${host.address}/api/v2${path}`, { method, headers, ...sent });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  // opened shows a node of a new canvas of the host.
  async function opened(title: string, dsl: object, node: string): Promise<Awaited<ReturnType<Stage["visit"]>> & {
    id: string;
    settings: Locator;
    params(): Promise<Record<string, unknown>>;
  }> {
    const { id } = await api<{ id: string }>("POST", "/canvases", { title, dsl });
    const visit = await stage.visit("#host", { width: 1440, height: 900 });
    const { page } = visit;
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("button", { name: new RegExp(`^${title}`) }).click();
    await page.locator(`.react-flow__node[data-id="${node}"]`).click();
    await page.locator("#tab-node").click();
    const params = async (): Promise<Record<string, unknown>> => {
      const { dsl: stored } = await api<{ dsl: typeof agent }>("GET", `/canvases/${id}`);
      const all = stored.components as unknown as Record<string, { obj: { params: Record<string, unknown> } }>;
      return all[node]?.obj.params ?? {};
    };
    return { ...visit, id, settings: page.locator(".settings").first(), params };
  }

  // looks takes pictures of a part in both languages, light and dark, where a folder is named.
  async function looks(page: Page, name: string, languages = ["en", "zh"]): Promise<void> {
    const folder = process.env["EASEL_LOOKS"];
    if (!folder) return;
    for (const language of languages) {
      for (const theme of ["light", "dark"]) {
        await page.evaluate((now) => { document.documentElement.dataset["theme"] = now; }, theme);
        await page.screenshot({ path: `${folder}/${name}-${language}-${theme}.png` });
      }
      await page.evaluate(() => { document.documentElement.dataset["theme"] = "light"; });
      if (languages.length > 1) await page.getByRole("button", { name: /^(中文|English)$/ }).first().click();
    }
  }

  test("an agent is offered exactly the tools that were ticked", async () => {
    const { page, settings, params, id, done } = await opened("Desk", agent, "Agent:Desk");
    const mcp = settings.locator(".setting", { hasText: "MCP servers" });
    await mcp.getByLabel("Add a server…").selectOption("new");
    const form = mcp.getByRole("group", { name: "New server…" });
    await form.getByLabel("Name", { exact: true }).fill("Shop");
    await form.getByLabel("URL").fill(tools.address);
    await form.getByRole("button", { name: "Add and test" }).click();
    await form.getByRole("alert").filter({ hasText: "Its test failed" }).waitFor();
    await form.getByRole("button", { name: "Add header" }).click();
    await form.getByLabel("Name of header 1").fill("X-Key");
    await form.getByLabel("Name of header 1").press("Enter");
    await form.getByLabel("Value of header 1: use a secret").selectOption({ label: "New secret…" });
    await form.getByLabel("Name of the secret").fill("SHOP_KEY");
    await form.getByLabel("Value", { exact: true }).fill("let me in");
    await form.getByRole("button", { name: "Save", exact: true }).click();
    await form.getByText("Secret SHOP_KEY").waitFor();
    await audit(page, "a new MCP server");
    await looks(page, "mcp-new");
    await form.getByRole("button", { name: "Save and test" }).click();

    const shop = mcp.getByRole("region", { name: "Shop" });
    await shop.getByText("Connected, 9 tools").waitFor();
    await shop.getByText("Nothing is ticked").waitFor();
    await shop.getByLabel(/^track_order/).check();
    await shop.getByRole("searchbox").fill("undone");
    await shop.getByLabel(/^cancel_order/).check();
    await shop.getByRole("searchbox").fill("");
    await shop.getByText("2 of 9 ticked").waitFor();
    await audit(page, "tools of an MCP server");
    await looks(page, "mcp-tools");
    const chips = page.locator('.react-flow__node[data-id="Agent:Desk"] .chips li');
    assert.deepEqual(await chips.allInnerTexts(), ["track_order", "cancel_order"]);
    await saveToHost(page);
    type Stored = { mcp_id: string; tools: Record<string, { inputSchema: object }> }[];
    const [entry, ...others] = (await params())["mcp"] as Stored;
    assert.deepEqual([Object.keys(entry?.tools ?? {}), others], [["track_order", "cancel_order"], []]);
    assert.deepEqual(Object.keys(entry?.tools["track_order"] ?? {}), ["name", "description", "inputSchema"]);

    model.offered.length = 0;
    const run = await fetch(`${host.address}/api/v2/canvases/${id}/runs`, {
      method: "POST", body: JSON.stringify({ query: "Where is order 7?" }),
      headers: {
        authorization: `Bearer ${host.key}`, "content-type": "application/json", accept: "text/event-stream",
      },
    });
    const events = await run.text();
    assert.match(events, /order 7: sent/);
    assert.match(events, /Your order is on its way/);
    for (const names of model.offered) assert.deepEqual(names, ["track_order", "cancel_order"]);

    await shop.getByLabel("Ask a person before each call of cancel_order").check();
    await saveToHost(page);
    const asked = (await params())["mcp"] as { tools: Record<string, { approval?: boolean }> }[];
    assert.deepEqual(Object.values(asked[0]?.tools ?? {}).map(({ approval }) => approval), [undefined, true]);
    await shop.getByLabel("All tools, also future ones").check();
    await saveToHost(page);
    assert.deepEqual((await params())["mcp"], [{ mcp_id: entry?.mcp_id }]);
    await page.locator('.react-flow__node[data-id="Agent:Desk"]').getByText("3 more").waitFor();
    await done(refused);
  });

  test("a webhook of GitHub is secured by its preset, and its test call is signed", async () => {
    const hook = {
      components: {
        begin: step("Begin", { mode: "Webhook" }, [], ["Message:M"]),
        "Message:M": step("Message", { content: ["Order {begin@body}"] }, ["begin"], []),
      },
    };
    const { page, settings, params, id, done } = await opened("Orders", hook, "begin");
    const security = settings.locator(".setting", { hasText: "Who may send" });
    // The section is open, since it has a problem.
    await security.getByText("Anyone who knows the address can start this canvas").waitFor();
    await security.getByLabel("Who may send", { exact: true }).selectOption({ label: "Open to anyone" });
    await security.locator(".fault", { hasText: "Anyone who knows" }).waitFor();
    await security.getByLabel("Who may send", { exact: true }).selectOption({ label: "GitHub" });
    await security.getByRole("button", { name: "Generate" }).click();
    const shown = await security.getByRole("status").locator("code").innerText();
    assert.match(shown, /^[0-9a-f]{64}$/);
    await security.getByText("Secret WEBHOOK_ORDERS", { exact: true }).waitFor();
    assert.equal(await security.locator(".missing").count(), 0, "the host has the secret");
    await counted(security.locator(".field-problem"), 0);
    await settings.getByRole("button", { name: "Fill from an example" }).click();
    await settings.getByLabel("Paste the body of a request, as JSON").fill(`{"order": 7, "tags": ["new"]}`);
    await settings.getByRole("button", { name: "Add its values" }).click();
    await settings.getByRole("checkbox", { name: "POST" }).check();
    await settings.getByLabel("Body", { exact: true }).selectOption({ label: "JSON" });
    await settings.locator("summary", { hasText: "Output" }).click();
    await settings.getByLabel("With the result").check();
    await audit(page, "a webhook");
    await security.scrollIntoViewIfNeeded();
    await looks(page, "webhook");
    await saveToHost(page);
    const stored = await params();
    assert.deepEqual(stored["security"], {
      auth_type: "hmac",
      hmac: {
        header: "X-Hub-Signature-256", algorithm: "sha256", prefix: "sha256=", secret: "{{secret:WEBHOOK_ORDERS}}",
      },
    });
    assert.deepEqual(stored["schema"], {
      body: { properties: { order: { type: "number" }, tags: { type: "array<string>" } }, required: [] },
    });
    assert.deepEqual([stored["methods"], stored["content_types"], stored["execution_mode"]],
      [["POST"], "application/json", "Streaming"]);

    // A request from outside, signed with the shown secret.
    const body = `{"order": 7}`;
    const signature = createHmac("sha256", shown).update(body).digest("hex");
    const call = (proof: string): Promise<Response> => fetch(`${host.address}/api/v1/agents/${id}/webhook`, {
      method: "POST", body, headers: { "content-type": "application/json", "x-hub-signature-256": `sha256=${proof}` },
    });
    assert.equal((await call(signature.replace(/./g, "0"))).status, 400);
    assert.equal((await call(signature)).status, 200);

    await page.getByRole("button", { name: "Publish" }).click();
    const dialog = page.locator("dialog.publish");
    await dialog.getByRole("tab", { name: "Webhook" }).click();
    const last = dialog.getByRole("region", { name: "Last call" });
    await last.getByText(/"order": 7/).first().waitFor();
    assert.equal(await dialog.getByLabel("Signed as GitHub does").isChecked(), true);
    await dialog.getByLabel("Body (JSON)").fill(`{"order": 8}`);
    await dialog.getByRole("button", { name: "Send a test call" }).click();
    await dialog.getByText("Response 200").waitFor();
    await dialog.getByText("X-Hub-Signature-256: (from the stored secret)").waitFor();
    await dialog.getByText("The run succeeded.").waitFor();
    await audit(page, "a test call");
    await looks(page, "webhook-test", ["en"]);
    assert.equal((await dialog.innerHTML()).includes(shown), false, "the dialog has no secret");
    await dialog.getByLabel("Signed as GitHub does").uncheck();
    await dialog.getByRole("button", { name: "Send a test call" }).click();
    await dialog.getByText("Response 400").waitFor();
    await done(refused);
  });

  test("a webhook listens for one call, shows it, and reads the chosen values of it", async () => {
    const hook = {
      components: {
        begin: step("Begin", {
          mode: "Webhook", methods: ["POST"], content_types: "application/json", execution_mode: "Streaming",
          security: { auth_type: "none", allow_anonymous: true },
        }, [], ["Message:M"]),
        "Message:M": step("Message", { content: ["Order {begin@body}"] }, ["begin"], []),
      },
    };
    const { page, settings, params, id, done } = await opened("Caught", hook, "begin");
    const call = (body: object): Promise<Response> => fetch(`${host.address}/api/v1/agents/${id}/webhook`, {
      method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" },
    });
    await (await call({ old: true })).text(); // before: it is not the one that is waited for
    await settings.getByRole("button", { name: "Listen for a call" }).click();
    const listening = settings.getByRole("group", { name: "Listen for a call" });
    await listening.getByText(`/api/v1/agents/${id}/webhook`).waitFor();
    const first = page.waitForResponse((answer) => answer.url().includes("source=webhook"));
    await first;
    await (await call({ order: 7, tags: ["new"], noise: "x" })).text();
    await listening.getByText("A call came.").waitFor();
    await listening.getByLabel("Body of the call").getByText(/"order": 7/).waitFor();
    await listening.getByLabel("Answer").getByText(/Order/).waitFor();
    await audit(page, "a call that was caught");
    await looks(page, "webhook-listen");
    await listening.getByRole("checkbox", { name: "noise" }).uncheck();
    await listening.getByRole("button", { name: "Add its values" }).click();
    await saveToHost(page);
    assert.deepEqual((await params())["schema"], {
      body: { properties: { order: { type: "number" }, tags: { type: "array<string>" } }, required: [] },
    });
    await settings.getByRole("button", { name: "Run by schedule…" }).click();
    const dialog = page.locator("dialog.publish");
    assert.equal(await dialog.getByRole("tab", { selected: true }).innerText(), "Schedules");
    await page.keyboard.press("Escape");
    await settings.getByRole("button", { name: "Address, test call and last call…" }).click();
    await dialog.getByRole("region", { name: "Last call" }).getByText(/order/).first().waitFor();
    await done(refused);
  });

  test("a script is tried beside its inputs, and Python that the host lacks is offered", async () => {
    const canvas = {
      components: {
        begin: step("Begin", {}, [], ["CodeExec:C"]),
        "CodeExec:C": step("CodeExec", {
          lang: "javascript", arguments: { count: "sys.query", name: "sys.user_id" },
          script: [
            "function main({ count }) {", "  if (count > 9) throw new Error('too many');", "  return count + 1;", "}",
          ].join("\n"),
          outputs: { result: { type: "Number" } },
        }, ["begin"], []),
      },
    };
    const { page, settings, done } = await opened("Counter", canvas, "CodeExec:C");
    await page.locator("#tab-chat").click();
    await page.getByLabel("Run on the host").check({ force: true });
    await page.locator("#tab-node").click();
    await settings.locator("summary", { hasText: "Try the script" }).click();
    const trial = settings.locator(".trial");
    await trial.getByLabel("count").fill("41");
    await trial.getByRole("button", { name: "Run the script on the host" }).click();
    await trial.getByRole("alert").getByText(/too many/).waitFor();
    await settings.locator(".cm-line.failed", { hasText: "too many" }).waitFor();
    await trial.getByLabel("count").fill("4");
    await trial.getByRole("button", { name: "Run the script on the host" }).click();
    await trial.getByRole("region", { name: "Result" }).getByText("5", { exact: true }).first().waitFor();
    await audit(page, "a script that was tried");
    await looks(page, "script-tried");
    await settings.getByLabel("Python", { exact: true }).check();
    const missing = settings.getByRole("group", { name: /no Python/ });
    await missing.getByRole("button", { name: "Install Python" }).waitFor();
    await page.locator("#tab-problems").click();
    await page.locator(".panel").getByRole("button", { name: "Install Python" }).waitFor();
    assert.equal(await page.getByText("No problems found.").isVisible(), false);
    await audit(page, "Python is missing");
    await looks(page, "python-missing");
    await done(refused);
  });

  test("a request is filled from curl, signed in with a secret, and tried", async () => {
    const shop = createServer((request, response) => {
      let text = "";
      request.on("data", (piece: Buffer) => { text += piece.toString(); });
      request.on("end", () => {
        const cors = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
        response.writeHead(request.method === "OPTIONS" ? 204 : 201, { ...cors, "content-type": "application/json" });
        const { method, url } = request;
        response.end(method === "OPTIONS" ? "" : JSON.stringify({ method, url, text }));
      });
    });
    await new Promise<void>((resolve) => { shop.listen(0, "127.0.0.1", resolve); });
    shop.unref();
    const address = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/orders?a=1`;
    const old = `{\n  "Accept": "*/*"\n}`;
    const canvas = {
      components: {
        begin: step("Begin", {}, [], ["Invoke:R"]),
        "Invoke:R": step("Invoke", { url: "x", method: "get", headers: old, variables: [] }, ["begin"], []),
      },
    };
    const { page, settings, params, done } = await opened("Call", canvas, "Invoke:R");
    await settings.getByRole("button", { name: "Paste curl" }).click();
    const form = settings.getByRole("group", { name: "Paste curl" });
    await form.getByRole("textbox").fill("wget x");
    await form.getByRole("button", { name: "Fill the form" }).click();
    await form.getByText("This does not begin with curl.").waitFor();
    await form.getByRole("textbox").fill(
      `curl -X POST '${address}' -H 'X-Trace: on' -H 'Content-Type: application/json' -d '{"item":"boots","count":2}'`,
    );
    await form.getByRole("button", { name: "Fill the form" }).click();
    await settings.getByLabel("Add a sign-in…").selectOption({ label: "Bearer token" });
    const auth = settings.getByRole("group", { name: "Bearer token" });
    await auth.getByLabel("Key", { exact: true }).fill("sesame");
    await auth.getByRole("button", { name: "Add" }).click();
    await settings.getByText("Bearer Secret AUTHORIZATION_BEARER", { exact: true }).waitFor();
    await audit(page, "a request");
    await looks(page, "request");
    await saveToHost(page);
    const stored = await params();
    assert.deepEqual(stored, {
      ...stored, url: address, method: "POST", datatype: "json",
      headers: `{\n  "X-Trace": "on",\n  "Authorization": "Bearer {{secret:AUTHORIZATION_BEARER}}"\n}`,
      variables: [{ key: "item", value: "boots" }, { key: "count", value: 2 }],
    });
    await settings.getByLabel("Remove Header 2").click(); // a page keeps no secrets
    await page.getByRole("button", { name: /^Model/ }).click();
    const local = page.getByRole("region", { name: "Local services" });
    await local.getByLabel("Address").fill(new URL(address).origin);
    await local.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    await settings.getByRole("button", { name: "Try it" }).click();
    const answer = settings.getByRole("region", { name: "Answer" });
    await answer.getByText("Status 201").waitFor();
    await answer.getByText(/boots/).waitFor();
    await looks(page, "request-tried");
    await audit(page, "a request that was tried");
    shop.close();
    await done(refused);
  });

  test("a connection to a database is tested, and its tables are listed", async () => {
    const canvas = {
      components: {
        begin: step("Begin", {}, [], ["ExeSQL:Q"]),
        "ExeSQL:Q": step("ExeSQL", { sql: "SELECT 1", db_type: "mysql" }, ["begin"], []),
      },
    };
    const { page, settings, params, done } = await opened("Report", canvas, "ExeSQL:Q");
    const kind = settings.getByLabel("Database", { exact: true });
    await kind.selectOption({ label: "PostgreSQL" });
    assert.equal(await settings.getByLabel("Port", { exact: true }).inputValue(), "5432");
    await settings.getByLabel("Host", { exact: true }).fill("127.0.0.1");
    await settings.getByLabel("User", { exact: true }).fill("reader");
    await settings.getByLabel("Database name", { exact: true }).fill("shop");
    await settings.getByLabel("Password: use a secret").selectOption({ label: "New secret…" });
    const secret = settings.getByRole("group", { name: "New secret…" });
    await secret.getByLabel("Value", { exact: true }).fill("hush");
    await secret.getByRole("button", { name: "Save" }).click();
    await settings.getByText("Secret EXESQL_PASSWORD").waitFor();
    await settings.getByLabel("Port", { exact: true }).fill("1");
    await settings.getByRole("button", { name: "Test connection" }).click();
    await settings.getByRole("alert").filter({ hasText: "connect to" }).waitFor();
    await audit(page, "a database");
    await looks(page, "database");
    await kind.selectOption({ label: "SQLite" });
    for (const gone of ["Host", "Port", "User", "Password"]) {
      assert.equal(await settings.getByText(gone, { exact: true }).isVisible(), false, gone);
    }
    await settings.getByLabel("Database name", { exact: true }).selectOption("shop.db");
    await settings.getByRole("button", { name: "Test connection" }).click();
    await settings.getByText("Connected, 2 tables").waitFor();
    await settings.getByRole("region", { name: "2 tables" }).getByText("orders").waitFor();
    await looks(page, "database-file");
    await saveToHost(page);
    const { db_type, database, port, password } = await params();
    assert.deepEqual([db_type, database, port, password], ["sqlite", "shop.db", 1, "{{secret:EXESQL_PASSWORD}}"]);
    await done(refused);
  });

  test("a tool that the server has lost is a warning, and can be removed", async () => {
    const { items } = await api<{ items: { id: string }[] }>("GET", "/mcp-servers");
    const old = { track_order: { name: "track_order" }, teleport: { name: "teleport" } };
    const dsl = structuredClone(agent);
    const mcp = [{ mcp_id: items[0]?.id, tools: old }];
    Object.assign(dsl.components["Agent:Desk"], step("Agent", { mcp }, ["begin"], ["Message:M"]));
    const { page, settings, params, done } = await opened("Old desk", dsl, "Agent:Desk");
    const shop = settings.getByRole("region", { name: "Shop" });
    await shop.getByText("has no tool “teleport” any more").waitFor();
    const card = page.locator('.react-flow__node[data-id="Agent:Desk"] .chips li');
    assert.deepEqual(await card.allInnerTexts(), ["track_order", "1 missing"]);
    await audit(page, "a lost tool");
    await shop.getByRole("button", { name: "Remove teleport" }).click();
    await saveToHost(page);
    const left = { mcp_id: items[0]?.id, tools: { track_order: { name: "track_order" } } };
    assert.deepEqual((await params())["mcp"], [left]);
    await done(refused);
  });
});
