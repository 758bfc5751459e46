// Projects, tags, and who has which role on what: by the names that a person sees.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { counted, missing, raise, type Stage } from "./stage.ts";

const refused = /status of 401/;
const pictures = process.env["EASEL_PICTURES"]; // a folder, for a look at the views

describe("projects and sharing", { skip: missing(), timeout: 600_000 }, () => {
  let host: Served;
  let stage: Stage;
  let ann: string;

  before(async () => {
    host = await serveHost();
    stage = await raise({ at: host.address + "/" });
    ({ id: ann } = await api<{ id: string }>("POST", "/users", { email: "ann@x.org", password: "battery staple" }));
    await api("PUT", `/users/${ann}/groups`, { groups: ["hr"] });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  const api = async <T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${host.key}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${host.address}/api/v2${path}`, { method, headers, ...sent });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
    return (answer.status === 204 ? {} : await answer.json()) as T;
  };
  const canvasOf = async (title: string): Promise<string> => {
    const begin = { obj: { component_name: "Begin", params: {} }, downstream: [], upstream: [] };
    const dsl = { components: { begin } };
    return (await api<{ id: string }>("POST", "/canvases", { title, dsl, permission: "team" })).id;
  };
  const enter = async (hash: string): ReturnType<Stage["visit"]> => {
    const visit = await stage.visit(hash);
    await visit.page.getByLabel("API key").fill(host.key);
    await visit.page.getByRole("button", { name: "Use this key" }).click();
    return visit;
  };
  const looked = async (page: Page, name: string): Promise<void> => {
    await audit(page, name);
    if (!pictures) return;
    mkdirSync(pictures, { recursive: true });
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: join(pictures, `${name}-${width}.png`) });
    }
    await page.setViewportSize({ width: 1360, height: 820 });
  };
  const isWithin = async (page: Page): Promise<void> => {
    await page.setViewportSize({ width: 390, height: 844 });
    const fits = (): boolean => document.documentElement.scrollWidth <= innerWidth;
    await page.waitForFunction(fits, undefined, { timeout: 10_000 }).catch(async () => {
      const wide = await page.evaluate(() => [...document.querySelectorAll("body *")]
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
        .map((each) => `${each.tagName} ${each.className} ${each.textContent?.slice(0, 30)}`));
      assert.fail(`sideways scrolling: ${wide.join(" | ")}`);
    });
    await page.setViewportSize({ width: 1360, height: 820 });
  };

  test("a project is made, filled, shared and deleted; what it holds moves back", async () => {
    const sales = await canvasOf("Sales helper");
    await canvasOf("Support helper");
    await api("POST", "/datasets", { name: "Price list", team: true });
    await api("POST", "/memories", { name: "Customers", types: ["raw"], permission: "team" });
    const { page, done } = await enter("#settings=projects");
    const list = page.getByRole("list", { name: "Project" });
    await page.getByText("New project", { exact: true }).click();
    await page.getByLabel("Name").fill("Sales");
    await page.getByRole("button", { name: "Create project" }).click();
    const row = list.locator("> li", { hasText: "Sales" }).last();
    const usual = list.locator("> li", { hasText: "Default project" });
    await row.getByText("your role: Admin").waitFor();

    await usual.getByLabel("Contents: Default project").click();
    await usual.getByLabel("Select Sales helper").check();
    await usual.getByLabel("Select Price list").check();
    await usual.getByLabel("Select Customers").check();
    await usual.getByLabel("Name of the tag").fill("trial");
    await usual.getByRole("button", { name: "Add tag" }).click();
    await usual.getByText("1 of 1 done").waitFor();
    assert.deepEqual((await api<{ tags: string[] }>("GET", `/canvases/${sales}`)).tags, ["trial"]);
    await usual.getByRole("combobox", { name: "Tag", exact: true }).selectOption("trial");
    await counted(usual.getByRole("checkbox", { name: /^Select (?!all)/ }), 1);
    await looked(page, "project-contents");
    await isWithin(page);
    await usual.getByLabel("Select Sales helper").check();
    await usual.getByLabel("Name of the tag").fill("trial");
    await usual.getByRole("button", { name: "Remove tag" }).click();
    await usual.getByLabel("Select Support helper").waitFor(); // nothing has the tag, so it filters no more
    for (const name of ["Sales helper", "Price list", "Customers"]) await usual.getByLabel(`Select ${name}`).check();
    await usual.getByLabel("Move to").selectOption({ label: "Sales" });
    await usual.getByRole("button", { name: "Move", exact: true }).click();
    await usual.getByText("3 of 3 done").waitFor();
    await counted(usual.getByText("Sales helper"), 0);
    await usual.getByText("Support helper").waitFor();
    await usual.getByLabel("Contents: Default project").click();

    await row.getByLabel("Members and groups: Sales").click();
    await row.getByLabel("Person or group").selectOption({ label: "Group hr" });
    await row.getByRole("combobox", { name: "Role", exact: true }).selectOption("viewer");
    await row.getByRole("button", { name: "Give role" }).click();
    await row.getByText("given here: Viewer").waitFor();

    await row.getByLabel("Contents: Sales").click();
    await row.getByRole("button", { name: "Share Sales helper" }).click();
    const dialog = page.getByRole("dialog", { name: "Share Sales helper" });
    const holders = dialog.getByRole("list", { name: "Who has a role" });
    await holders.locator("li", { hasText: "Group hr" }).getByText("through the project: Viewer").waitFor();
    await dialog.getByLabel("Person or group").selectOption({ label: "ann (ann@x.org)" });
    await dialog.getByRole("combobox", { name: "Role", exact: true }).selectOption("runner");
    await dialog.getByRole("button", { name: "Give role" }).click();
    const own = holders.locator("li", { hasText: "ann" });
    await own.getByText("given here: Runner").waitFor();
    assert.ok(!(await dialog.textContent())?.includes(ann), "no ids are shown");
    await own.getByLabel("Role of ann", { exact: true }).selectOption("editor");
    await own.getByText("given here: Editor").waitFor();
    const given = async (): Promise<string[]> =>
      (await api<{ items: { subject: string; role: string }[] }>("GET", `/grants?object=canvas:${sales}`)).items
        .map(({ subject, role }) => `${subject} ${role}`);
    assert.deepEqual(await given(), [`user:${ann} editor`]);
    await looked(page, "share-canvas");
    await isWithin(page);
    await own.getByRole("button", { name: "Take back the role of ann" }).dblclick();
    await own.getByRole("button", { name: "Take it back" }).waitFor(); // asked once, taken back not yet
    assert.deepEqual(await given(), [`user:${ann} editor`]);
    await own.getByRole("button", { name: "Take it back" }).click();
    await counted(own, 0);
    assert.deepEqual(await given(), []);
    await dialog.getByLabel("Open to everyone").uncheck();
    await dialog.getByText("Only its owner uses it").waitFor();
    await counted(holders.getByText(/through the project/), 0);
    await dialog.getByRole("button", { name: "Close" }).click();

    await row.getByRole("button", { name: "Share Customers" }).click();
    const memory = page.getByRole("dialog", { name: "Share Customers" });
    await memory.getByText("A memory has the roles of its project only.").waitFor();
    await counted(memory.getByRole("button", { name: "Give role" }), 0);
    await memory.getByRole("button", { name: "Close" }).click();

    await row.getByText("Rename", { exact: true }).click();
    await row.getByLabel("Name", { exact: true }).fill("Selling");
    await row.getByRole("button", { name: "Save" }).click();
    const renamed = list.locator("> li", { hasText: "Selling" });
    await renamed.getByLabel("Delete project: Selling").click();
    await renamed.getByText("Canvases: 1 · Datasets: 1 · Memories: 1 · Secrets: 0").waitFor();
    await renamed.getByText("Roles that end: 1").waitFor();
    await looked(page, "project-delete");
    await renamed.getByRole("button", { name: "Delete the project Selling" }).click();
    await counted(list.locator("> li"), 1);
    assert.equal((await api<{ project: string }>("GET", `/canvases/${sales}`)).project, "");
    await done(refused);
  });

  test("datasets are listed by project, and shared from their settings", async () => {
    const { id: project } = await api<{ id: string }>("POST", "/projects", { name: "Law" });
    await api("POST", "/datasets", { name: "Contracts", team: true, project });
    await api("POST", "/datasets", { name: "Menus", team: true });
    const { page, done } = await enter("#knowledge");
    await page.getByRole("link", { name: /^Menus/ }).waitFor();
    await page.getByRole("combobox", { name: "Project", exact: true }).selectOption({ label: "Law" });
    await counted(page.getByRole("link", { name: /^Menus/ }), 0);
    await page.getByRole("combobox", { name: "Project", exact: true }).selectOption({ label: "Default project" });
    await counted(page.getByRole("link", { name: /^Contracts/ }), 0);
    await page.getByRole("combobox", { name: "Project", exact: true }).selectOption({ label: "Law" });
    await page.getByRole("link", { name: /^Contracts/ }).click();
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Share Contracts" }).click();
    const dialog = page.getByRole("dialog", { name: "Share Contracts" });
    await dialog.getByRole("combobox", { name: "Project" }).selectOption({ label: "Default project" });
    await dialog.getByText("After a move the roles of the other project count.").waitFor();
    await dialog.getByRole("button", { name: "Move", exact: true }).click();
    await dialog.getByText("Each member of the tenant").waitFor();
    await looked(page, "share-dataset");
    await done(refused);
  });

  test("before a user is deleted it is shown what the user has, and handed over", async () => {
    const person = async (name: string): Promise<string> =>
      (await api<{ id: string }>("POST", "/users", { email: `${name}@x.org`, password: "battery staple" })).id;
    await person("dora");
    await api("POST", "/users", { email: "long@x.org", password: "battery staple", nickname: "Longname".repeat(12) });
    const erik = await person("erik");
    const { page, done } = await enter("#settings=users");
    const row = (name: string): ReturnType<Page["locator"]> =>
      page.getByRole("list", { name: "Users" }).locator("> li", { hasText: `${name}@x.org` });
    await row("dora").getByText("Delete user", { exact: true }).click();
    await row("dora").getByText("dora has nothing that would end").waitFor();
    await row("dora").getByRole("button", { name: "Delete the user dora" }).click();
    await counted(row("dora"), 0);

    // What erik has, as the host would count it: erik's own requests need a login.
    await page.route(`**/api/v2/users/${erik}/belongings`, async (route) => {
      const answer = await route.fetch();
      const counts = (await answer.json()) as Record<string, number>;
      await route.fulfill({ response: answer, json: { ...counts, canvases: 2, keys: 1, waits: 3 } });
    });
    await row("erik").getByText("Delete user", { exact: true }).click();
    const list = row("erik").getByRole("list", { name: "What erik has" });
    await list.getByText("Canvases: 2").waitFor();
    await list.getByText("pass to an owner of the tenant").waitFor();
    await list.getByText("are deleted").waitFor();
    await row("erik").getByLabel("Hand all over to").selectOption({ label: "ann (ann@x.org)" });
    await counted(list.getByText("is handed over"), 1);
    await row("erik").getByText("What acts for the user ends until").waitFor();
    await counted(row("erik").getByLabel("API keys too"), 0);
    const { user: me } = await api<{ user: string }>("GET", "/me");
    await row("erik").getByLabel("Hand all over to").selectOption(me);
    await row("erik").getByLabel("API keys too").check();
    await counted(list.getByText("is handed over"), 2);
    await list.getByText("are answered by reviewers").waitFor();
    await looked(page, "leaver");
    await isWithin(page);
    const sent = page.waitForRequest((request) => request.method() === "DELETE");
    await row("erik").getByRole("button", { name: "Delete the user erik" }).click();
    assert.equal(new URL((await sent).url()).searchParams.get("hand_over_to"), me);
    await counted(row("erik"), 0);
    await done(refused);
  });
});
