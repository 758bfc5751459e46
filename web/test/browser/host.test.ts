// The page as `easel serve` sends it: from the program itself, under its headers, with
// the canvases and the models of the host.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import type { Locator } from "playwright-core";
import { audit } from "./audit.ts";
import { root, serveHost, type Served } from "./host.ts";
import { allow, ask, counted, glimpse, missing, raise, saveToHost, still, type Stage } from "./stage.ts";

const example = JSON.parse(readFileSync(new URL("../../examples/morning-paper.json", import.meta.url), "utf8")) as {
  dsl: unknown;
};

// Chromium itself reports requests that were refused.
const refused = /status of 401/;

describe("the page from the host", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  let folder = "";
  let address = "";
  let key = "";
  let canvas = "";

  before(async () => {
    host = await serveHost();
    ({ folder, address, key } = host);
    const answer = await fetch(address + "/api/v2/canvases", {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ title: "The town's paper", description: "Kept on the host", dsl: example.dsl }),
    });
    assert.equal(answer.status, 201);
    canvas = ((await answer.json()) as { id: string }).id;
    stage = await raise({ at: address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  test("it runs under the host's headers, compressed, without cross-origin isolation", async () => {
    const { page, done } = await stage.visit();
    const sent = new Map<string, Record<string, string>>();
    page.on("response", (response) => sent.set(new URL(response.url()).pathname, response.headers()));
    await page.reload();
    await page.getByRole("button", { name: /exchange booth/ }).click();
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("100 EUR = 782.00 CNY").first().waitFor();
    const index = sent.get("/") ?? {};
    assert.match(
      index["content-security-policy"] ?? "",
      /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval';.*frame-ancestors 'none'$/,
    );
    assert.equal(index["cross-origin-embedder-policy"] ?? index["cross-origin-opener-policy"], undefined);
    assert.equal(await page.evaluate(() => crossOriginIsolated), false);
    const [engine] = [...sent].filter(([path]) => path.endsWith(".wasm"));
    assert.equal(engine?.[1]["content-type"], "application/wasm");
    assert.equal(engine?.[1]["content-encoding"], "br");
    assert.match(engine?.[1]["cache-control"] ?? "", /immutable/);
    await done();
  });

  test("its canvases are listed with a key, found, opened and run with the host's model", async () => {
    const { page, done } = await stage.visit();
    await page.getByRole("button", { name: "Show the canvases of this host" }).click();
    await page.getByLabel("API key").fill("wrong");
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.locator(".fault", { hasText: "This key is unknown" }).waitFor();
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByText("No matches.").waitFor();
    await page.getByRole("searchbox").fill("town");
    await page.getByRole("button", { name: /^The town's paper/ }).click();
    await page.locator("h1.title", { hasText: "The town's paper" }).waitFor();
    assert.equal(new URL(page.url()).hash, `#canvas=${canvas}`);
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.locator("dialog").getByText("This host", { exact: true }).click();
    await page.getByRole("button", { name: "Done" }).click();
    const asked = page.waitForResponse((response) => response.url().endsWith("/api/llm/chat/completions"));
    await ask(page, "雨天");
    assert.equal((await asked).status(), 200);
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("小报"))').waitFor();
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + location.href);
    assert.equal(kept.includes(key), false, "the key is kept nowhere");
    await done(refused);
  });

  test("the list is complete again after a search, and of two canvases the one chosen last is shown", async () => {
    const made = await fetch(address + "/api/v2/canvases", {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ title: "Elsewhere", dsl: example.dsl }),
    });
    const { id } = (await made.json()) as { id: string };
    const { page, done } = await stage.visit("#host");
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Use this key" }).click();
    const title = page.locator("h1.title");
    const card = (name: string): Locator => page.locator(".on-host .card", { hasText: name });
    await card("Elsewhere").waitFor();
    await page.getByRole("searchbox").fill("town");
    await card("Elsewhere").waitFor({ state: "detached" });
    await card("The town's paper").click();
    await title.filter({ hasText: "The town's paper" }).waitFor();
    await page.getByRole("button", { name: "Home", exact: true }).click();
    await card("Elsewhere").waitFor();

    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => { release = resolve; });
    await page.route(`**/api/v2/canvases/${canvas}`, async (route) => {
      await released;
      await route.continue();
    });
    const late = page.waitForResponse((response) => response.url().endsWith(`/canvases/${canvas}`));
    await card("The town's paper").click();
    await card("Elsewhere").click();
    await title.filter({ hasText: "Elsewhere" }).waitFor();
    release();
    await (await late).finished();
    await still(page.locator(".react-flow__node").first());
    assert.equal(await title.innerText(), "Elsewhere");
    assert.equal(new URL(page.url()).hash, `#canvas=${id}`);
    await done(refused);
  });

  test("the canvas of an address opens after a key is entered; its failure follows the language", async () => {
    const { page, done } = await stage.visit(`#canvas=${canvas}`);
    await page.locator(".banner", { hasText: "Couldn't load the canvas" }).waitFor();
    await page.getByRole("button", { name: "中文" }).click();
    await page.locator(".banner", { hasText: "无法加载画布" }).waitFor();
    await page.getByRole("button", { name: "English" }).click();
    await page.locator(".banner", { hasText: "Couldn't load the canvas" }).waitFor();
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.locator("h1.title", { hasText: "The town's paper" }).waitFor();
    await counted(page.locator(".fault.banner"), 0);
    assert.equal(new URL(page.url()).hash, `#canvas=${canvas}`);
    await done(refused);
  });

  test("a login of the browser suffices for canvases and models", async () => {
    const { page, done } = await stage.visit(`#canvas=${canvas}`);
    await page.locator(".banner", { hasText: "Couldn't load the canvas" }).waitFor();
    await page.getByRole("link", { name: "Log in with a password" }).click();
    await page.getByLabel("Password or API key").fill(key);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.locator("h1.title", { hasText: "The town's paper" }).waitFor();
    await page.reload();
    await page.locator("h1.title", { hasText: "The town's paper" }).waitFor();
    await page.locator(".where").getByText("Run on the host").waitFor();
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.locator("dialog").getByText("This host", { exact: true }).click();
    await page.getByRole("button", { name: "Done" }).click();
    const asked = page.waitForResponse((response) => response.url().endsWith("/api/llm/chat/completions"));
    await ask(page, "雨天");
    assert.equal((await asked).status(), 200);
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("小报"))').waitFor();
    await done(refused);
  });

  test("a person stays signed in at own addresses, sees who is signed in, and changes the password", async () => {
    const user = { email: "ann@x.example", nickname: "Ann", password: "correct horse", role: "admin" };
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    await fetch(`${address}/api/v2/users`, { method: "POST", headers, body: JSON.stringify(user) });
    const { page, done } = await stage.visit("", { width: 1440 });
    const me = page.locator(".bar .me");
    await me.getByText("Sign in", { exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("link", { name: "Log in with a password" }).click();
    const log = async (password: string): Promise<void> => {
      await page.getByLabel(/^E-mail/).fill(user.email);
      await page.getByLabel("Password or API key").fill(password);
      await page.getByRole("button", { name: "Log in" }).click();
      await me.getByText("Ann", { exact: true }).waitFor();
    };
    await log(user.password);
    for (const hash of ["", "#knowledge", "#runs", "#settings", `#canvas=${canvas}`]) {
      await page.goto(`${address}/${hash}`);
      await page.reload();
      await me.getByText("Ann", { exact: true }).waitFor();
    }
    await page.goto(`${address}/#template=summarize`);
    await page.locator("h1.title", { hasText: "Summarise a text" }).waitFor();
    await page.reload();
    await me.getByText("Ann", { exact: true }).waitFor();

    await me.click();
    await dialog.getByText("ann@x.example").waitFor();
    await audit(page, "the account of a person");
    for (const name of ["Ann Lee", "Ann"]) {
      await dialog.getByLabel("Name", { exact: true }).fill(name);
      await dialog.getByRole("button", { name: "Save name" }).click();
      await dialog.getByText("The name is saved.").waitFor();
      await me.getByText(name, { exact: true }).waitFor();
    }
    const fill = async (old: string, next: string): Promise<void> => {
      await dialog.getByLabel("Current password").fill(old);
      await dialog.getByLabel("New password").fill(next);
      await dialog.getByRole("button", { name: "Change password" }).click();
    };
    await fill("wrong horse", "better horse");
    await dialog.getByRole("alert").waitFor();
    await fill(user.password, "better horse");
    await dialog.getByText("The password is changed.").waitFor();
    await audit(page, "a changed password");
    await dialog.getByRole("link", { name: "Log in with a password" }).click();
    await log("better horse");
    await me.click();
    await dialog.getByRole("button", { name: "Sign out" }).click();
    await dialog.getByRole("link", { name: "Log in with a password" }).waitFor();
    await page.goto(`${address}/#settings`);
    await page.reload();
    await me.getByText("Sign in", { exact: true }).waitFor();
    await done(/status of 40[0-9]/);
  });

  test("unsaved changes are saved by Ctrl+S, and by one click before a run on the host", async () => {
    const { page, done } = await stage.visit(`#canvas=${canvas}`);
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.locator("h1.title", { hasText: "The town's paper" }).waitFor();
    await page.locator(".fault.banner").waitFor({ state: "detached" });
    await page.locator(".react-flow__node").nth(1).click();
    const name = await page.locator(".node-name").inputValue();
    await page.locator(".node-name").fill(`${name}!`);
    await page.locator(".react-flow__node .marks", { hasText: "Not saved" }).waitFor();
    await glimpse(page, "button", /^Saved$/, () => page.keyboard.press("Control+s"));
    await counted(page.locator(".react-flow__node .marks", { hasText: "Not saved" }), 0);
    await page.locator(".node-name").fill(name);
    await page.locator("#tab-chat").click();
    await page.locator(".where").getByText("Run on the host").click();
    await page.locator(".composer textarea").fill("雨天");
    await page.getByRole("button", { name: "Save and run" }).click();
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("小报"))').waitFor();
    await counted(page.getByRole("button", { name: "Save and run" }), 0);
    const stored = await fetch(`${address}/api/v2/canvases/${canvas}`, { headers: { authorization: `Bearer ${key}` } });
    assert.doesNotMatch(await stored.text(), new RegExp(`"${name}!"`));

    await page.locator(".react-flow__node").nth(1).click();
    await page.getByRole("button", { name: "Run only this, on the host" }).waitFor();
    const begun = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/runs"));
    await page.getByRole("button", { name: "Run to here" }).click();
    assert.match((await begun).postData() ?? "", /"until":/);
    await done(refused);
  });

  test("a new canvas is saved to the host, changed, saved again, and opens after a reload", async () => {
    const { page, done } = await stage.visit();
    await page.locator(".card.new:enabled").click();
    await page.locator(".box").waitFor();
    await page.keyboard.press("a");
    await page.locator(".palette input:focus").waitFor();
    await page.keyboard.type("message");
    await page.keyboard.press("Enter");
    await page.locator(".box-name", { hasText: "Reply" }).waitFor();
    await page.getByRole("button", { name: "Save to host" }).click();
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("textbox", { name: "Title" }).fill("Made in the page");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForFunction(() => location.hash.startsWith("#canvas="));
    await page.locator(".node-name").fill("Greeting");
    await saveToHost(page);
    const id = decodeURIComponent(new URL(page.url()).hash.slice("#canvas=".length));
    const answer = await fetch(`${address}/api/v2/canvases/${id}`, { headers: { authorization: `Bearer ${key}` } });
    const stored = await answer.text();
    assert.match(stored, /"title":\s*"Made in the page"/);
    assert.match(stored, /"name":\s*"Greeting"/);
    await done(refused);
  });

  test("an attached PDF is read in a Worker under the host's headers, and an unreadable one is refused",
    async () => {
    const { page, done } = await stage.visit();
    await page.locator('header input[type="file"]').setInputFiles({
      name: "files.json",
      mimeType: "application/json",
      buffer: Buffer.from(
        JSON.stringify({
          components: {
            begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Message:A"] },
            "Message:A": {
              obj: { component_name: "Message", params: { content: ["{sys.files}"] } },
              upstream: ["begin"],
            },
          },
        }),
      ),
    });
    await allow(page);
    const files = page.locator('.composer input[type="file"]');
    await files.setInputFiles([
      { name: "old.doc", mimeType: "application/msword", buffer: Buffer.from("d0cf11e0a1b11ae1", "hex") },
      { name: "shop.zip", mimeType: "application/zip", buffer: Buffer.from("PK\u0003\u0004") },
    ]);
    await page
      .locator(".composer .fault", { hasText: "old.doc was not attached: Office files from before 2007" })
      .waitFor();
    await page.locator(".composer .fault", { hasText: "shop.zip was not attached: it is damaged" }).waitFor();
    await counted(page.locator(".composer .chip"), 0);
    await files.setInputFiles(
      ["returns.pdf", "returns.docx"].map((name) => join(root, "host", "internal", "document", "testdata", name)),
    );
    await page.getByRole("button", { name: "Remove returns.docx" }).waitFor();
    await counted(page.locator(".composer .fault"), 0);
    await ask(page, "What do they say?");
    const answer = page.locator(".bubble.theirs", { hasText: /thirty days[^]*thirty days/ });
    await answer.waitFor();
    assert.doesNotMatch(await answer.innerText(), /%PDF|PK\u0003/);
    await done();
  });

  test("an EventSource reads a run with the login of the browser, and stops after its end", async () => {
    const { page, done } = await stage.visit("login");
    await page.getByLabel("Password or API key").fill(key);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL((url) => url.pathname === "/");
    const started = await fetch(`${address}/api/v2/canvases/${canvas}/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ query: "雨天" }),
    });
    assert.equal(started.status, 202);
    const statuses: number[] = [];
    page.on("response", (response) => response.url().endsWith("/events") && statuses.push(response.status()));
    const events = `/api/v2/runs/${started.headers.get("x-easel-run")}/events`;
    const ended = await page.evaluate((path) => new Promise<number>((resolve) => {
      const source = new EventSource(path);
      let ends = 0;
      source.addEventListener("end", () => ends++);
      source.onerror = () => source.readyState === EventSource.CLOSED && resolve(ends);
    }), events);
    assert.equal(ended, 1);
    assert.deepEqual(statuses, [200, 204]);
    await done();
  });

  test("a canvas runs after its missing plugin was dropped on the page", async () => {
    const plugin = join(folder, "typewriter.wasm");
    const example = join(root, "plugins", "examples");
    execFileSync(
      join(folder, "easel"),
      ["plugin", "pack", join(example, "typewriter"), join(example, "typewriter", "typewriter.wasm"), "-o", plugin],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    const { page, done } = await stage.visit();
    const files = page.locator('header input[type="file"]');
    await files.setInputFiles(join(example, "canvas.json"));
    await page.locator("#tab-problems .count").waitFor();
    const data = await page.evaluateHandle(() => new DataTransfer());
    await page.evaluate(([transfer, base64]) => {
      transfer.items.add(new File([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], "typewriter.wasm"));
      document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: transfer }));
    }, [data, readFileSync(plugin).toString("base64")] as const);
    await page.locator(".plugins li", { hasText: "typewriter" }).waitFor();
    await page
      .getByLabel("Add a plugin")
      .setInputFiles({ name: "no.wasm", mimeType: "application/wasm", buffer: Buffer.from("no plugin") });
    await page.locator(".plugins .fault", { hasText: "no.wasm" }).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.locator("#tab-problems .count").waitFor({ state: "detached" });
    assert.equal(
      await page.locator(".composer").count(),
      0,
      "a plugin that is there changes nothing: the canvas is a stranger's",
    );
    await page.locator(".consent", { hasText: "Plugins: typewriter" }).waitFor();
    await allow(page);
    await ask(page, "word by word");
    await page.locator(".bubble.theirs", { hasText: "You said: word by word" }).waitFor();
    await done();
  });

  test("a plugin that runs on a server only is marked in the list, and fails when it is reached", async () => {
    const example = join(root, "plugins", "examples", "typewriter");
    const manifest = JSON.parse(readFileSync(join(example, "manifest.json"), "utf8")) as object;
    const source = mkdtempSync(join(folder, "server-only-"));
    writeFileSync(join(source, "manifest.json"), JSON.stringify({ ...manifest, preview: "server" }));
    const plugin = join(source, "typewriter.wasm");
    execFileSync(join(folder, "easel"), ["plugin", "pack", source, join(example, "typewriter.wasm"), "-o", plugin], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const { page, done } = await stage.visit();
    await page.locator('header input[type="file"]').setInputFiles(join(root, "plugins", "examples", "canvas.json"));
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.getByLabel("Add a plugin").setInputFiles(plugin);
    await page.locator(".plugins li", { hasText: "Runs on a server only" }).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.locator("#tab-problems .count").waitFor();
    await allow(page);
    await ask(page, "word by word");
    await page.locator('.box[data-status="failed"]:has(.box-name b:has-text("Typewriter"))').waitFor();
    await page.getByText('its manifest says preview "server": it runs on a server only').first().waitFor();
    await done();
  });

  test("a canvas of the host is edited and saved beside changes of others, with all digits of numbers", async () => {
    const signed = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const made = await fetch(address + "/api/v2/canvases", {
      method: "POST", headers: signed,
      body: '{"title":"Numbers","dsl":{"globals":{"env.large":9007199254740993},' +
        '"components":{"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["Message:A"],' +
        '"upstream":[]},"Message:A":{"obj":{"component_name":"Message","params":{"content":["old words"]}},' +
        '"downstream":[],"upstream":["begin"]}}}}',
    });
    const { id } = (await made.json()) as { id: string };
    const text = async (): Promise<string> =>
      (await fetch(`${address}/api/v2/canvases/${id}`, { headers: signed })).text();
    const { page, done } = await stage.visit("#host");
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.locator(".card", { hasText: "Numbers" }).click();
    const rewrite = async (from: string, to: string): Promise<void> => {
      await page.locator('.box:has(.box-name b:has-text("Message"))').first().click();
      await page.getByRole("textbox").filter({ hasText: from }).first().fill(to);
    };
    await rewrite("old words", "new words");
    await saveToHost(page);
    const saved = await text();
    assert.match(saved, /new words/);
    assert.match(saved, /9007199254740993/);
    await rewrite("new words", "newer words");
    await saveToHost(page);
    assert.match(await text(), /newer words/, "the page follows the revision it made");

    const elsewhere = await fetch(`${address}/api/v2/canvases/${id}`, {
      method: "PUT",
      headers: signed,
      body: '{"title":"Numbers, again"}',
    });
    assert.equal(elsewhere.status, 200);
    await rewrite("newer words", "newest words");
    await saveToHost(page);
    const merged = await text();
    assert.match(merged, /newest words/);
    assert.match(merged, /Numbers, again/, "what changed elsewhere stays");
    await done(/status of (401|409)/);
  });

  test("the page uses each new build of a plugin in development", async () => {
    const example = join(root, "plugins", "examples", "typewriter");
    const source = mkdtempSync(join(folder, "writing-"));
    const manifest = JSON.parse(readFileSync(join(example, "manifest.json"), "utf8")) as object;
    const version = (of: string): void =>
      writeFileSync(join(source, "manifest.json"), JSON.stringify({ ...manifest, version: of }));
    version("1.0.0");
    writeFileSync(join(source, "build.sh"), `test ! -e broken && cp ${join(example, "typewriter.wasm")} plugin.wasm`);
    const dev = spawn(join(folder, "easel"), ["plugin", "dev", source, "--plugins", join(folder, "plugins")], {
      stdio: ["pipe", "ignore", "pipe"],
    });
    try {
      const at = await new Promise<string>((resolve, reject) => {
        dev.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
        createInterface({ input: dev.stderr }).on("line", (line) => {
          const [, found] = /try it in a page: (\S+)/.exec(line) ?? [];
          if (found) resolve(found);
        });
      });
      const { page, done } = await stage.visit();
      await page.goto(at);
      await page.locator("h1.title", { hasText: "typewriter" }).waitFor();
      await ask(page, "word by word");
      await page.locator(".bubble.theirs", { hasText: "word by word" }).waitFor();
      version("1.7.0");
      await page.getByRole("button", { name: /^Model/ }).click();
      await page.locator(".plugins li", { hasText: "1.7.0" }).waitFor();
      await page.getByRole("button", { name: "Done" }).click();
      writeFileSync(join(source, "broken"), "");
      await page.locator(".banner", { hasText: "exit status 1" }).waitFor();
      rmSync(join(source, "broken"));
      await page.locator(".banner").waitFor({ state: "detached" });
      await ask(page, "and again");
      await page.locator(".bubble.theirs", { hasText: "and again" }).waitFor();
      await done();
    } finally {
      dev.stdin.end();
      if (dev.exitCode === null) await new Promise((resolve) => dev.once("exit", resolve));
    }
  });

  test("the page does not answer on routes of the API", async () => {
    for (const [path, status] of [
      ["/api/v2/canvases", 401],
      ["/v1/canvas/list", 200],
      ["/login", 200],
      ["/api/nothing", 404],
      ["/assets/nothing.js", 404],
    ] as const) {
      const answer = await fetch(address + path);
      assert.equal(answer.headers.get("content-security-policy")?.includes("wasm-unsafe-eval") ?? false, false, path);
      if (status !== 200) assert.equal(answer.status, status, path);
    }
  });
});
