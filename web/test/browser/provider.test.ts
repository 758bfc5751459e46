// Faulty models: each failure is a message in the chat, and the page keeps working.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { audit } from "./audit.ts";
import { answer, ask, counted, missing, modelServer, raise, said, type Stage } from "./stage.ts";

describe("providers", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  // Chromium itself reports requests that fail.
  const network = /Failed to load resource/;

  for (const [name, reply, message] of [
    ["refuses the key", { status: 401, body: `{"error":{"message":"no such key"}}` }, /401.*no such key/],
    ["breaks", { status: 500, body: "oops" }, /500: oops/],
    ["streams rubbish", { type: "text/event-stream", body: "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: <html>\n\n" }, /not JSON/],
    ["answers with a page", { body: "<html>" }, /JSON|Unexpected token/],
    ["answers with another object", { body: `{"choices": 3}` }, /no message/],
    ["answers nothing", { body: `null` }, /.+/],
  ] as const) {
    test(`a model server that ${name} is reported, and the next answer is shown`, async () => {
      const { page, done } = await stage.visit("#example=morning-paper");
      let broken = true;
      await modelServer(page, () => (broken ? reply : said("Good **morning**")));
      await ask(page, "x");
      await page.locator(".transcript .fault", { hasText: message }).waitFor();
      await counted(page.locator('.box[data-status="running"]'), 0);
      broken = false;
      await ask(page, "again");
      await page.locator(".bubble.theirs strong", { hasText: "morning" }).first().waitFor();
      await done(network);
    });
  }

  test("a model is tested in a node and in the choice of a model", async () => {
    const { page, done } = await stage.visit("#example=morning-paper");
    let broken = true;
    await modelServer(page, () => (broken ? { status: 500, body: "oops" } : said("Hello")));
    await page.locator('.react-flow__node:has(.box-name small:has-text("LLM"))').first().click();
    await page.locator("#tab-node").click();
    const inNode = page.locator(".settings .model-test");
    await inNode.getByRole("button", { name: "Test" }).click();
    await inNode.getByRole("alert").filter({ hasText: "500: oops" }).waitFor();
    broken = false;
    await inNode.getByRole("button", { name: "Test" }).click();
    await inNode.getByText(/^Answered in \d+ ms: Hello$/).waitFor();
    await audit(page, "a model that was tested");
    await page.getByRole("button", { name: /^Model/ }).click();
    const inDialog = page.locator("dialog .model-test");
    await inDialog.getByRole("button", { name: "Test" }).click();
    await inDialog.getByText(/^Answered in \d+ ms: Hello$/).waitFor();
    await audit(page, "a model that was tested in the dialog");
    await done(network);
  });

  test("stop ends a run whose model server does not respond", async () => {
    const { page, done } = await stage.visit("#example=morning-paper");
    await modelServer(page, () => undefined);
    await ask(page, "x");
    await page.locator('.box[data-status="running"]').first().waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".transcript").getByText("canceled").waitFor();
    await done(network);
  });

  test("a missing model server is reported", async () => {
    const { page, done } = await stage.visit("#example=morning-paper");
    await page.route("http://localhost:11434/**", (route) => route.abort("connectionrefused"));
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.locator("dialog").getByText("OpenAI-compatible server").click();
    await page.getByRole("button", { name: "Done" }).click();
    await ask(page, "x");
    await page.locator(".transcript .fault", { hasText: /fetch/ }).waitFor();
    await done(network);
  });

  test("a prepared answer that fails is reported, and tokens are counted", async () => {
    const { page, done } = await stage.visit("#example=morning-paper");
    await answer(page, [{ raise: "the model fell asleep" }, { raise: "the model fell asleep" }]);
    await ask(page, "x");
    await page.locator(".transcript .fault", { hasText: "the model fell asleep" }).waitFor();
    await answer(page, ["one", "two"]);
    await ask(page, "x");
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("头条"))').locator(".tokens").waitFor();
    await done();
  });

  test("a key is sent to its server and not stored", async () => {
    const { page, done } = await stage.visit("#example=morning-paper");
    const sent: (string | undefined)[] = [];
    page.on("request", (request) => { if (request.url().includes("11434") && request.method() === "POST") sent.push(request.headers()["authorization"]); });
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.locator("dialog").getByText("OpenAI-compatible server").click();
    await page.getByLabel("Key", { exact: true }).fill("sk-very-secret");
    await page.getByRole("button", { name: "Done" }).click();
    await modelServer(page, () => said("x"));
    await ask(page, "x");
    await page.locator('.box[data-status="succeeded"]:has(.box-name b:has-text("小报"))').waitFor();
    assert.deepEqual(new Set(sent), new Set(["Bearer sk-very-secret"]));
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + location.href + document.cookie);
    assert.equal(kept.includes("secret"), false);
    await done();
  });
});
