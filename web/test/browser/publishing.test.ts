// The view that publishes a canvas, with a real host: its checks, versions, programs, webhook and
// schedules. EASEL_PICTURES names a folder for a picture of each, large and small, light and dark.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { counted, missing, raise, type Stage } from "./stage.ts";

const desktop = { width: 1440, height: 900 };
const pictures = process.env["EASEL_PICTURES"];

interface Dsl {
  components: Record<string, { obj: { component_name: string; params: Record<string, unknown> } }>;
}

// answering returns a canvas that answers with a text.
function answering(text: string, start: Record<string, unknown> = {}): Dsl {
  const node = (component_name: string, params: object, upstream: string[], downstream: string[]): never =>
    ({ obj: { component_name, params }, upstream, downstream }) as never;
  return {
    components: {
      begin: node("Begin", start, [], ["Message:Say"]),
      "Message:Say": node("Message", { content: [text] }, ["begin"], []),
    },
  };
}

describe("publishing", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  before(async () => {
    host = await serveHost();
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(host.address + path, {
      method,
      headers: { authorization: `Bearer ${host.key}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  }

  const create = async (title: string, dsl: Dsl): Promise<string> =>
    (await request<{ id: string }>("POST", "/api/v2/canvases", { title, dsl })).id;

  // view opens a canvas and the view that publishes it.
  async function view(id: string): Promise<{ page: Page; dialog: Locator; done(expected?: RegExp): Promise<void> }> {
    const { page, done } = await stage.visit("login", desktop);
    await page.getByLabel("Password or API key").fill(host.key);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL((url) => url.pathname === "/");
    await page.goto(`${host.address}/#host`);
    await page.locator(".on-host .cards").waitFor();
    await page.goto(`${host.address}/#canvas=${id}`);
    await page.locator(".box").first().waitFor();
    await page.locator(".bar").getByRole("button", { name: "Publish" }).click();
    const dialog = page.locator("dialog.publish");
    await dialog.locator(".publish-tabs").waitFor();
    return { page, dialog, done };
  }

  test("missing parts are listed with links to their node; the checked revision is published", async () => {
    const id = await create("Checked", answering("key: {{secret:SHOP_KEY}}"));
    const { page, dialog, done } = await view(id);
    const missing = dialog.locator('.checks li[data-state="error"]', { hasText: "Secret SHOP_KEY" });
    await missing.waitFor();
    const publish = dialog.getByRole("button", { name: /^Publish (anyway|this version)$/ });
    assert.equal(await publish.isDisabled(), true);
    await look(page, "checks");
    await missing.getByRole("button", { name: "Show" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.locator('.react-flow__node.selected[data-id="Message:Say"]').waitFor();

    await request("PUT", "/api/v2/secrets/SHOP_KEY", { value: "a secret" });
    await page.locator(".bar").getByRole("button", { name: "Publish" }).click();
    await dialog.getByText("Everything that the canvas needs is on this host").waitFor();
    await publish.click();
    await dialog.getByText("Published. Users get this version").waitFor();
    await look(page, "published");
    const { published } = await request<{ published?: { at: string } }>("GET", `/api/v2/canvases/${id}`);
    assert.ok(published?.at);
    await counted(page.locator(".note-bar"), 0, "no changes of others are announced");
    await dialog.getByRole("button", { name: "Close" }).click();

    // Another program publishes, and then changes the canvas.
    const { rev } = await request<{ rev: number }>("POST", `/api/v2/canvases/${id}/publish`, {});
    await request("PUT", `/api/v2/canvases/${id}`, { rev, dsl: answering("Another text") });
    await page.getByText("Changes of ").waitFor();
    await page.locator('.react-flow__node[data-id="Message:Say"]', { hasText: "Another text" }).waitFor();
    await done();
  });

  test("what becomes readable is listed, and the canvas is shared with the tenant and back", async () => {
    await request("POST", "/api/v2/datasets", { name: "Handbook" });
    const dsl = answering("x");
    dsl.components["Retrieval:R"] = {
      obj: { component_name: "Retrieval", params: { kb_ids: ["handbook", "nowhere"] } },
      upstream: [],
      downstream: [],
    } as never;
    const id = await create("Ours", dsl);
    const { page, dialog, done } = await view(id);
    const checks = (state: string, text: string): Locator =>
      dialog.locator(`.checks li[data-state="${state}"]`, { hasText: text });
    await checks("warning", "Only you can use dataset Handbook.").waitFor();
    await checks("error", 'dataset "nowhere" does not exist').waitFor();
    await look(page, "opened");
    const permission = async (): Promise<string> =>
      (await request<{ permission: string }>("GET", `/api/v2/canvases/${id}`)).permission;
    assert.equal(await permission(), "me");
    await dialog.getByLabel("Visible to everyone in the tenant").check();
    await dialog.locator(".share input:checked:enabled").waitFor();
    assert.equal(await permission(), "team");
    await request("PUT", `/api/v2/canvases/${id}`, { dsl: answering("y") });
    await checks("good", "Everything that the canvas needs is on this host").waitFor();
    await dialog.getByRole("button", { name: "Publish this version" }).click();
    await dialog.getByText("Published. Users get this version").waitFor();
    await page.goto(`${host.address}/#host`);
    await page.reload(); // another hash alone loads nothing
    const card = page.getByLabel("Visible to everyone in the tenant: Ours");
    await card.uncheck();
    await card.and(page.locator(":not(:checked):enabled")).waitFor();
    assert.equal(await permission(), "me");
    await audit(page, "shared");
    await done(/404/); // the names of the datasets, which are looked up as ids first
  });

  test("versions are compared with the canvas, named and restored, and the restore is undone", async () => {
    const id = await create("Told twice", answering("The first text."));
    const { rev } = await request<{ rev: number }>("GET", `/api/v2/canvases/${id}`);
    const longer = "The second text, which is longer.\n".repeat(8) + "It ends.";
    await request("PUT", `/api/v2/canvases/${id}`, { rev, dsl: answering(longer) });
    const { page, dialog, done } = await view(id);
    await dialog.locator("#section-history").click();
    const versions = dialog.locator(".versions > ul button");
    await versions.nth(1).click();
    await dialog.locator(".change", { hasText: "Message:Say" }).waitFor();
    await dialog.locator(".setting-diff .editor").getByText("The first text.").waitFor();
    await look(page, "history");

    await dialog.getByRole("button", { name: "Rename" }).click();
    await dialog.getByLabel("Name of the version").fill("The short one");
    await dialog.getByRole("button", { name: "Done" }).click();
    await versions.filter({ hasText: "The short one" }).waitFor();

    await dialog.getByRole("button", { name: "Restore this version" }).click();
    await dialog.getByText("Restored.").waitFor();
    await dialog.getByText("This version is the same as the canvas now.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    const card = page.locator('.react-flow__node[data-id="Message:Say"]');
    await card.getByText("The first text.").waitFor();
    await page.locator(".board").focus();
    await page.keyboard.press("Control+z");
    await card.getByText("The second text").waitFor();
    await done();
  });

  test("the programs of the API page run unchanged and print the answer", async (t) => {
    const id = await create("Asked", answering("You asked: {sys.query}"));
    await request("POST", `/api/v2/canvases/${id}/publish`, {});
    const { page, dialog, done } = await view(id);
    await dialog.locator("#section-api").click();
    await dialog.getByRole("button", { name: "Make a key" }).click();
    await dialog.getByText("Shown once.").waitFor();
    const shown = async (label: string): Promise<string> => {
      await dialog.getByLabel(label, { exact: true }).check();
      await dialog.locator(".snippet figcaption", { hasText: label }).waitFor();
      return dialog.locator(".snippet code").innerText();
    };
    const runs: [label: string, program: string, args: (text: string) => string[]][] = [
      ["curl", "sh", (text) => ["-c", text]],
      ["JavaScript", process.execPath, (text) => ["--input-type=module", "-e", text]],
      ["Python", "python3", (text) => ["-c", text]],
    ];
    for (const [label, program, args] of runs) {
      const needed = label === "curl" ? "curl" : program;
      if (spawnSync(needed, ["--version"]).status !== 0) {
        t.diagnostic(`${label} is not run: there is no ${needed} here`);
        continue;
      }
      const text = await shown(label);
      const { code, out } = await output(program, args(text));
      assert.equal(code, 0, `${label}: ${out}`);
      const answer = label === "curl" ? answerOf(out) : out.trim();
      assert.equal(answer, "You asked: How can I return a parcel?", label);
    }
    await look(page, "api");
    await done();
  });

  test("the chat for sites is previewed as it is chosen, and answers", async () => {
    const id = await create("Previewed", answering("hello {sys.query}", { prologue: "Welcome" }));
    const { page, dialog, done } = await view(id);
    await dialog.locator("#section-embed").click();
    const preview = dialog.locator(".embed-preview");
    await preview.getByText("Preview, with the saved canvas until one is published").waitFor();
    await preview.getByText("Welcome").waitFor();
    await preview.getByRole("textbox").fill("there");
    await preview.getByRole("textbox").press("Enter");
    await preview.getByText("hello there").waitFor();
    await dialog.getByLabel("Colour").fill("#7a1fa2");
    await page.waitForFunction(() => {
      const host = document.querySelector(".embed-site > div")?.shadowRoot;
      return getComputedStyle(host?.querySelector("header") as Element).backgroundColor === "rgb(122, 31, 162)";
    });
    await preview.getByText("hello there").waitFor(); // another colour begins no new conversation
    await dialog.getByLabel("Heading").fill("Ask our shop");
    await preview.getByRole("heading", { name: "Ask our shop" }).waitFor();
    await dialog.getByLabel("Language of the chat").selectOption("zh");
    await preview.getByRole("button", { name: "关闭聊天" }).first().click();
    await preview.getByRole("textbox").waitFor({ state: "hidden" });
    await preview.getByRole("button", { name: "打开聊天" }).click();
    await preview.getByRole("textbox").waitFor();
    await look(page, "embed");
    await done();
  });

  test("the secret for signed users is shown on request, and replaced", async () => {
    const id = await create("Signed", answering("hello"));
    await request("POST", `/api/v2/canvases/${id}/publish`, {});
    const { page, dialog, done } = await view(id);
    await dialog.locator("#section-embed").click();
    const section = dialog.locator("details.signing");
    await section.getByText("Users whom the site knows").click();
    await section.getByText("createHmac").waitFor();
    await section.getByLabel("Python").check();
    await section.getByText("import hashlib").waitFor();
    await section.getByRole("button", { name: "Show the secret" }).click();
    const figure = section.locator("figure", { hasText: "Signing secret" });
    const shown = (): Promise<string> => figure.locator("code").innerText();
    const secret = await shown();
    const stored = (): Promise<{ secret: string }> => request("POST", `/api/v2/canvases/${id}/token/secret`);
    assert.equal(secret, (await stored()).secret);
    await audit(page, "signing");
    await section.getByRole("button", { name: "Replace the secret" }).click();
    await section.getByText(secret).waitFor({ state: "detached" });
    assert.equal(await shown(), (await stored()).secret);
    const others = dialog.locator("figure", { hasNotText: "Signing secret" }).locator("code");
    for (const other of await others.allInnerTexts())
      assert.ok(!other.includes(await shown()), "no line for a page has the secret");
    await done();
  });

  test("a webhook is called from the page, which shows the response and the events of the run", async () => {
    const hook = { mode: "Webhook", methods: ["POST"], security: { auth_type: "none", allow_anonymous: true } };
    const id = await create("Called", answering("It was called.", hook));
    const { page, dialog, done } = await view(id);
    await dialog.locator("#section-webhook").click();
    await dialog.getByLabel("Body (JSON)").fill('{"order": 12');
    await dialog.getByText("The body is not valid JSON.").waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Send a test call" }).isDisabled(), true);
    await dialog.getByLabel("Body (JSON)").fill('{"order": 12}');
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/webhook/test")) sent.push(request.method());
    });
    await dialog.getByRole("button", { name: "Send a test call" }).dblclick();
    await dialog.getByText("The run succeeded.").waitFor();
    assert.deepEqual(sent, ["POST"], "a double click is one call");
    await dialog.locator(".snippet", { hasText: "Response 200" }).waitFor();
    await dialog.locator(".hook-events li", { hasText: "It was called." }).first().waitFor();
    await look(page, "webhook");
    await done();
  });

  test("a schedule is added, paused, resumed and deleted; an invalid one shows the reason", async () => {
    const id = await create("Daily", answering("Good morning."));
    const { page, dialog, done } = await view(id);
    await dialog.locator("#section-schedules").click();
    await dialog.getByText("Publish the canvas first").waitFor();
    await request("POST", `/api/v2/canvases/${id}/publish`, {});
    await dialog.locator("#section-release").click();
    await dialog.locator("#section-schedules").click();
    await dialog.getByLabel("Name").fill("Morning");
    await dialog.getByLabel("When").selectOption("cron");
    await dialog.getByLabel("Minute, hour").fill("61 8 * * *");
    await dialog.getByRole("button", { name: "Add schedule" }).click();
    await dialog.locator(".add-schedule .fault").waitFor();
    await dialog.getByLabel("Minute, hour").fill("30 7 * * mon-fri");
    await dialog.getByLabel("Message to the canvas").fill("What is new?");
    await dialog.getByRole("button", { name: "Add schedule" }).click();
    const row = dialog.locator(".schedules li", { hasText: "Morning" });
    await row.getByText(/^next: /).waitFor();
    await look(page, "schedules");
    await dialog.getByRole("button", { name: "Pause: Morning" }).click();
    await row.getByText("paused").waitFor();
    await dialog.getByRole("button", { name: "Resume: Morning" }).click();
    await row.getByText(/^next: /).waitFor();
    await dialog.getByRole("button", { name: "Delete: Morning" }).click();
    await dialog.getByText("No schedules yet.").waitFor();
    const { items } = await request<{ items: unknown[] }>("GET", `/api/v2/schedules?canvas=${id}`);
    assert.deepEqual(items, []);
    await done(/status of 4\d\d/);
  });
});

// answerOf returns the answer in the output of curl.
function answerOf(out: string): string {
  return (JSON.parse(out) as { data: { data: { content: string } } }).data.data.content;
}

// output runs a program while the host answers it.
function output(program: string, args: string[]): Promise<{ code: number | null; out: string }> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let faults = "";
  child.stdout.on("data", (data) => (out += String(data)));
  child.stderr.on("data", (data) => (faults += String(data)));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out: code === 0 ? out : out + faults }));
  });
}

const phone = { width: 390, height: 844 };
const looks = [
  { size: phone, theme: "dark", always: true },
  { size: phone, theme: "light", always: false },
  { size: desktop, theme: "dark", always: false },
  { size: desktop, theme: "light", always: true },
];

// look audits the current view, on a phone and a desktop; with pictures in both themes on each.
async function look(page: Page, name: string): Promise<void> {
  for (const { size, theme, always } of looks) {
    if (!always && !pictures) continue;
    await page.setViewportSize(size);
    await page.evaluate((each) => (document.documentElement.dataset["theme"] = each), theme);
    const fits = await page.locator("dialog.publish").evaluate((each) => each.scrollWidth <= each.clientWidth);
    assert.ok(fits, `${name} is wider than a window of ${size.width}`);
    await audit(page, `${name}, ${theme}, ${size.width}`);
    if (!pictures) continue;
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${name}-${size.width}-${theme}.png`) });
  }
}
