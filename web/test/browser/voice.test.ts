// The voice of a chat, with a microphone that Chromium makes up and a server of models.

import assert from "node:assert/strict";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { counted, missing, raise, type Stage } from "./stage.ts";
import { modelVendor } from "./vendor.ts";

const step = (component_name: string, params: object, upstream: string[], downstream: string[]): object =>
  ({ obj: { component_name, params }, upstream, downstream });
const echo = {
  components: {
    begin: step("Begin", { mode: "conversational" }, [], ["Message:M"]),
    "Message:M": step("Message", { content: ["You said: {sys.query}"] }, ["begin"], []),
  },
};

describe("the voice of a chat", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  let host: Served;
  let models: Server;
  const api = async (method: string, path: string, body: object): Promise<{ id: string }> => {
    const answer = await fetch(`${host.address}/api/v2/${path}`, {
      method, headers: { authorization: `Bearer ${host.key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.ok(answer.ok, `${path}: ${answer.status}`);
    return (await answer.json()) as { id: string };
  };
  before(async () => {
    [host, models] = await Promise.all([serveHost("--allow-private"), modelVendor()]);
    stage = await raise({ at: host.address + "/", more: ["--use-fake-device-for-media-stream"] });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
    models?.close();
  });

  async function opened(page: Page): Promise<void> {
    const { id } = await api("POST", "canvases", { title: "Echo", dsl: echo });
    await page.goto(`${host.address}/#settings=models`);
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.locator(".settings-view").waitFor();
    await page.goto(`${host.address}/#canvas=${id}`);
    await page.locator(".react-flow__node").first().waitFor();
    await page.locator("#tab-chat").click();
  }

  test("without models for it there is neither microphone nor loudspeaker", async () => {
    const { page, done } = await stage.visit();
    await opened(page);
    await page.getByPlaceholder("Your message").fill("tea");
    await page.keyboard.press("Enter");
    await page.locator(".bubble.theirs", { hasText: "You said: tea" }).waitFor();
    await counted(page.getByRole("button", { name: "Speak your message" }), 0);
    await counted(page.getByRole("button", { name: "Read aloud" }), 0);
    await done(/status of 401/);
  });

  test("a message is spoken, written down, sent and read aloud, by keyboard", async () => {
    await api("PUT", "providers/Voice", {
      api: "openai", base_url: `http://127.0.0.1:${(models.address() as AddressInfo).port}/v1`, key: "k",
      models: [{ name: "chat" }, { name: "tts", kind: "speech" }, { name: "stt", kind: "transcription" }],
    });
    const { page, done } = await stage.visit();
    await page.context().grantPermissions(["microphone"]);
    await opened(page);
    const line = page.getByPlaceholder("Your message");
    const microphone = page.getByRole("button", { name: "Speak your message" });
    await line.fill("Before:");
    await microphone.focus();
    await page.keyboard.press("Enter");
    const stop = page.getByRole("button", { name: "Stop and write down (Esc discards)" });
    await stop.waitFor();
    await audit(page, "recording");
    await page.keyboard.press("Escape");
    await microphone.waitFor();
    assert.equal(await line.inputValue(), "Before:", "Escape discards");
    await microphone.press("Enter");
    await stop.press("Enter");
    await page.waitForFunction(() =>
      document.querySelector<HTMLTextAreaElement>(".composer textarea")?.value === "Before: what was said");
    assert.equal(await line.evaluate((element) => element === document.activeElement), true);
    await page.keyboard.press("Enter");
    await page.locator(".bubble.theirs", { hasText: "You said: Before: what was said" }).waitFor();
    const spoken = page.waitForRequest((request) => request.url().endsWith("/models/speech"));
    await page.getByRole("button", { name: "Read aloud", exact: true }).press("Enter");
    assert.deepEqual((await spoken).postDataJSON(), { text: "You said: Before: what was said" });
    await page.getByRole("button", { name: "Stop reading aloud" }).waitFor();
    await audit(page, "reading aloud");
    await page.getByRole("button", { name: "Read aloud", exact: true }).waitFor(); // at the end of the sound
    await done(/status of 401/);
  });

  test("a microphone that the browser refuses, and a server that fails, are named", async () => {
    const { page, done } = await stage.visit();
    await opened(page);
    await page.context().clearPermissions();
    await page.getByRole("button", { name: "Speak your message" }).click();
    await page.getByRole("alert").filter({ hasText: "The browser blocks the microphone" }).waitFor();
    await audit(page, "a refused microphone");
    await page.getByPlaceholder("Your message").fill("tea");
    await page.keyboard.press("Enter");
    models.close();
    models.closeAllConnections();
    await page.getByRole("button", { name: "Read aloud", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "Not read aloud:" }).waitFor();
    await done(/status of 401|502/);
  });
});
