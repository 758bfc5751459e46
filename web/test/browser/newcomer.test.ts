// From an empty host to the answer of a model, and canvases from elsewhere whose models the host
// does not have.

import assert from "node:assert/strict";
import type { Server } from "node:http";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { counted, missing, raise, type Stage } from "./stage.ts";
import { modelVendor } from "./vendor.ts";

// Presets of local servers with OpenAI's API, one of whose ports is free.
const presets: [name: string, port: number][] = [["LM-Studio", 1234], ["VLLM", 8000], ["Xinference", 9997]];

const foreign = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["LLM:A"], upstream: [] },
    "LLM:A": {
      obj: { component_name: "LLM", params: { llm_id: "deepseek-chat@DeepSeek" } },
      downstream: ["Message:B"],
      upstream: ["begin"],
    },
    "Message:B": {
      obj: { component_name: "Message", params: { content: ["{LLM:A@content}"] } },
      downstream: [],
      upstream: ["LLM:A"],
    },
  },
};

describe("a newcomer", { skip: missing(), timeout: 1_200_000 }, () => {
  let stage: Stage;
  let host: Served;
  let models: Server;
  let name: string;
  before(async () => {
    host = await serveHost(); // private addresses are refused
    for (const [each, port] of presets) {
      const server = await modelVendor(port).catch(() => undefined);
      if (!server) continue;
      [models, name] = [server, each];
      break;
    }
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
    models?.close();
  });

  async function file(page: Page, act: Locator, content: object = foreign): Promise<void> {
    const chooser = page.waitForEvent("filechooser");
    await act.click();
    const buffer = Buffer.from(JSON.stringify(content));
    await (await chooser).setFiles({ name: "shop.json", mimeType: "application/json", buffer });
  }

  test("a model is found, chosen and answers in seven acts, and the person signs out", async () => {
    const { page, done } = await stage.visit("login");
    await page.goto(host.link);
    await page.locator(".on-host", { hasText: "This host has no canvases yet." }).waitFor();
    await page.getByText("No language model yet").waitFor();
    await audit(page, "home without a model");

    const acts: Locator[] = [
      page.locator(".no-model").getByRole("link", { name: "Add a model" }),
      page.getByRole("button", { name: "Find a model server on the host's machine" }),
      page.getByRole("button", { name: `Add: ${name}` }),
      page.getByRole("button", { name: "Use by default: other-0", exact: true }),
      page.locator("button.brand"),
      page.locator(".templates .card", { has: page.getByText("Summarise a text", { exact: true }) }),
      page.getByRole("button", { name: "Run", exact: true }),
    ];
    for (const act of acts) await act.click();
    await page.locator(".bubble.theirs", { hasText: "Hello" }).waitFor();
    await counted(page.locator(".stand-ins"), 0);
    await page.getByRole("button", { name: `Model: other-0@${name}` }).waitFor();
    const beyond = (): number => document.documentElement.scrollWidth - innerWidth;
    assert.equal(await page.evaluate(beyond), 0, "the bar with the name of the model is as wide as the window");

    await page.locator("button.brand").click();
    await page.locator(".area-links").getByRole("link", { name: "Settings" }).click();
    await page.locator(".settings-list > li", { hasText: name }).waitFor();
    await audit(page, "the settings of models");

    await page.locator("button.brand").click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.locator(".on-host").getByLabel("API key").waitFor();
    await page.getByRole("button", { name: "Model: Offline model" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Show the canvases of this host" }).waitFor();
    await done();
  });

  test("the offline model is named before a run and after it", async () => {
    const { page, done } = await stage.visit("#template=summarize");
    await page.locator(".chat .no-model").waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const mock = page.locator(".stand-ins");
    await mock.getByRole("button", { name: "Choose a model" }).click();
    await page.getByRole("dialog").getByText("Offline model").waitFor();
    await done();
  });

  test("models that the host lacks are replaced at import, in Problems, and for all canvases", async () => {
    const { page, done } = await stage.visit("#settings=models");
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.locator(".settings-view").waitFor();
    await page.locator("button.brand").click();
    await file(page, page.getByRole("button", { name: "Import", exact: true }));
    const choice = page.getByRole("dialog").getByLabel("Model deepseek-chat@DeepSeek (steps: 1)");
    await choice.selectOption(`other-0@${name}`);
    await audit(page, "an import with another model");
    await page.getByRole("button", { name: "Open canvas" }).click();
    await page.locator("#tab-problems").click();
    await counted(page.locator(".needs"), 0);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator('#tab-problems .count[data-severity="error"]').getByText("1").waitFor();
    await page.locator(".needs").getByLabel(/^Model deepseek/).selectOption(`other-0@${name}`);
    await counted(page.locator(".needs"), 0);
    await page.locator("#tab-chat").click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator("#tab-problems").click();
    await page.locator(".needs").waitFor();
    await audit(page, "problems with a model");

    await page.goto(`${host.address}/#settings=models`);
    await page.locator("summary", { hasText: "Add a name" }).click();
    await page.getByLabel("Name in canvases").fill("deepseek-chat@DeepSeek");
    await page.getByLabel("Model that is used").fill(`other-0@${name}`);
    await page.getByRole("button", { name: "Save" }).last().click();
    await page.locator(".settings-list > li", { hasText: "deepseek-chat@DeepSeek" }).waitFor();
    await audit(page, "other names of models");
    const form = page.locator(".adder[open]");
    await page.locator("summary", { hasText: "Edit" }).first().click();
    await form.getByLabel("Chat models").fill("other-0, second");
    await form.getByRole("button", { name: "Save" }).click();
    await page.locator("summary", { hasText: "Set a model" }).click();
    await form.locator("select").selectOption(`other-0@${name}`);
    await form.getByLabel("Models to call instead").fill(`second@${name}`);
    await form.getByLabel("Parameters that it never gets").fill("temperature, top_p");
    await form.getByRole("button", { name: "Save" }).click();
    const stands = page.locator(".settings-list > li", { hasText: `then second@${name} · without temperature, top_p` });
    await stands.waitFor();
    await audit(page, "a model with another");
    await stands.getByRole("button", { name: `Delete other-0@${name}` }).click();
    await stands.getByRole("button", { name: "Delete?" }).click();
    await counted(stands, 0);
    await page.getByRole("button", { name: "Back to the canvas" }).click();
    await page.locator("#tab-problems").click();
    await counted(page.locator(".needs"), 0);
    await done(/status of 401/);
  });

  test("an export that names what is missing here runs after one choice for each thing", async () => {
    const { page, done } = await stage.visit("#settings=models");
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.locator(".settings-view").waitFor();
    await page.locator("button.brand").click();

    let acts = 0;
    const act = async (done: Promise<unknown>): Promise<void> => {
      acts++;
      await done;
    };
    await act(file(page, page.getByRole("button", { name: "Import", exact: true }), old));
    const dialog = page.getByRole("dialog");
    const needs = dialog.getByRole("region", { name: "Missing here" });
    await needs.getByLabel("Dataset 4f1c22b8aa0911f0 (steps: 2)").waitFor();
    await counted(needs.locator("li"), 5);
    await audit(page, "an import with everything missing");
    await act(needs.getByLabel("Model qwen-max@Tongyi-Qianwen (steps: 1)").selectOption(`other-0@${name}`));
    await act(needs.getByLabel("Dataset 4f1c22b8aa0911f0 (steps: 2)").selectOption("New, empty dataset"));
    await act(needs.getByLabel("MCP server 9d0e77 (steps: 1)").selectOption("Remove its tools"));
    await act(needs.getByLabel("Secret SHOP_KEY (steps: 1)").fill("sesame").then(() => page.keyboard.press("Enter")));
    await needs.getByLabel("Secret SHOP_KEY (steps: 1)").waitFor({ state: "detached" });
    await needs.getByText("easel plugin install crm.wasm").waitFor();
    await act(needs.getByLabel("Needs the plugin crm (steps: 1)").selectOption("Remove its steps"));
    await act(dialog.getByRole("button", { name: "Open canvas" }).click());
    await counted(page.locator(".react-flow__node"), 4);
    await act(page.getByRole("button", { name: "Allow this canvas to run" }).click());
    await act(page.getByPlaceholder("Your message").fill("Good day").then(() => page.keyboard.press("Enter")));
    await page.locator(".bubble.theirs", { hasText: "Hello" }).waitFor();
    assert.ok(acts <= 10, `${acts} acts`);
    await page.locator("#tab-problems").click();
    await counted(page.locator(".needs"), 0);
    await done(/status of 401/);
  });
});

// An export of RAGFlow's editor without components, of the shape before 0.24.
const old = {
  nodes: [
    ["begin", "Begin", "begin", { mode: "conversational", prologue: "Hi!" }],
    ["Retrieval:R", "Retrieval", "Search", { kb_ids: ["4f1c22b8aa0911f0"], query: "sys.query" }],
    ["plugin:crm:P", "plugin:crm", "Customer", {}],
    ["Agent:A", "Agent", "Answer", {
      llm_id: "qwen-max@Tongyi-Qianwen",
      sys_prompt: "You help. {Retrieval:R@formalized_content}",
      prompts: [{ role: "user", content: "{sys.query}" }],
      tools: [{ component_name: "Retrieval", name: "Search", params: { kb_ids: ["4f1c22b8aa0911f0"] } }],
      mcp: [{ mcp_id: "9d0e77", tools: {} }],
      custom_header: { Authorization: "Bearer {{secret:SHOP_KEY}}" },
    }],
    ["Message:M", "Message", "Reply", { content: ["{Agent:A@content}"] }],
  ].map(([id, label, name, form], i) => ({
    id, type: "ragNode", position: { x: i * 300, y: 0 }, data: { label, name, form },
  })),
  edges: ["begin", "Retrieval:R", "plugin:crm:P", "Agent:A", "Message:M"].flatMap((target, i, all) =>
    i === 0 ? [] : [{ id: `e${i}`, source: all[i - 1], sourceHandle: "start", target, targetHandle: "end" }]),
};
