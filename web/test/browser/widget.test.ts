// Chats with visitors: the widget on a site of another origin, and the chat page in and out of
// frames, with a real host.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { signingNode } from "../../run/signing.ts";
import { audit } from "./audit.ts";
import { foreignSite, type Site } from "./foreign.ts";
import { root, serveHost, type Served } from "./host.ts";
import { counted, missing, raise, type Look, type Stage } from "./stage.ts";

const examples = join(root, "host", "examples");
const shop = JSON.parse(readFileSync(join(examples, "shop.json"), "utf8")) as object;
const order = JSON.parse(readFileSync(join(examples, "order.json"), "utf8")) as object;

// It repeats the message of the visitor.
const echo = {
  components: {
    begin: {
      obj: { component_name: "Begin", params: { prologue: "Say something" } },
      downstream: ["Message:A"],
      upstream: [],
    },
    "Message:A": {
      obj: { component_name: "Message", params: { content: ["{sys.query}"] } },
      upstream: ["begin"],
      downstream: [],
    },
  },
};
const files = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Message:A"], upstream: [] },
    "Message:A": {
      obj: { component_name: "Message", params: { content: ["{sys.files}"] } },
      upstream: ["begin"],
      downstream: [],
    },
  },
};

interface Agent {
  id: string;
  token: string;
}

describe("chats with visitors", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let site: Site;
  let stage: Stage;

  before(async () => {
    host = await serveHost("--knowledge", join(examples, "knowledge"));
    site = await foreignSite(host.address);
    stage = await raise({ at: site.address });
  });
  after(async () => {
    await stage?.close();
    await site?.close();
    await host?.close();
  });

  const request = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(host.address + path, {
      method,
      headers: { authorization: `Bearer ${host.key}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>);
  };
  const agent = async (title: string, dsl: object): Promise<Agent> => {
    const { id } = await request("POST", "/api/v2/canvases", { title, dsl });
    await request("POST", `/api/v2/canvases/${id as string}/publish`, {});
    const { token } = await request("POST", `/api/v2/canvases/${id as string}/token`, {});
    return { id: id as string, token: token as string };
  };
  const embed = async (
    { id, token }: Agent,
    more = "",
    look?: Look,
  ): Promise<{ page: Page; done(expected?: RegExp): Promise<void> }> => {
    const named = `data-agent="${id}" data-token="${token}"`;
    site.body = `<script src="${host.address}/widget.js" ${named} ${more} defer></script>`;
    return stage.visit("", look);
  };
  const open = (page: Page): Promise<void> => page.getByRole("button", { name: "Open the chat" }).click();
  const say = async (page: Page, text: string): Promise<void> => {
    await page.getByRole("button", { name: "Send" }).waitFor(); // a run that answers has ended
    await page.getByRole("textbox", { name: "Write a message" }).fill(text);
    await page.keyboard.press("Enter");
  };
  const answer = (page: Page, text: string | RegExp): Locator => page.locator(".theirs", { hasText: text });

  test("it answers with citations on a site with a strict policy", async () => {
    const { page, done } = await embed(await agent("Shop help", shop));
    await audit(page, "closed");
    await open(page);
    await page.getByRole("dialog", { name: "Shop help" }).waitFor();
    await answer(page, "Ask me about returns").waitFor();
    await say(page, "Can I return a jacket?");
    await page.locator(".sources summary").waitFor();
    const cited = await answer(page, "Sources").last().innerText();
    await page.getByRole("button", { name: "Source 1" }).or(page.locator(".sources summary")).first().click();
    await page.locator(".sources li").first().waitFor();
    await audit(page, "open");
    await page.reload();
    await open(page);
    await page.locator(".sources summary").waitFor();
    assert.equal(await answer(page, "Sources").last().innerText(), cited, "citations are kept");
    await page.keyboard.press("Escape");
    await counted(page.getByRole("dialog"), 0);
    await done();
  });

  test("it is used by keyboard alone, and a conversation survives a reload", async () => {
    const { page, done } = await embed(await agent("By keyboard", echo));
    await page.getByRole("button", { name: "Open the chat" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await answer(page, "Say something").waitFor();
    await page.waitForFunction(
      () => document.querySelector("easel-chat")?.shadowRoot?.activeElement?.tagName === "TEXTAREA",
    );
    await page.keyboard.type("first words");
    await page.keyboard.press("Enter");
    await answer(page, "first words").waitFor();
    await page.keyboard.press("Escape");
    const focused = await page.evaluate(
      () => document.querySelector("easel-chat")?.shadowRoot?.activeElement?.className,
    );
    assert.match(focused ?? "", /bubble/, "the focus is on the button again");
    await page.reload();
    await open(page);
    await answer(page, "first words").waitFor();
    await say(page, "second words");
    await answer(page, "second words").waitFor();
    const list = (await request("GET", "/api/v2/runs")) as { items: { source: string; session?: string }[] };
    const [one, two] = list.items.filter(({ source }) => source === "bot");
    assert.ok(one?.session && one.session === two?.session, "one session");
    await page.getByRole("button", { name: "New conversation" }).click();
    await answer(page, "first words").waitFor({ state: "detached" });
    await done();
  });

  test("a form is filled in, also on a phone and in the dark theme", async () => {
    const orders = await agent("Orders", order);
    const { page, done } = await embed(orders, 'data-language="zh" data-color="#ffd400" data-position="left"', {
      width: 390,
      height: 760,
      dark: true,
    });
    await page.getByRole("button", { name: "打开聊天" }).click();
    await page.getByRole("textbox", { name: "输入消息" }).fill("tea");
    await page.keyboard.press("Enter");
    await page.getByLabel("How many pieces").fill("12");
    await page.getByLabel("Wrapped as a gift").check();
    await audit(page, "form");
    const box = await page.getByRole("dialog").boundingBox();
    assert.deepEqual([box?.width, box?.height], [390, 760], "it fills the screen of a phone");
    await page.getByRole("button", { name: "继续" }).click();
    await answer(page, "12 pieces come to 93.8").waitFor();
    await audit(page, "form sent");
    await done();
  });

  test("files are sent with a message", async () => {
    const { page, done } = await embed(await agent("Files", files));
    await open(page);
    await page.getByRole("button", { name: "Attach files" }).waitFor();
    await page
      .locator("easel-chat input[type=file]")
      .setInputFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("words of a file") });
    await page.getByRole("button", { name: "Remove note.txt" }).waitFor();
    await say(page, "read it");
    await answer(page, "words of a file").waitFor();
    await done();
  });

  // signer returns the program for the server of a site, with the secret of the canvas.
  const signer = async (id: string): Promise<(user: string) => string> => {
    const { secret } = await request("POST", `/api/v2/canvases/${id}/token/secret`);
    process.env["EASEL_SIGNING_SECRET"] = secret as string;
    const program = `data:text/javascript,${encodeURIComponent(signingNode(id))}`;
    return ((await import(program)) as { userSignature(user: string): string }).userSignature;
  };
  const remembers = async (): Promise<object> => {
    const memory = { name: "visitors", memory_type: ["raw"], embd_id: "", llm_id: "" };
    const { data } = (await request("POST", "/api/v1/memories", memory)) as { data: { id: string } };
    const retrieval = {
      memory_ids: [data.id], retrieval_from: "memory", user_id: "{sys.user_id}", query: "{sys.query}",
      similarity_threshold: 0, keywords_similarity_weight: 1,
    };
    const message = { content: ["Remembered: {Retrieval:R@formalized_content}."], memory_ids: [data.id] };
    return {
      components: {
        begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Retrieval:R"], upstream: [] },
        "Retrieval:R": {
          obj: { component_name: "Retrieval", params: retrieval },
          upstream: ["begin"],
          downstream: ["Message:A"],
        },
        "Message:A": { obj: { component_name: "Message", params: message }, upstream: ["Retrieval:R"], downstream: [] },
      },
    };
  };

  test("a user whom the site signs finds conversation and memories on another device, others do not", async () => {
    const chat = await agent("Remembers", await remembers());
    const sign = await signer(chat.id);
    const known = (): string => `data-user-id="ann" data-user-signature="${sign("ann")}"`;
    const first = await embed(chat, known());
    await open(first.page);
    await say(first.page, "the zebra code is 4711");
    await answer(first.page, "Remembered: .").waitFor();
    await first.done();

    const second = await embed(chat, known()); // another context is another device
    await open(second.page);
    await second.page.locator(".mine", { hasText: "the zebra code is 4711" }).waitFor();
    await audit(second.page, "recalled");
    await say(second.page, "continued");
    await counted(second.page.locator(".theirs", { hasText: "Remembered: " }), 2);
    await second.page.getByRole("button", { name: "New conversation" }).click();
    await say(second.page, "zebra?");
    await answer(second.page, "4711").waitFor();
    await second.done();

    for (const other of ['data-user-id="ann"', "", `data-user-id="bob" data-user-signature="${sign("bob")}"`]) {
      const { page, done } = await embed(chat, other);
      await open(page);
      await say(page, "zebra?");
      await answer(page, "Remembered: .").waitFor();
      await counted(page.getByText("4711"), 0, other);
      await done();
    }

    const forged = await embed(chat, `data-user-id="ann" data-user-signature="${sign("bob")}"`);
    await open(forged.page);
    await forged.page.getByRole("alert").getByText("does not recognise you").waitFor();
    await counted(forged.page.getByText("4711"), 0);
    await forged.done(/status of 403/);
  });

  test("an answer is never rendered as markup", async () => {
    const { page, done } = await embed(await agent("Echo", echo));
    await open(page);
    const hostile = [
      "<img src=x onerror=\"document.title='owned'\">",
      "<script>document.title='owned'</script>",
      "[click](javascript:document.title='owned')",
      "![x](http://127.0.0.1:1/pixel.png)",
      "<svg onload=alert(1)>",
      "| a | b |\n|---|---|\n| <iframe srcdoc='x'> | `<b>` |",
    ].join("\n\n");
    await say(page, hostile);
    await answer(page, "<svg onload=alert(1)>").waitFor();
    const held = await page.evaluate(() => {
      const shadow = document.querySelector("easel-chat")?.shadowRoot;
      const links = [...(shadow?.querySelectorAll("a") ?? [])].map(({ href }) => href);
      return { elements: shadow?.querySelectorAll("img, script, iframe, object, [onerror], [onload]").length, links };
    });
    assert.deepEqual(held, { elements: 0, links: ["http://127.0.0.1:1/pixel.png"] });
    assert.equal(await page.title(), "Shop");
    await done();
  });

  test("the token of a site gives access to its chat only", async () => {
    const [mine, other] = [await agent("Mine", echo), await agent("Other", echo)];
    const { page, done } = await embed(mine);
    const tried = [
      "GET /api/v2/canvases",
      `GET /api/v2/canvases/${mine.id}`,
      "GET /api/v2/keys",
      "GET /api/v2/secrets",
      "GET /api/v2/runs",
      "GET /api/v2/me",
      "GET /v1/canvas/list",
      `GET /api/v2/canvases/${mine.id}/versions`,
      "POST /api/v2/canvases",
      `POST /api/v2/canvases/${mine.id}/publish`,
      `POST /api/v2/canvases/${mine.id}/runs`,
      `DELETE /api/v2/canvases/${mine.id}`,
      `POST /api/v2/canvases/${mine.id}/token`,
      "POST /api/llm/chat/completions",
      "GET /api/v2/datasets",
      `GET /api/v1/agentbots/${other.id}/inputs`,
      `POST /api/v1/agentbots/${other.id}/completions`,
    ];
    const opened = await page.evaluate(
      async ([host, token, list]) => {
        const found: string[] = [];
        for (const each of list) {
          const [method = "", path = ""] = each.split(" ");
          const init = { method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } };
          const body = method === "POST" ? { body: JSON.stringify({ query: "x", stream: false }) } : {};
          const response = await fetch(host + path, { ...init, ...body });
          const { code } = (await response.json().catch(() => ({}))) as { code?: number };
          if (response.ok && (code === undefined || code === 0)) found.push(each);
        }
        return found;
      },
      [host.address, mine.token, tried] as const,
    );
    assert.deepEqual(opened, []);
    await done(/status of 40\d/);
  });

  test("a chat with a revoked token reports it", async () => {
    const gone = await agent("Gone", echo);
    const { page, done } = await embed(gone);
    await request("DELETE", `/api/v2/canvases/${gone.id}/token`);
    await open(page);
    await page.getByRole("alert").getByText("This chat is not available").waitFor();
    await done(/status of 401/);
  });

  test("an interrupted stream is read again, without sending the question twice", async () => {
    const { page, done } = await embed(await agent("Connection", echo));
    let questions = 0;
    await page.route("**/completions", async (route) => {
      questions++;
      const whole = await route.fetch();
      const text = await whole.text();
      await route.fulfill({ response: whole, body: text.slice(0, text.indexOf("\n\n") + 2) });
    });
    await open(page);
    await answer(page, "Say something").waitFor();
    await say(page, "still there?");
    await answer(page, "still there?").waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
    assert.equal(questions, 1);
    await done();
  });

  test("the chat page is served at easel's and RAGFlow's addresses, also in frames of other sites", async () => {
    const { id, token } = await agent("Page", echo);
    for (const path of [
      `agent/chat#agent=${id}&token=${token}`,
      `agent/share?shared_id=${id}&from=agent&auth=${token}&locale=zh&release=true`,
    ]) {
      const context = await stage.browser.newContext();
      const page = await context.newPage();
      const faults: string[] = [];
      page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
      await page.goto(`${host.address}/${path}`);
      await answer(page, "Say something").waitFor();
      await page.getByRole("textbox").fill("from a page");
      await page.keyboard.press("Enter");
      await answer(page, "from a page").waitFor();
      assert.match(await page.title(), /Page/);
      await audit(page, path);
      assert.deepEqual(faults, []);
      await context.close();
    }

    const query = `shared_id=${id}&from=agent&auth=${token}&mode=master&streaming=true`;
    site.body = `<iframe title="button" src="${host.address}/chats/widget?${query}"></iframe>`;
    const { page, done } = await stage.visit();
    const made = page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          addEventListener("message", ({ data }: MessageEvent<{ type: string; src?: string; isOpen?: boolean }>) => {
            if (data.type !== "TOGGLE_CHAT") return;
            resolve(`${document.querySelector("iframe")?.src.replace("mode=master", "mode=window")} ${data.isOpen}`);
          });
        }),
    );
    await page.frameLocator("iframe").getByRole("button", { name: "Open the chat" }).click();
    const [src = "", isOpen] = (await made).split(" ");
    assert.equal(isOpen, "true");
    await page.evaluate((address) => {
      const frame = document.createElement("iframe");
      frame.id = "chat-win";
      frame.title = "chat";
      frame.src = address;
      document.body.append(frame);
    }, src);
    await page.frameLocator("#chat-win").locator(".theirs", { hasText: "Say something" }).waitFor();
    await done();
  });
});
