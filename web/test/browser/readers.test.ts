// Who reads documents, and the groups of members: set by names that a person sees, and enforced.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { parsed, serveHost, type Served } from "./host.ts";
import { counted, missing, raise, type Stage } from "./stage.ts";

const refused = /status of 401/;
const pictures = process.env["EASEL_PICTURES"]; // a folder, for a look at the views

describe("readers of documents", { skip: missing(), timeout: 600_000 }, () => {
  let host: Served;
  let stage: Stage;
  let ann: string;

  before(async () => {
    host = await serveHost();
    stage = await raise({ at: host.address + "/" });
    ({ id: ann } = await api<{ id: string }>("POST", "/users", { email: "ann@x.org", password: "battery staple" }));
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  const api = async <T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> => {
    const isForm = body instanceof FormData;
    const headers = { authorization: `Bearer ${host.key}`, ...(isForm ? {} : { "content-type": "application/json" }) };
    const sent = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) };
    const answer = await fetch(`${host.address}/api/v2${path}`, { method, headers, ...sent });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return (answer.status === 204 ? {} : await answer.json()) as T;
  };
  const enter = async (hash: string): ReturnType<Stage["visit"]> => {
    const visit = await stage.visit(hash);
    await visit.page.getByLabel("API key").fill(host.key);
    await visit.page.getByRole("button", { name: "Use this key" }).click();
    return visit;
  };
  const looked = async (page: Page, name: string, at?: Locator): Promise<void> => {
    await audit(page, name);
    if (!pictures) return;
    mkdirSync(pictures, { recursive: true });
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await at?.evaluate((element) => element.scrollIntoView({ block: "end" }));
      await page.screenshot({ path: join(pictures, `${name}-${width}.png`) });
    }
    await page.setViewportSize({ width: 1360, height: 820 });
  };

  test("documents are read by groups and people chosen by name", async () => {
    await api("PUT", `/users/${ann}/groups`, { groups: ["hr"] });
    const { id } = await api<{ id: string }>("POST", "/datasets", { name: "Handbook" });
    const form = new FormData();
    for (const name of ["pay.md", "plan.md", "rest.md"]) form.append("file", new Blob([`Text of ${name}.`]), name);
    await api("POST", `/datasets/${id}/documents?parse=true`, form);
    await parsed(host, id);
    type Listed = { items: { name: string; access?: string[] }[]; total: number };
    const lists = async (): Promise<Record<string, string[] | undefined>> =>
      Object.fromEntries((await api<Listed>("GET", `/datasets/${id}/documents`)).items
        .map(({ name, access }) => [name, access]));

    const { page, done } = await enter("#knowledge");
    await page.getByRole("link", { name: /^Handbook/ }).click();
    await page.getByRole("button", { name: "Who can read pay.md" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Has an effect once").waitFor();
    await dialog.getByLabel("Only these groups and people").check();
    await dialog.getByText("Choose at least one.").waitFor();
    assert.ok(await dialog.getByRole("button", { name: "Save" }).isDisabled());
    await dialog.getByRole("group", { name: "Groups" }).getByLabel("hr", { exact: true }).check();
    await dialog.getByRole("group", { name: "People" }).getByLabel("ann@x.org").check();
    assert.ok(!(await dialog.textContent())?.includes(ann), "no ids are shown");
    await looked(page, "readers-of-one");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Read by: hr, ann").waitFor();
    assert.deepEqual((await lists())["pay.md"]?.sort(), ["group:hr", `user:${ann}`]);

    await page.getByLabel("Select plan.md").check();
    await page.getByLabel("Select rest.md").check();
    await page.getByRole("button", { name: "Who can read…" }).click();
    await dialog.getByRole("heading", { name: "Who can read 2 documents" }).waitFor();
    await dialog.getByLabel("Everyone who may search").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("2 of 2 done").waitFor();
    await counted(page.getByText("Read by: Everyone who may search"), 2);
    await looked(page, "readers-marks");
    await page.getByRole("button", { name: "Who can read rest.md" }).click();
    await dialog.getByLabel("As set for the dataset").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await counted(page.getByText("Read by: Everyone who may search"), 1);

    await page.getByRole("tab", { name: "Settings" }).click();
    const settings = page.getByRole("form", { name: "Who can read" });
    await settings.getByRole("switch", { name: "Limit who reads documents" }).check();
    await settings.getByText("Documents without a list: 1. No one will read them, you included").waitFor();
    await looked(page, "readers-lost", settings);
    await settings.getByLabel("Only these groups and people").check();
    await settings.getByLabel("hr", { exact: true }).check();
    await settings.getByText("Documents without a list: 1. Everyone else").waitFor();
    await settings.getByRole("button", { name: "Set who can read" }).click();
    await settings.getByText("Saved").waitFor();
    const { access } = await api<{ access: object }>("GET", `/datasets/${id}`);
    assert.deepEqual(access, { enforce: true, default: ["group:hr"] });

    // The host's key has no groups: it sets lists and does not read what they keep from it.
    await page.getByRole("tab", { name: "Documents" }).click();
    await page.getByRole("link", { name: "plan.md" }).waitFor();
    await counted(page.locator(".entries > li"), 1);
    await page.getByRole("tab", { name: "Settings" }).click();
    await settings.getByRole("switch").uncheck();
    await settings.getByText("Everyone who may use the dataset").waitFor();
    await settings.getByRole("button", { name: "Set who can read" }).click();
    await settings.getByText("Saved").waitFor();
    assert.equal((await api<{ access: { enforce: boolean } }>("GET", `/datasets/${id}`)).access.enforce, false);
    await done(refused);
  });

  test("groups of a member are added and removed by hand, those of a provider are only shown", async () => {
    await api("PUT", `/users/${ann}/groups`, { groups: ["hr"] });
    const { page, done } = await enter("#settings=users");
    const row = page.getByRole("list", { name: "Users" }).locator("> li", { hasText: "ann@x.org" });
    // A group of a provider needs a sign-in there, so this answer has one more than the host's.
    await page.route(`**/api/v2/users/${ann}/groups`, async (route) => {
      const answer = await route.fetch();
      const { items } = (await answer.json()) as { items: object[] };
      await route.fulfill({ response: answer, json: { items: [...items, { name: "staff", source: "corp" }] } });
    });
    await row.getByText("Groups", { exact: true }).click();
    const groups = row.getByRole("list", { name: "Groups" });
    await groups.getByText("set at each sign-in by the provider corp").waitFor();
    await counted(groups.getByRole("button", { name: /hr/ }), 1);
    await counted(groups.getByRole("button", { name: /staff/ }), 0);
    await row.getByText("Add group", { exact: true }).first().click();
    await row.getByLabel("Name of the group").fill("ops");
    await looked(page, "groups", row);
    await row.getByRole("button", { name: "Add group" }).click();
    await groups.getByText("ops").waitFor();
    const set = async (): Promise<string[]> =>
      (await api<{ items: { name: string }[] }>("GET", `/users/${ann}/groups`)).items.map(({ name }) => name);
    assert.deepEqual(await set(), ["hr", "ops"]);
    await groups.getByRole("button", { name: /hr/ }).click();
    await groups.getByRole("button", { name: /no longer reads/ }).click();
    await counted(groups.getByText("hr", { exact: true }), 0);
    assert.deepEqual(await set(), ["ops"]);
    await done(refused);
  });
});
