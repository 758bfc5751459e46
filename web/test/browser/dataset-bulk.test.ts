// Many documents of a dataset at once: uploads with a result each, bulk acts that fail in the
// middle, chunks that others change, hostile names, and a member who may only look.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { parsed, serveHost, type Served } from "./host.ts";
import { counted, missing, raise, type Stage } from "./stage.ts";

const refused = /status of (40[149]|422|500)/;

interface Listed {
  id: string;
  name: string;
  method: string;
  enabled: boolean;
  metadata: object;
}

describe("many documents of a dataset", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "easel-many-"));
    host = await serveHost();
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const api = async <T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> => {
    const isForm = body instanceof FormData;
    const headers = { authorization: `Bearer ${host.key}`, ...(isForm ? {} : { "content-type": "application/json" }) };
    const sent = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) };
    const answer = await fetch(`${host.address}/api/v2${path}`, { method, headers, ...sent });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return (answer.status === 204 ? {} : await answer.json()) as T;
  };
  const dataset = async (name: string, files: Record<string, string>, parse = false): Promise<string> => {
    const { id } = await api<{ id: string }>("POST", "/datasets", { name });
    const form = new FormData();
    for (const [file, text] of Object.entries(files)) form.append("file", new Blob([text]), file);
    if (Object.keys(files).length > 0) await api("POST", `/datasets/${id}/documents?parse=${parse}`, form);
    if (parse) await parsed(host, id);
    return id;
  };
  const open = async (name: string, key = host.key): ReturnType<Stage["visit"]> => {
    const visit = await stage.visit("#knowledge");
    await visit.page.getByLabel("API key").fill(key);
    await visit.page.getByRole("button", { name: "Use this key" }).click();
    await visit.page.getByRole("link", { name: new RegExp(`^${name}`) }).click();
    return visit;
  };
  const documents = (id: string): Promise<{ items: Listed[]; total: number }> =>
    api("GET", `/datasets/${id}/documents?page_size=1000`);
  const chooseAll = async (page: Page, total: number): Promise<void> => {
    await page.getByLabel("All on this page").check();
    const all = page.getByRole("button", { name: `Select all ${total}` });
    if (total > 50) await all.click();
    await page.getByText(`${total} selected`, { exact: true }).waitFor();
  };

  test("a folder of 30 files, of which 3 are refused, says what became of each", async () => {
    const many = join(folder, "many");
    mkdirSync(join(many, "inner"), { recursive: true });
    for (let i = 0; i < 27; i++)
      writeFileSync(join(many, i < 20 ? "" : "inner", `note-${i}.md`), `# Note ${i}\n\nText ${i}.`);
    writeFileSync(join(many, "run.exe"), "MZ\u0090\u0000\u0003\u0000\u0000\u0000");
    writeFileSync(join(many, "empty.md"), "");
    writeFileSync(join(many, "old.bin"), Buffer.from("4d5a900003000000", "hex"));
    const id = await dataset("Folder", {});
    const { page, done } = await open("Folder");
    await page.locator('.area input[type="file"]').first().setInputFiles(many);
    await page.getByText("27 of 30 accepted · 3 refused").waitFor();
    for (const name of ["run.exe", "empty.md", "old.bin"])
      await page.locator(".uploads li", { hasText: name }).waitFor();
    await page.locator(".uploads li", { hasText: "odt, ods and odp can" }).first().waitFor();
    assert.equal((await documents(id)).total, 27);
    await page.locator('.area input[type="file"]').last().setInputFiles([
      { name: "copy.md", mimeType: "text/markdown", buffer: Buffer.from("# Note 1\n\nText 1.") },
    ]);
    const copy = page.locator(".uploads li", { hasText: 'the dataset has the same file as "note-1.md"' });
    await copy.waitFor();
    await audit(page, "uploads");
    await copy.getByRole("button", { name: "Add anyway" }).click();
    await page.getByText("28 of 31 accepted · 3 refused").waitFor();
    assert.equal((await documents(id)).total, 28);
    await done(refused);
  });

  test("200 documents are parsed another way, and a failure in the middle is repeated", async () => {
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`note-${i}.txt`, `Note ${i}`]));
    const id = await dataset("Two hundred", files);
    const { page, done } = await open("Two hundred");
    await chooseAll(page, 200);
    let requests = 0;
    await page.route(`**/api/v2/datasets/${id}/documents`, (route) => {
      if (route.request().method() !== "PATCH") return route.continue();
      if (++requests !== 4) return route.continue();
      return route.fulfill({ status: 500, body: '{"error":{"code":"internal","message":"broken"}}' });
    });
    await page.getByRole("button", { name: "Parse again…" }).click();
    await page.getByLabel("Not cut").check();
    await page.getByRole("button", { name: "Preview the chunks" }).click();
    await page.locator(".cut-made li", { hasText: "Note" }).waitFor();
    await audit(page, "another cut");
    await page.locator("dialog").getByRole("button", { name: "Parse 200 documents" }).click();
    await page.getByText("60 of 200 done").waitFor();
    await page.locator(".bulk-report .fault", { hasText: "140 are left" }).waitFor();
    assert.equal((await documents(id)).items.filter(({ method }) => method === "one").length, 60);
    await page.getByRole("button", { name: "Do the rest" }).click();
    await page.getByText("140 of 140 done").waitFor();
    assert.equal((await documents(id)).items.filter(({ method }) => method === "one").length, 200);
    await parsed(host, id);

    await page.getByRole("button", { name: "Metadata…" }).click();
    await page.getByRole("button", { name: "Add a value" }).click();
    await page.getByPlaceholder("Name of the value").fill("__proto__");
    await page.getByLabel("Value of __proto__").fill("first");
    await page.getByRole("button", { name: "Add a value" }).click();
    await page.getByPlaceholder("Name of the value").last().fill("year");
    await page.getByLabel("Type of year").selectOption("number");
    await page.getByLabel("Value of year").fill("ten");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Not a number.").waitFor();
    await audit(page, "metadata");
    await page.getByLabel("Value of year").fill("2026");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("200 of 200 done").waitFor();
    const { items } = await documents(id);
    const stored = items.filter(({ metadata }) => JSON.stringify(metadata) === '{"__proto__":"first","year":2026}');
    assert.equal(stored.length, 200);
    await page.locator(".entries .chip", { hasText: "__proto__: first" }).first().waitFor();

    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByText("Switch off: 200 of 200 done").waitFor();
    assert.equal((await documents(id)).items.filter(({ enabled }) => enabled).length, 0);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: /^Delete 200 documents for good, with 200 chunks/ }).click();
    await page.getByText("No documents yet").waitFor();
    assert.equal((await documents(id)).total, 0);
    await done(refused);
  });

  test("a delete names the canvases that search the dataset", async () => {
    const id = await dataset("Searched", { "a.md": "Apples." });
    await api("POST", "/canvases", {
      title: "Help <b>desk</b>",
      dsl: {
        components: {
          begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Retrieval:A"] },
          "Retrieval:A": { obj: { component_name: "Retrieval", params: { kb_ids: [id] } }, upstream: ["begin"] },
        },
      },
    });
    const { page, done } = await open("Searched");
    await page.getByLabel("All on this page").check();
    await page.waitForResponse(/\/canvases$/).catch(() => undefined);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: /Canvases that search it: “Help <b>desk<\/b>”/ }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal((await documents(id)).total, 1);
    await done(refused);
  });

  test("Escape keeps what was entered until it is pressed again, and deleted documents are not selected", async () => {
    const id = await dataset("Kept", { "a.md": "Apples.", "b.md": "Pears." });
    const { page, done } = await open("Kept");
    await page.getByLabel("All on this page").check();
    await page.getByRole("button", { name: "Metadata…" }).click();
    const dialog = page.locator("dialog.metadata");
    await dialog.getByRole("button", { name: "Add a value" }).click();
    await dialog.getByPlaceholder("Name of the value").fill("year");
    await page.keyboard.press("Escape");
    await dialog.getByText("These changes are not saved.").waitFor();
    assert.equal(await dialog.getByPlaceholder("Name of the value").inputValue(), "year");
    await audit(page, "metadata that is not saved");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Select none" }).click();
    await page.getByLabel("Select b.md").check();
    await page.getByText("1 selected", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: /^Delete 1 documents for good/ }).click();
    await page.getByText("All on this page").waitFor();
    await counted(page.getByText(/\d selected/), 0);
    assert.equal((await documents(id)).total, 1);
    await done(refused);
  });

  test("hostile names and values are text, and are refused where they cannot be stored", async () => {
    const html = '<img src=x onerror="document.title=1">.md';
    const id = await dataset("Hostile", { [html]: "Apples.", ["x".repeat(240) + ".md"]: "Pears." });
    const { page, done } = await open("Hostile");
    await page.locator(".entries > li", { hasText: "<img src=x" }).waitFor();
    assert.equal(await page.locator(".entries img").count(), 0);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing is wider than the screen");
    await page.locator('.area input[type="file"]').last().setInputFiles([
      { name: "x".repeat(300) + ".md", mimeType: "text/plain", buffer: Buffer.from("long") },
    ]);
    await page.getByText("0 of 1 accepted · 1 refused").waitFor();
    await page.locator(".uploads li", { hasText: "255 bytes or less" }).waitFor();
    await page.getByLabel("All on this page").check();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Parse again…" }).click();
    await page.getByRole("button", { name: "Preview the chunks" }).waitFor();
    const wider = await page.locator("dialog.cut-dialog").evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth);
    assert.equal(wider, 0, "a long name does not widen the dialog");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Metadata…" }).click();
    await page.getByRole("button", { name: "Add a value" }).click();
    await page.getByPlaceholder("Name of the value").fill("big");
    await page.getByLabel("Value of big").evaluate((input: HTMLInputElement) => {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, "x".repeat(1_000_000));
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".bulk-report .fault", { hasText: "at most 65536" }).waitFor();
    assert.equal((await documents(id)).items.every(({ metadata }) => JSON.stringify(metadata) === "{}"), true);
    await done(refused);
  });

  test("a chunk is split and merged, and nothing typed is lost to others or to a parse", async () => {
    const text = "# One\n\nFirst rule. Second rule.\n\n# Two\n\nThird rule.";
    const id = await dataset("Chunks", { "rules.md": text }, true);
    const { items: [document] } = await documents(id);
    const path = `/datasets/${id}/documents/${document?.id}/chunks`;
    const chunks = (): Promise<{ items: { id: string; content: string }[] }> => api("GET", path);
    const { page, done } = await open("Chunks");
    await page.getByRole("link", { name: "rules.md" }).click();
    const first = page.locator(".chunk-card").first();
    await first.getByRole("button", { name: "Edit chunk 1" }).click();
    await page.locator(".chunk-card.edit textarea").first().click();
    await page.keyboard.press("Control+Home");
    for (let i = 0; i < 2; i++) await page.keyboard.press("ArrowDown");
    for (let i = 0; i < "First rule. ".length; i++) await page.keyboard.press("ArrowRight");
    await page.getByRole("button", { name: "Split here" }).click();
    await counted(page.locator(".chunk-card:not(.edit)"), 3);
    const texts = (await chunks()).items.map(({ content }) => content.replace(/^#.*\n\n/, ""));
    assert.deepEqual(texts, ["First rule.", "Second rule.", "Third rule."]);
    await page.getByRole("button", { name: "Merge chunk 1 with the next" }).click();
    await counted(page.locator(".chunk-card"), 2);
    assert.match((await chunks()).items[0]?.content ?? "", /First rule\.\nSecond rule\./);

    await page.getByRole("button", { name: "Edit chunk 1" }).click();
    await page.locator(".chunk-card.edit textarea").first().fill("My rule.");
    const { items: [now] } = await chunks();
    await api("PATCH", `${path}/${now?.id}`, { content: "Their rule." });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Somebody changed this chunk").waitFor();
    await page.locator(".chunk-theirs", { hasText: "Their rule." }).waitFor();
    await audit(page, "conflict");
    assert.equal(await page.locator(".chunk-card.edit textarea").first().inputValue(), "My rule.");
    await page.getByRole("button", { name: "Save mine over it" }).click();
    await page.locator(".chunk-card:not(.edit)", { hasText: "My rule." }).waitFor();

    await page.getByRole("button", { name: "Edit chunk 2" }).click();
    await page.locator(".chunk-card.edit textarea").first().fill("Typed for long.");
    await page.keyboard.press("Escape");
    await page.getByText("unsaved text").waitFor();
    await page.getByRole("button", { name: "Edit chunk 2" }).click();
    assert.equal(await page.locator(".chunk-card.edit textarea").first().inputValue(), "Typed for long.");
    const { items: [, second] } = await chunks();
    await api("DELETE", `${path}/${second?.id}`);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("This chunk does not exist any more").waitFor();
    await page.getByRole("button", { name: "Add mine as a new chunk" }).click();
    await page.locator(".chunk-card:not(.edit)", { hasText: "Typed for long." }).waitFor();
    assert.deepEqual((await chunks()).items.map(({ content }) => content), ["My rule.", "Typed for long."]);
    await done(refused);
  });

  test("what was typed and left does not undo what others did since, and a split keeps all fields", async () => {
    const id = await dataset("Left", { "rules.md": "# One\n\nFirst rule.\n\n# Two\n\nSecond rule." }, true);
    const { items: [document] } = await documents(id);
    const path = `/datasets/${id}/documents/${document?.id}/chunks`;
    const chunks = (): Promise<{ items: { id: string; content: string; keywords?: string[] }[] }> => api("GET", path);
    const { page, done } = await open("Left");
    await page.getByRole("link", { name: "rules.md" }).click();
    await page.getByRole("button", { name: "Edit chunk 1" }).click();
    await page.locator(".chunk-card.edit textarea").first().fill("Mine.");
    await page.keyboard.press("Escape");
    const { items: [first, second] } = await chunks();
    await api("PATCH", `${path}/${first?.id}`, { content: "Theirs." });
    await page.getByRole("link", { name: "Left" }).click();
    await page.getByRole("link", { name: "rules.md" }).click();
    await page.locator(".chunk-card", { hasText: "Theirs." }).waitFor();
    await page.getByRole("button", { name: "Edit chunk 1" }).click();
    assert.equal(await page.locator(".chunk-card.edit textarea").first().inputValue(), "Mine.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Somebody changed this chunk").waitFor();
    assert.equal((await chunks()).items[0]?.content, "Theirs.");
    await page.getByRole("button", { name: "Save mine over it" }).click();
    await page.locator(".chunk-card:not(.edit)", { hasText: "Mine." }).waitFor();

    await page.getByRole("button", { name: "Edit chunk 1" }).click();
    await page.locator(".chunk-card.edit").getByLabel("Keywords").fill("law");
    const area = page.locator(".chunk-card.edit textarea").first();
    await area.fill("One 😀 two");
    await area.press("Control+Home");
    for (let i = 0; i < "One ".length; i++) await area.press("ArrowRight");
    await page.getByRole("button", { name: "Split here" }).click();
    await counted(page.locator(".chunk-card:not(.edit)"), 3);
    const { items } = await chunks();
    assert.deepEqual(items.slice(0, 2).map(({ content }) => content), ["One", "😀 two"]);
    assert.deepEqual(items[0]?.keywords, ["law"]);

    await api("PATCH", `${path}/${items[1]?.id}`, { enabled: false });
    await page.getByLabel("Chunks shown").selectOption("true");
    await counted(page.locator(".chunk-card"), 2);
    await counted(page.getByRole("button", { name: /^Merge chunk/ }), 0); // the next one is not behind it
    assert.equal((await chunks()).items[2]?.id, second?.id);
    await done(refused);
  });

  test("documents that are selected late are not those of another filter", async () => {
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`file ${i}.md`, `Text ${i}.`]));
    await dataset("Late", files);
    const { page, done } = await open("Late");
    await page.getByLabel("All on this page").check();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => { release = resolve; });
    let answered = 0;
    await page.route("**/documents?*page_size=1000*", async (route) => {
      await held;
      await route.continue();
      answered++;
    });
    await page.getByRole("button", { name: "Select all 60" }).click();
    await page.getByLabel("Find a document").fill("file 7");
    await counted(page.locator(".entries > li"), 1);
    const late = page.waitForResponse((answer) => answer.url().includes("page_size=1000"));
    release();
    await (await late).finished();
    await page.getByLabel("All on this page").waitFor(); // still nothing is selected
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await counted(page.getByText("60 selected", { exact: true }), 0);
    assert.equal(answered, 1);
    await done(refused);
  });

  test("the file of a document is replaced, and a citation opens its chunk", async () => {
    const id = await dataset("Replaced", { "fruit.md": "Apples are red." }, true);
    const { items: [document] } = await documents(id);
    const { page, done } = await open("Replaced");
    await page.getByRole("link", { name: "fruit.md" }).click();
    await page.locator(".chunk-card", { hasText: "Apples" }).waitFor();
    const path = `/datasets/${id}/documents/${document?.id}/chunks`;
    const { items: [old] } = await api<{ items: { id: string }[] }>("GET", path);
    await page.evaluate((to) => { location.hash = to; }, `#knowledge=${id}/${document?.id}/${old?.id}`);
    await page.getByText("Cited chunk").waitFor();
    await counted(page.locator(".chunk-card"), 1);
    await audit(page, "cited chunk");
    await page.getByRole("link", { name: "All chunks of this document" }).click();
    const replaced = page.waitForResponse((answer) => answer.request().method() === "PUT");
    await page.locator('.area input[type="file"]').setInputFiles([
      { name: "fruit.md", mimeType: "text/markdown", buffer: Buffer.from("Pears are green.") },
    ]);
    await replaced;
    await parsed(host, id);
    await page.evaluate((to) => { location.hash = to; }, `#knowledge=${id}/${document?.id}/${old?.id}`);
    await page.getByText("The cited chunk is not there any more").waitFor();
    await page.getByRole("link", { name: "All chunks of this document" }).click();
    await page.locator(".chunk-card", { hasText: "Pears" }).waitFor();
    await done(refused);
  });

  test("a search is filtered by metadata, and says why a hit has its score", async () => {
    const files = { "old.md": "Goods are returned by mail.", "new.md": "Goods are returned in shops." };
    const id = await dataset("Filtered", files, true);
    const { items } = await documents(id);
    for (const { id: document, name } of items)
      await api("PATCH", `/datasets/${id}/documents/${document}`, {
        metadata: { year: name === "new.md" ? 2026 : 2020 },
      });
    const { page, done } = await open("Filtered");
    await page.getByRole("tab", { name: "Test a search" }).click();
    await page.getByLabel("Ask as a user would").fill("returned goods");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await counted(page.locator(".chunk-card"), 2);
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByLabel("Comparison of year").selectOption(">");
    await page.getByLabel("Value of year").fill("2021");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await counted(page.locator(".chunk-card"), 1);
    await page.getByText("Why this score").click();
    await page.getByText("Words that match: goods, returned").waitFor();
    await audit(page, "search");
    await page.locator(".chunk-card").getByRole("link", { name: "new.md" }).click();
    await page.getByText("Cited chunk").waitFor();
    await done(refused);
  });

  test("who may only read sees documents and chunks, and nothing that changes them", async () => {
    await dataset("Look only", { "a.md": "Apples." }, true);
    const { key } = await api<{ key: string }>("POST", "/keys", { name: "reader", scopes: ["read"] });
    const { page, done } = await open("Look only", key);
    await page.locator(".entries > li", { hasText: "a.md" }).waitFor();
    await counted(page.locator('.entries input[type="checkbox"], .batch, .area input[type="file"]'), 0);
    await page.getByRole("link", { name: "a.md" }).click();
    await page.locator(".chunk-card").waitFor();
    await counted(page.locator(".area").getByRole("button", { name: /Add|Edit|Delete|Merge|Replace/ }), 0);
    await done(/status of 40[13]/);
  });
});
