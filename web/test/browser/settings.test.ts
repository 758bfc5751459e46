// The settings of a real host: the functions of each section, for users who may see it.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { counted, missing, press, raise, type Stage } from "./stage.ts";
import { modelVendor } from "./vendor.ts";

const refused = /status of 401/;

const canvas = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["LLM:A"], upstream: [] },
    "LLM:A": {
      obj: { component_name: "LLM", params: { llm_id: "small@Local" } }, downstream: ["Message:B"], upstream: ["begin"],
    },
    "Message:B": {
      obj: { component_name: "Message", params: { content: ["{LLM:A@content}"] } }, downstream: [], upstream: ["LLM:A"],
    },
  },
};

describe("settings", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  let host: Served;
  let models: Server;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "easel-prices-"));
    const prices = join(folder, "prices.json");
    // 0.30 for each answer.
    writeFileSync(prices, JSON.stringify({ currency: "EUR", small: { input: 100, output: 400 } }));
    [host, models] = await Promise.all([serveHost("--allow-private", "--prices", prices), modelVendor()]);
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
    models?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function enter(page: Page): Promise<void> {
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.locator(".settings-view").waitFor();
  }

  async function section(page: Page, name: string): Promise<void> {
    await page.locator(".settings-area nav").getByRole("link", { name, exact: true }).click();
    await page.locator(".area h1", { hasText: name }).waitFor();
  }

  async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${host.key}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${host.address}/api/v2${path}`, { method, headers, ...sent });
    const text = await answer.text();
    return (text ? JSON.parse(text) : undefined) as T;
  }

  test("the link that the host prints signs in once", async () => {
    const { page, done } = await stage.visit("login");
    await audit(page, "login");
    await page.goto(host.link);
    await page.locator(".on-host", { hasText: "This host has no canvases yet." }).waitFor();
    assert.equal(new URL(page.url()).hash, "#host");
    await page.getByRole("link", { name: "Settings" }).click();
    await page.locator(".settings-view").waitFor();
    const other = await stage.visit("login");
    await other.page.goto(host.link);
    await other.page.getByRole("alert").getByText("This link was used already").waitFor();
    await audit(other.page, "a link that was used");
    await other.done(refused);
    await done();
  });

  test("a provider is added, tested and used, and its tokens and costs are shown", async () => {
    const { page, done } = await stage.visit("#settings=models");
    await enter(page);
    await page.getByText("No model provider yet").waitFor();
    await page.getByLabel("Provider, such as OpenAI").fill("claude");
    await page.getByText("Requests go to https://api.anthropic.com.").waitFor();
    await counted(page.getByLabel("Base URL"), 0);
    await page.getByRole("button", { name: "Anthropic", pressed: true }).click();
    await page.getByRole("button", { name: "Ollama" }).click();
    await page.getByText("at http://127.0.0.1:11434").waitFor();
    await counted(page.getByLabel("Key", { exact: true }), 0);
    await page.getByLabel("Provider, such as OpenAI").fill("Azure");
    assert.equal(await page.locator('select[name="api"]').inputValue(), "azure");
    await audit(page, "a provider that is added");
    await page.getByLabel("Provider, such as OpenAI").fill("Local");
    assert.equal(await page.locator('select[name="api"]').inputValue(), "openai");
    await page.getByLabel("Base URL").fill(`http://127.0.0.1:${(models.address() as AddressInfo).port}/v1`);
    await page.getByLabel("Key", { exact: true }).fill("sk-my-own");
    await page.getByLabel("Chat models, separated by commas").fill("small");
    await page.getByRole("button", { name: "Save" }).click();
    const local = page.locator(".settings-list > li", { hasText: "Local" });
    await local.locator("summary", { hasText: "Edit" }).click();
    assert.equal(await local.getByLabel(/^Key/).inputValue(), "", "a stored key is not sent to the page");
    await local.getByLabel("Embedding models").fill("vectors");
    await audit(page, "a provider that is edited");
    await local.getByRole("button", { name: "Save" }).click();
    await local.getByText("small, vectors").waitFor();
    const { items: providers } = await api<{ items: { has_key: boolean; models: object[] }[] }>("GET", "/providers");
    assert.deepEqual(
      providers.map(({ has_key, models: list }) => [has_key, list]),
      [[true, [{ name: "small", kind: "chat" }, { name: "vectors", kind: "embedding" }]]],
    );
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.locator(".verdict", { hasText: /answered in \d+ ms: Hello/ }).waitFor();
    await local.getByRole("button", { name: "Models" }).click();
    await local.getByText("30 more").waitFor();
    await local.getByLabel("Search 80 models").fill("OTHER 77");
    await counted(local.locator(".offers li"), 1);
    await local.getByRole("button", { name: "Use by default: other-77" }).click();
    await local.getByText("small, vectors, other-77").waitFor();
    await local.getByLabel("Search 80 models").fill("small");
    await local.getByText("8,192 tokens · tools").waitFor();
    await audit(page, "the models of a provider");
    await local.getByRole("button", { name: "Use by default: small" }).click();
    await local.getByRole("button", { name: "Default: small", exact: true, disabled: true }).waitFor();
    assert.equal(await page.locator(".settings-fields").getByLabel("Chat").inputValue(), "small@Local");
    assert.equal((await page.content()).includes("sk-my-own"), false, "a stored key is not shown");
    await audit(page, "models");

    const { id } = await api<{ id: string }>("POST", "/canvases", { title: "Greeter", dsl: canvas });
    const { events_url: events } = await api<{ events_url: string }>("POST", `/canvases/${id}/runs`, { query: "Hi" });
    await (await fetch(host.address + events, { headers: { authorization: `Bearer ${host.key}` } })).text();
    await section(page, "Usage");
    const row = page.locator(".usage-table tr", { hasText: "Greeter" });
    await row.waitFor();
    assert.deepEqual(await row.locator("td").allInnerTexts(), ["1", "1,000", "500", "€0.30"]);
    await page.getByText("Costs are in EUR").waitFor();
    await page.locator(".usage-table tr", { hasText: "small@Local" }).waitFor();
    await page.locator(".chart svg[role=img]").waitFor();
    await audit(page, "usage");

    const again = await api<{ events_url: string }>("POST", `/canvases/${id}/runs`, { query: "Hi" });
    await (await fetch(host.address + again.events_url, { headers: { authorization: `Bearer ${host.key}` } })).text();
    await page.goto(`${host.address}/#runs=${id}`);
    const rows = page.locator(".entries.runs > li");
    await rows.filter({ hasText: "1,500 tokens · €0.30" }).nth(1).waitFor();
    for (const i of [0, 1]) await rows.nth(i).getByRole("checkbox").check();
    await page.getByRole("button", { name: /^Compare/ }).click();
    await page.locator(".compare td", { hasText: "cost €0.30" }).nth(1).waitFor();
    await done(refused);
  });

  test("what was learned of a model is shown, and forgotten on request", async () => {
    const base = `http://127.0.0.1:${(models.address() as AddressInfo).port}/v1`;
    await api("PUT", "/providers/Picky", { base_url: base, models: [{ name: "picky" }] });
    const dsl = structuredClone(canvas);
    Object.assign(dsl.components["LLM:A"].obj.params, { llm_id: "picky@Picky", temperature: 0.5 });
    const { id } = await api<{ id: string }>("POST", "/canvases", { title: "Picky", dsl });
    const { events_url: events } = await api<{ events_url: string }>("POST", `/canvases/${id}/runs`, { query: "Hi" });
    await (await fetch(host.address + events, { headers: { authorization: `Bearer ${host.key}` } })).text();
    const { page, done } = await stage.visit("#settings=models");
    await enter(page);
    const learned = page.getByRole("list", { name: "Learned from servers" });
    // The provider of the test before has the same address, at which it was learned.
    const entry = learned.getByRole("listitem").filter({ hasText: "picky@Picky" });
    await entry.getByText("not sent: temperature").waitFor();
    await audit(page, "what was learned");
    await learned.getByRole("button", { name: "Delete picky@Picky" }).click();
    await learned.getByRole("button", { name: "Delete?" }).click();
    await learned.getByText("picky@Picky").waitFor({ state: "detached" });
    await api("DELETE", "/providers/Picky");
    await done(refused);
  });

  test("a price that is set counts before those of the host", async () => {
    const { page, done } = await stage.visit("#settings=models");
    await enter(page);
    const prices = page.locator(".settings-part", { has: page.getByRole("heading", { name: "Own prices" }) });
    await prices.getByText("Prices in EUR per million tokens").waitFor();
    await prices.locator("summary").click();
    await prices.getByLabel("Model").fill("small@Local");
    await prices.getByLabel("Input", { exact: true }).fill("-1");
    await prices.getByLabel("Output").fill("2");
    await prices.getByRole("button", { name: "Save" }).click();
    await prices.getByRole("alert").getByText("Prices are numbers of at least 0.").waitFor();
    await prices.getByLabel("Input", { exact: true }).fill("1.5");
    await audit(page, "a price that is set");
    await prices.getByRole("button", { name: "Save" }).click();
    await prices.getByText("Input 1.5 · Output 2", { exact: true }).waitFor();
    await prices.getByRole("button", { name: "Delete small@Local" }).click();
    await prices.getByRole("button", { name: "Delete?" }).click();
    await prices.getByText("Input 1.5").waitFor({ state: "detached" });
    await done(refused);
  });

  test("keys, secrets and users are created, shown without their values, and deleted", async () => {
    const { page, done } = await stage.visit("#settings=keys");
    await enter(page);
    await page.locator("summary", { hasText: "Create key" }).click();
    await page.getByLabel("Name").fill("Robot");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = await page.locator(".made code").innerText();
    const me = await fetch(`${host.address}/api/v2/me`, { headers: { authorization: `Bearer ${key}` } });
    assert.deepEqual(((await me.json()) as { scopes: string[] }).scopes, ["read", "run"]);
    await page.locator(".settings-list li", { hasText: "Robot" }).getByText("read, run").waitFor();
    await audit(page, "keys");
    await page.getByRole("button", { name: "Delete Robot" }).click();
    await page.getByRole("button", { name: "Delete?" }).click();
    await page.locator(".settings-list li", { hasText: "Robot" }).waitFor({ state: "detached" });

    await section(page, "Secrets");
    await page.locator("summary", { hasText: "Store secret" }).click();
    await page.getByLabel("Name").fill("SHOP_KEY");
    await page.getByLabel("Value").fill("very-secret-value");
    await page.getByLabel("Hosts it may be sent to").fill("api.shop.example, *.shop.example");
    await page.getByRole("button", { name: "Store secret" }).click();
    const secret = page.locator(".settings-list li", { hasText: "SHOP_KEY" });
    await secret.getByText("api.shop.example, *.shop.example").waitFor();
    assert.equal((await page.content()).includes("very-secret-value"), false);
    await audit(page, "secrets");

    await section(page, "Users");
    await page.locator(".settings-view > .adder > summary").click();
    await page.getByLabel("E-mail address").fill("bob@shop.example");
    await page.getByLabel("Password, at least 8 characters").last().fill("correct horse");
    await page.getByRole("button", { name: "Add user" }).click();
    const bob = page.locator(".settings-list li", { hasText: "bob@shop.example" });
    await bob.locator(".badge", { hasText: "Member" }).waitFor();
    await bob.locator("summary", { hasText: "Change role" }).click();
    await bob.getByLabel("Role").selectOption("admin");
    await audit(page, "users");
    await bob.getByRole("button", { name: "Save" }).first().click();
    await bob.locator(".badge", { hasText: "Admin" }).waitFor();
    const { items } = await api<{ items: { email: string; role: string }[] }>("GET", "/users");
    assert.equal(items.find(({ email }) => email === "bob@shop.example")?.role, "admin");
    await done(refused);
  });

  test("a new key has what is ticked, and cannot be created without", async () => {
    const { page, done } = await stage.visit("#settings=keys");
    await enter(page);
    await page.locator("summary", { hasText: "Create key" }).click();
    await page.getByLabel("Name").fill("Tracer");
    const create = page.getByRole("button", { name: "Create key" });
    const boxes = page.locator(".scopes label");
    assert.equal(await boxes.count(), 7);
    for (const about of await boxes.locator("span").allInnerTexts()) assert.ok(about.length > 10);
    await boxes.filter({ hasText: "read canvases" }).getByRole("checkbox").uncheck();
    assert.equal(await create.isEnabled(), true);
    await boxes.filter({ hasText: "run canvases" }).getByRole("checkbox").uncheck();
    await page.getByText("Choose at least one permission.").waitFor();
    assert.equal(await create.isEnabled(), false);
    await page.getByLabel("Name").press("Enter");
    await audit(page, "a key without permissions");
    await boxes.filter({ hasText: "inside runs" }).getByRole("checkbox").check();
    await create.click();
    const tracer = page.locator(".settings-list li", { hasText: "Tracer" });
    await tracer.getByText("· read traces ·").waitFor();
    const { items } = await api<{ items: { name: string; scopes: string[] }[] }>("GET", "/keys");
    assert.deepEqual(items.find(({ name }) => name === "Tracer")?.scopes, ["read_traces"]);
    // The form begins again, and a key with all ticks is listed as such.
    await page.locator("summary", { hasText: "Create key" }).click();
    await page.getByLabel("Name").fill("Whole");
    assert.equal(await create.isEnabled(), true);
    for (const box of await boxes.getByRole("checkbox").all()) await box.check();
    await create.click();
    await page.locator(".settings-list li", { hasText: "Whole" }).getByText("everything").waitFor();
    await done(refused);
  });

  test("an admin is offered nothing that only owners may do", async () => {
    await api("POST", "/users", { email: "ann@shop.example", password: "correct horse", role: "admin" });
    await api("POST", "/users", { email: "cy@shop.example", password: "correct horse" });
    const { page, done } = await stage.visit("login?next=/%23settings=users");
    await page.getByLabel("E-mail").fill("ann@shop.example");
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Log in" }).click();
    const owner = page.locator(".settings-list li", { hasText: "me@localhost" });
    await owner.locator(".badge", { hasText: "Owner" }).waitFor();
    assert.equal(await owner.getByRole("button").count(), 0);
    assert.deepEqual(await owner.locator("summary").allInnerTexts(), ["Groups"], "which an admin only sees");
    const cy = page.locator(".settings-list li", { hasText: "cy@shop.example" });
    await cy.locator("summary", { hasText: "Change role" }).click();
    const offered = await cy.getByLabel("Role").locator("option").allInnerTexts();
    assert.deepEqual(offered.map((text) => text.split(":")[0]), ["Member", "Admin"]);
    const links = await page.locator(".settings-area nav a").allInnerTexts();
    assert.equal(links.includes("Tenants"), false);
    await done(refused);
  });

  test("MCP servers, schedules, plugins, tenants and health are shown, in both languages", async () => {
    const { page, done } = await stage.visit("#settings=mcp");
    await enter(page);
    await page.locator("summary", { hasText: "Add server" }).click();
    await page.getByLabel("Name").fill("Tickets");
    await page.getByLabel("URL").fill("http://127.0.0.1:1/mcp");
    await page.getByLabel(/Header/).fill("Bearer abc");
    await page.getByRole("button", { name: "Add server" }).click();
    await page.getByRole("button", { name: "Check tools" }).click();
    await page.locator(".fault", { hasText: "No connection" }).waitFor();
    assert.equal((await page.content()).includes("Bearer abc"), false);
    await audit(page, "mcp");
    const row = page.locator(".settings-list > li");
    await row.locator("summary", { hasText: "Edit" }).click();
    assert.equal(await row.getByLabel(/Header/).getAttribute("placeholder"), "stays as it is, unless the URL changes");
    await row.getByLabel("Name").fill("Support tickets");
    await row.getByLabel("Description").fill("Who asked what");
    await audit(page, "an MCP server that is edited");
    await row.getByRole("button", { name: "Save" }).click();
    await row.getByText("Support tickets", { exact: true }).waitFor();
    await row.getByText(/Authorization/).first().waitFor();
    await row.locator("summary", { hasText: "Edit" }).click();
    await row.getByLabel("URL").fill("http://127.0.0.1:2/mcp");
    await row.getByRole("button", { name: "Save" }).click();
    await row.getByText(/127\.0\.0\.1:2/).waitFor();
    const { items } = await api<{ items: { headers: string[]; description: string }[] }>("GET", "/mcp-servers");
    assert.deepEqual(items.map(({ headers, description }) => [headers, description]), [[[], "Who asked what"]]);

    for (const [name, text] of [
      ["Schedules", "No schedules yet"],
      ["Tools and plugins", "Built-in tools"],
      ["Tenants", "this one"],
      ["Health", "Everything works"],
    ] as const) {
      await section(page, name);
      await page.locator(".settings-view").getByText(text, { exact: true }).waitFor();
      await audit(page, name);
    }
    await page.getByRole("button", { name: "中文" }).click();
    await page.getByText("一切正常").waitFor();
    await audit(page, "health, Chinese");
    await done(refused);
  });

  test("the audit log, sign-in, kept runs and logins are shown and changed", async () => {
    const { page, done } = await stage.visit("#settings=sign_in");
    await enter(page);
    await page.getByText("No provider yet").waitFor();
    await page.locator("summary", { hasText: "Add provider" }).click();
    await page.getByLabel("Id, part of the redirect address").fill("corp");
    await page.getByLabel("Issuer").fill("http://login.corp.example");
    await page.getByLabel("Client id").fill("easel");
    await page.getByLabel("Client secret").fill("very-secret-client");
    await page.getByLabel("Claim with the groups").fill("groups");
    await page.getByLabel("Groups with the role “Admin”").fill("CN=ops,DC=corp\nstaff");
    await page.getByLabel("Groups with the role “Owner”").fill("staff");
    const add = page.getByRole("button", { name: "Add provider" });
    await add.click();
    await page.getByRole("alert").getByText("A group has one role only: staff").waitFor();
    await page.getByLabel("Groups with the role “Owner”").fill("__proto__");
    await add.click();
    await page.getByRole("alert").getByText("expected https").waitFor();
    await page.getByLabel("Issuer").fill("https://login.corp.example");
    await audit(page, "a provider for sign-in");
    await add.click();
    const corp = page.locator(".settings-list > li", { hasText: "corp" });
    await corp.getByText(`${host.address}/login/oidc/corp/callback`).waitFor();
    await corp.getByRole("button", { name: "Copy" }).click();
    await corp.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${host.address}/login/oidc/corp/callback`);
    const groups = { "CN=ops,DC=corp": "admin", staff: "admin", ["__proto__"]: "owner" };
    type Kept = { name: string; has_secret: boolean; roles: object; scopes: string[] };
    const kept = async (): Promise<Kept[]> => (await api<{ items: Kept[] }>("GET", "/oidc")).items;
    assert.deepEqual(
      (await kept()).map(({ name, has_secret, roles, scopes }) => [name, has_secret, roles, scopes]),
      [["corp", true, groups, ["profile", "email"]]],
    );
    await corp.locator("summary", { hasText: "Edit" }).click();
    await corp.getByLabel("Name on the button").fill("Our company");
    await corp.getByLabel("People in none of these groups").selectOption("normal");
    await corp.getByRole("button", { name: "Save" }).click();
    await page.locator(".settings-list b", { hasText: "Our company" }).waitFor();
    assert.deepEqual(
      (await kept()).map(({ name, has_secret, roles }) => [name, has_secret, roles]), [["Our company", true, groups]],
    );
    assert.equal((await page.content()).includes("very-secret-client"), false);
    await audit(page, "sign-in");
    await page.getByRole("button", { name: "Delete Our company" }).click();
    await page.getByRole("button", { name: /^Delete\? People/ }).click();
    await page.getByText("No provider yet").waitFor();

    await section(page, "Kept runs");
    await page.locator(".facts", { hasText: /days, and at most/ }).waitFor();
    await page.locator("summary", { hasText: "Change" }).click();
    const before = await api<{ bytes: number }>("GET", "/settings/traces");
    await page.getByLabel("Days, 0").fill("12");
    await audit(page, "kept runs");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".facts", { hasText: "12 days, and at most" }).waitFor();
    assert.deepEqual(await api("GET", "/settings/traces"), { ...before, days: 12 });

    // A person logs in, and the owner ends that login.
    const password = "correct horse";
    const { id } = await api<{ id: string }>("POST", "/users", { email: "dee@shop.example", password });
    const other = await stage.visit("login?next=/%23host");
    await other.page.getByLabel("E-mail").fill("dee@shop.example");
    await other.page.getByLabel("Password").fill(password);
    await other.page.getByRole("button", { name: "Log in" }).click();
    await other.page.locator("button.me").click();
    const own = other.page.getByRole("dialog").getByRole("list", { name: "Logins" });
    await own.locator(".badge", { hasText: "this browser" }).waitFor();
    assert.equal(await own.getByRole("button").count(), 0, "this login ends with the sign-out");
    await audit(other.page, "own logins");
    await section(page, "Users");
    const dee = page.locator(".settings-list > li", { hasText: "dee@shop.example" });
    await dee.locator("summary", { hasText: "Logins" }).click();
    await dee.getByText("with a password").waitFor();
    await audit(page, "the logins of a user");
    await dee.getByRole("button", { name: /^End: / }).click();
    await dee.getByRole("button", { name: "End now?" }).click();
    await dee.getByText("Not logged in anywhere.").waitFor();
    assert.deepEqual((await api<{ items: object[] }>("GET", `/users/${id}/logins`)).items, []);
    await other.done(refused);

    // A provider took the role of a member away.
    await page.route("**/api/v2/users", async (route) => {
      const response = await route.fetch();
      const list = (await response.json()) as { items: { id: string }[] };
      const items = list.items.map((each) => (each.id === id ? { ...each, role: "" } : each));
      await route.fulfill({ response, json: { items } });
    });
    await section(page, "Secrets");
    await section(page, "Users");
    await dee.locator(".badge", { hasText: "No role" }).waitFor();
    await dee.locator("summary", { hasText: "Change role" }).click();
    await audit(page, "a member without a role");
    await dee.getByLabel("Role").selectOption("admin");
    await page.unroute("**/api/v2/users");
    await dee.getByRole("button", { name: "Save" }).first().click();
    await dee.locator(".badge", { hasText: "Admin" }).waitFor();

    for (let i = 0; i < 101; i++) await api("PUT", "/settings/traces", { days: 13 });
    await section(page, "Audit log");
    const entries = page.getByRole("list", { name: "Audit log" }).locator("> li");
    await counted(entries, 100);
    await page.getByRole("button", { name: "Older" }).click();
    await entries.filter({ hasText: "Sign-in provider deleted" }).waitFor();
    await page.getByRole("button", { name: "Newer" }).click();
    await counted(entries, 100);
    await page.locator('select[name="user"]').selectOption({ label: "me@localhost" });
    await page.locator('select[name="action"]').selectOption({ label: "Login ended" });
    await page.getByLabel("From").fill("2020-01-01");
    await page.getByLabel("To", { exact: true }).fill("2999-12-31");
    await page.getByRole("button", { name: "Show" }).click();
    await counted(entries, 1);
    await entries.getByText("me@localhost").waitFor();
    await page.getByRole("button", { name: "Check the log" }).click();
    await page.getByText("No entry was changed or removed").waitFor();
    await audit(page, "audit log");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as JSON lines" }).click();
    const lines = readFileSync(await (await download).path(), "utf8").trim().split("\n");
    assert.deepEqual(lines.map((line) => (JSON.parse(line) as { action: string }).action), ["endLogin"]);
    await page.getByLabel("To", { exact: true }).fill("2020-01-02");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("No entries").waitFor();
    await done(/status of (401|422)/);
  });

  test("users, sign-in, the audit log and kept runs fit a phone, in both languages", async () => {
    const email = "dee.with-a-very-long-name.of-a-department@customer-service.shop.example";
    const { id } = await api<{ id: string }>("POST", "/users", { email, password: "correct horse" });
    const issuer = "https://login.a-company-with-a-long-name.example/realms/everybody-of-the-company";
    await api("PUT", "/oidc/long", { issuer, client: "easel", secret: "hush", name: "Everybody of the company" });
    const { page, done } = await stage.visit("#settings=users", { width: 390, height: 844 });
    await enter(page);
    for (const language of ["en", "zh"]) {
      if (language === "zh") await press(page, "中文");
      for (const [name, lists] of [["users", true], ["sign_in", true], ["audit", true], ["traces", false]] as const) {
        await page.evaluate((to) => { location.hash = `settings=${to}`; }, name);
        const entry = page.locator(".settings-list > li").first();
        await (lists ? entry : page.locator(".facts").first()).waitFor();
        await page.locator(".settings-view summary").evaluateAll((all) => {
          for (const each of all) (each as HTMLElement).click();
        });
        const wide = await page.locator(".settings-view *").evaluateAll((all) =>
          all.filter((each) => each.getBoundingClientRect().right > innerWidth)
            .map((each) => each.outerHTML.slice(0, 80)));
        assert.deepEqual(wide, [], `${name}, ${language}`);
      }
    }
    await api("DELETE", `/users/${id}`);
    await api("DELETE", "/oidc/long");
    await done(refused);
  });

  test("without a clipboard a text is copied by its selection, and a refusal says what to do", async () => {
    await api("PUT", "/oidc/corp", { issuer: "https://login.corp.example", client: "easel", secret: "hush" });
    const { page, done } = await stage.visit("#settings=sign_in");
    await enter(page);
    // As on a page over plain HTTP from another machine.
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    const corp = page.locator(".settings-list > li", { hasText: "corp" });
    await corp.getByRole("button", { name: "Copy" }).click();
    await corp.getByRole("button", { name: "Copied" }).waitFor();
    const selected = (): Promise<string> => page.evaluate(() => String(getSelection()));
    assert.equal(await selected(), `${host.address}/login/oidc/corp/callback`);
    await corp.getByRole("button", { name: "Copy" }).waitFor();
    await page.evaluate(() => { document.execCommand = () => false; });
    await corp.getByRole("button", { name: "Copy" }).click();
    await corp.getByRole("alert").getByText("The text is selected: press Ctrl+C").waitFor();
    assert.equal(await selected(), `${host.address}/login/oidc/corp/callback`);
    await audit(page, "a refused copy");
    await api("DELETE", "/oidc/corp");
    await done(refused);
  });

  test("a schedule is shown with its state on the host, also when a change fails halfway", async () => {
    const { id } = await api<{ id: string }>("POST", "/canvases", { title: "Daily", dsl: canvas });
    const schedule = await api<{ id: string }>("POST", "/schedules", { canvas: id, name: "Daily", every: "24h" });
    const paused = async (): Promise<boolean> =>
      (await api<{ paused: boolean }>("GET", `/schedules/${schedule.id}`)).paused;
    const { page, done } = await stage.visit("#settings=schedules");
    await page.route("**/api/v2/schedules", async (route) => {
      const response = await route.fetch();
      const list = (await response.json()) as { items: object[] };
      const last = { run: "r", status: "paused", created: "2026-01-02T03:04:05Z" }; // its run waits for a form
      await route.fulfill({ response, json: { ...list, items: list.items.map((each) => ({ ...each, last })) } });
    });
    await enter(page);
    const row = page.locator(".settings-list > li", { hasText: "Daily" });
    await row.getByText(/last run .*: waiting for input/).waitFor();
    await counted(row.getByText("paused"), 0);

    await row.getByRole("button", { name: "Pause" }).click();
    await row.locator(".badge", { hasText: "paused" }).waitFor();
    assert.equal(await paused(), true);
    const resume = row.getByRole("button", { name: "Resume" });
    await resume.dispatchEvent("click", { detail: 2 }); // of a double click on "Pause"
    assert.equal(await resume.isEnabled(), true);

    await page.route(`**/api/v2/schedules/${schedule.id}`, async (route) => {
      await route.fetch(); // is complete, and then
      await route.fulfill({ status: 503, json: { error: { message: "the run log is not available" } } });
    });
    await resume.click();
    await page.getByRole("alert").filter({ hasText: "the run log is not available" }).waitFor();
    await row.locator(".badge", { hasText: "paused" }).waitFor({ state: "detached" });
    assert.equal(await paused(), false);
    await done(/status of (401|503)/);
  });

  test("a user with the scope read sees only what it permits", async () => {
    const { key } = await api<{ key: string }>("POST", "/keys", { name: "reader", scopes: ["read"] });
    const { page, done } = await stage.visit("#settings=users");
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("Your login may not see this.").waitFor();
    const links = await page.locator(".settings-area nav a").allInnerTexts();
    assert.deepEqual(links, ["Tools and plugins", "Users"]);
    await done(refused);
  });
});
