// Canvases of strangers: when they may run, what they may access, and the requests to a host.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Engine, RunOptions } from "@easel/engine";
import { open } from "../canvas/dsl.ts";
import { reachOf, type Reached } from "../canvas/reach.ts";
import { Consents } from "../run/consent.ts";
import { Locals } from "../run/local.ts";
import { Host } from "../run/host.ts";
import { Session, type Source } from "../run/session.ts";
import { staySignedIn } from "../run/signed.ts";

const canvas = (params: object = {}, name = "Message"): string =>
  JSON.stringify({
    components: {
      begin: { obj: { component_name: "Begin", params: {} } },
      a: { obj: { component_name: name, params } },
    },
  });

/** Storage of one tab. */
class Tab {
  readonly values = new Map<string, string>();
  getItem = (key: string): string | null => this.values.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.values.set(key, value);
  removeItem = (key: string): void => void this.values.delete(key);
}

test("a canvas of a link or a file runs only after it is allowed, in each way of running", async () => {
  const loaded: string[] = [];
  const engine = {
    components: () => [],
    validate: () => [],
    layout: () => ({ nodes: {} }),
    load: (text: string) => {
      loaded.push(text);
      throw new Error("enough");
    },
  } as unknown as Engine;
  for (const kind of ["link", "file"] as const) {
    const session = new Session(Promise.resolve(engine), {}, { models: fetch });
    session.open(canvas(), "", { kind });
    const { player } = session;
    for (const run of [
      () => player.send({ query: "x" }),
      () => player.answer({}),
      () => player.runUntil("a"),
      () => player.runFrom("a"),
      () => player.debug("a", {}),
    ])
      run();
    await new Promise(setImmediate);
    assert.deepEqual([loaded, player.play.get().turns], [[], []], kind);
    session.allow();
    player.send({ query: "x" });
    await new Promise<void>((resolve) => {
      const stop = player.play.subscribe(() => {
        if (!player.play.get().running) {
          stop();
          resolve();
        }
      });
    });
    assert.equal(loaded.splice(0).length, 1);
  }
});

test("examples and canvases of the host's list are allowed, and the next file is not", () => {
  const session = new Session(new Promise(() => undefined), {}, { models: fetch });
  for (const [source, allowed] of [
    [{ kind: "example" }, true],
    [{ kind: "link" }, false],
    [{ kind: "host", origin: { id: "1", rev: 1 } }, true],
    [{ kind: "file" }, false],
    [{ kind: "plugin" }, true],
  ] as [Source, boolean][]) {
    session.open(canvas(), "", source);
    assert.equal(session.allowed.get(), allowed, source.kind);
  }
  session.open(canvas());
  assert.equal(session.allowed.get(), false, "a canvas without a source");
  session.allow();
  session.close();
  assert.equal(session.allowed.get(), false);
});

test("no local services are allowed by default; they are listed by origin, never the page's server", () => {
  const locals = new Locals("http://127.0.0.1:8080");
  assert.deepEqual(locals.list.get(), []);
  const faults: [address: string, fault: string | undefined][] = [
    ["localhost:3000/path?query", undefined],
    [" http://192.168.0.7 ", undefined],
    ["http://localhost:3000", undefined],
    ["https://nas.local:8443", undefined],
    ["", "not_address"],
    ["a b", "not_address"],
    ["ftp://localhost", "not_address"],
    ["javascript:x", "not_address"],
    ["https://api.example", "public"],
    ["127.0.0.1:8080", "own"],
    ["localhost:8080", "own"],
    ["[::1]:8080", "own"],
  ];
  for (const [address, fault] of faults) assert.equal(locals.add(address), fault, address);
  assert.deepEqual(locals.list.get(), ["http://192.168.0.7", "http://localhost:3000", "https://nas.local:8443"]);
  locals.remove("http://192.168.0.7");
  assert.equal(locals.list.get().length, 2);
  for (let port = 1; port < 20; port++) locals.add(`localhost:${port}`);
  assert.equal(locals.add("localhost:99"), "many");
});

test("an allowed canvas asks again for another local service, and lists all of them", async () => {
  const reached: unknown[] = [];
  const loaded = {
    save: () => "",
    restore: () => undefined,
    close: () => undefined,
    run: (_: unknown, { reach }: RunOptions) => {
      reached.push(reach);
      throw new Error("enough");
    },
  };
  const engine = {
    components: () => [],
    validate: () => [],
    layout: () => ({ nodes: {} }),
    load: () => loaded,
  } as unknown as Engine;
  const session = new Session(Promise.resolve(engine), {}, { models: fetch });
  const run = async (): Promise<void> => {
    session.player.send({ query: "x" });
    await new Promise<void>((resolve) => {
      const stop = session.player.play.subscribe(() => {
        if (!session.player.play.get().running) {
          stop();
          resolve();
        }
      });
    });
  };
  session.open(canvas(), "", { kind: "link" });
  session.allow();
  await run();
  session.locals.add("localhost:3000");
  assert.equal(session.allowed.get(), false);
  session.player.send({ query: "x" });
  assert.equal(session.player.play.get().running, false);
  session.allow();
  await run();
  assert.deepEqual(reached, [{ origins: [] }, { origins: ["http://localhost:3000"] }]);
  const again = new Promise<void>((resolve) => {
    const stop = session.allowed.subscribe(() => {
      if (session.allowed.get()) {
        stop();
        resolve();
      }
    });
  });
  session.locals.remove("http://localhost:3000");
  await again; // the first consent
  session.open(canvas(), "", { kind: "example" });
  session.locals.add("localhost:3000");
  assert.equal(session.allowed.get(), true, "an example is no stranger's");
});

test("a consent without the models of the host does not cover them", async () => {
  const session = new Session(new Promise(() => undefined), {}, { models: fetch });
  const host = { ...session.player.provider.get(), kind: "host" as const };
  session.open(canvas(), "", { kind: "link" });
  session.allow();
  session.player.provider.set({ ...host, kind: "scripted" });
  assert.equal(session.allowed.get(), true);
  session.player.provider.set(host);
  assert.equal(session.allowed.get(), false, "the models of the host answer now");
  session.allow();
  session.player.provider.set({ ...host, model: "small" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(session.allowed.get(), true);
  session.open(canvas(), "", { kind: "example" });
  session.player.provider.set({ ...host, kind: "offline" });
  session.player.provider.set(host);
  assert.equal(session.allowed.get(), true, "an example is no stranger's");
});

test("a consent applies to the content, in this tab", async () => {
  const tab = new Tab();
  const consents = new Consents(tab);
  await consents.add(canvas());
  assert.equal(await consents.has(canvas()), true);
  assert.equal(await consents.has(canvas({ content: ["other"] })), false);
  assert.equal(await new Consents(tab).has(canvas()), true, "after the page is loaded again");
  assert.equal(await new Consents(new Tab()).has(canvas()), false, "in another tab");
  assert.equal(await new Consents().has(canvas()), false);
  assert.doesNotMatch([...tab.values.values()].join(), /components/, "the canvas itself is not stored");
  for (const stored of ["{", "7", '["x", 3, null]']) {
    tab.setItem("easel.allowed", stored);
    assert.equal(await new Consents(tab).has("x"), false, stored);
  }
  const full = new Consents({
    getItem: () => {
      throw new Error("blocked");
    },
    setItem: () => {
      throw new Error("full");
    },
  });
  await full.add("x");
  assert.equal(await full.has("x"), true);
});

test("a consent applies when the canvas is opened again, and not to one that was opened meanwhile",
  async () => {
  const consents = new Consents();
  await consents.add(canvas());
  const session = new Session(new Promise(() => undefined), {}, { models: fetch }, consents);
  session.open(canvas(), "", { kind: "link" });
  session.open(canvas({ content: ["other"] }), "", { kind: "link" });
  await consents.has(canvas()); // earlier requests are answered by then
  await new Promise(setImmediate);
  assert.equal(session.allowed.get(), false);
  session.open(canvas(), "", { kind: "link" });
  await new Promise<void>((resolve) => { const stop = session.allowed.subscribe(() => { stop(); resolve(); }); });
  assert.equal(session.allowed.get(), true);
});

test("edits and runs are unsaved work", () => {
  const session = new Session(new Promise(() => undefined), {}, { models: fetch });
  assert.equal(session.unsaved, false);
  session.open(canvas(), "", { kind: "example" });
  assert.equal(session.unsaved, false);
  session.edit("a", "content", ["mine"]);
  assert.equal(session.unsaved, true);
  session.saved(session.document.get()!);
  assert.equal(session.unsaved, false);
  session.edit("a", "content", ["mine again"]);
  assert.equal(session.unsaved, true);
  session.undo();
  assert.equal(session.unsaved, false, "nothing is changed any more");
  session.player.send({ query: "x" });
  assert.equal(session.unsaved, true, "a run is going on");
});

test("discarding unsaved changes returns to what was saved, and is one step of undo", () => {
  const session = new Session(new Promise(() => undefined), {}, { models: fetch });
  const content = (): unknown => session.document.get()?.dsl.components["a"]?.obj.params["content"];
  session.open(canvas(), "", { kind: "host", origin: { id: "1", rev: 1 } });
  session.edit("a", "content", ["saved"]);
  const { dsl } = session.document.get()!;
  session.stored({ id: "1", rev: 2 }, { dsl, text: JSON.stringify(dsl) });
  assert.equal(session.edited, false);
  session.edit("a", "content", ["later"]);
  session.edit("begin", "prologue", "later");
  session.revert();
  assert.deepEqual([content(), session.edited], [["saved"], false]);
  session.undo();
  assert.deepEqual([content(), session.edited], [["later"], true]);
});

for (const [what, params, name, want] of [
  ["nothing", { content: ["see https://docs.example for more"] }, "Message", {}],
  ["addresses", { url: "https://API.example:8443/x?y", more: ["http://second.example"], nested: {
    base_url: "third.example/x" } }, "Invoke", { hosts: ["api.example:8443", "second.example", "third.example"] }],
  ["an address that looks like another", { url: "https://bank.example@evil.example/" }, "Invoke",
    { hosts: ["evil.example"] }],
  ["backslashes", { url: "https:\\\\evil.example\\x" }, "Invoke", { hosts: ["evil.example"] }],
  ["letters that look alike", { url: "https://ехample.example/" }, "Invoke", { hosts: ["xn--ample-ywe6i.example"] }],
  ["addresses of the run", { url: "{sys.query}" }, "Invoke", { made: true }],
  ["hosts of the run", { url: "https://{begin@x}.example/" }, "Invoke", { made: true }],
  ["paths of the run", { url: "https://api.example/{sys.query}" }, "Invoke", { hosts: ["api.example"] }],
  ["addresses that are none", { url: "http://[" }, "Invoke", { made: true }],
  ["scripts", { script: "function main() {}", lang: "javascript" }, "CodeExec", { scripts: 1 }],
  ["plugins", {}, "plugin:typewriter@1", { plugins: ["typewriter@1"] }],
  ["tools of an agent", {
    tools: [{ component_name: "CodeExec", params: { script: "x" } }, { component_name: "plugin:digest@2", params: {} },
      { component_name: "Agent", params: { tools: [{ component_name: "X", params: { url: "deep.example" } }] } }],
    mcp: [{ mcp_id: "m1", tools: {} }, { mcp_id: "m2" }, { mcp_id: "m1" }],
  }, "Agent", { scripts: 1, plugins: ["digest@2"], hosts: ["deep.example"], servers: 2 }],
] as [string, object, string, Partial<Reached>][]) {
  test(`access of a canvas: ${what}`, () => {
    assert.deepEqual(reachOf(open(canvas(params, name)).dsl), {
      hosts: [],
      made: false,
      scripts: 0,
      plugins: [],
      servers: 0,
      ...want,
    });
  });
}

test("a deeply nested canvas is read completely", () => {
  const deep = `{"components":{"a":{"obj":{"component_name":"X","params":{"x":${"[".repeat(
    4_000)}"https://deep.example"${"]".repeat(4_000)}}}}}}`;
  assert.deepEqual(reachOf(open(deep).dsl).hosts, ["deep.example"]);
});

const page = "https://easel.example";
before(() => { (globalThis as { location?: unknown }).location = { origin: page }; });

// hostOf returns a host that answers everything, and its requests.
function hostOf(): { host: Host; sent: [path: string, init: RequestInit & { headers: Record<string, string> }][] } {
  const sent: ReturnType<typeof hostOf>["sent"] = [];
  const host = new Host((input, init) => {
    sent.push([String(input), init as (typeof sent)[0][1]]);
    return Promise.resolve(Response.json({ csrf: "proof", data: [], items: [], total: 0, rev: 2 }));
  });
  return { host, sent };
}

test("the page calls the host with its login or key", async () => {
  const { host, sent } = hostOf();
  await host.connect();
  await host.canvas("1");
  await host.save({ id: "1", rev: 1 }, "{}");
  for (const [path, { headers, credentials, redirect, referrerPolicy }] of sent) {
    assert.ok(path.startsWith(page + "/api/"), path);
    assert.deepEqual(
      [headers["x-easel-page"], credentials, redirect, referrerPolicy],
      ["page", "same-origin", "error", "no-referrer"],
      path,
    );
  }
  assert.equal(sent.at(-1)?.[1].headers["x-csrf-token"], "proof");
  await host.connect("ragflow-key");
  const { headers, credentials } = sent.at(-1)![1];
  assert.deepEqual(
    [headers["authorization"], credentials, headers["x-csrf-token"]],
    ["Bearer ragflow-key", "omit", undefined],
    "with a key no cookie is needed",
  );
});

for (const [hash, own] of [
  ["", true], ["#", true], ["#host", true], ["#knowledge", true], ["#knowledge=a/b", true], ["#runs=a", true],
  ["#settings=models", true], ["#canvas=1", true], ["#draft=new%3A1", true], ["#draft=new:1", true],
  ["#draft=host%3A1", true], ["#c=abc", false], ["#open=/a.json", false], ["#try=/dev/", false],
  ["#example=tea-house", false], ["#template=summarize", false], ["#draft=link%3A1", false],
  ["#draft=file%3A1", false], ["#draft=example%3A1", false], ["#hostile", false], ["#knowledgeable=1", false],
] as const) {
  test(`a person is ${own ? "" : "not "}signed in again at ${hash || "/"}`, async () => {
    const { host, sent } = hostOf();
    const storage = new Tab() as unknown as Storage;
    staySignedIn(host, storage, { hash: () => hash, moved: () => undefined });
    assert.equal(sent.length, 0, "where this browser had no login, nothing is asked");
    storage.setItem("easel.signed-in", "1");
    staySignedIn(host, storage, { hash: () => hash, moved: () => undefined });
    assert.equal(sent.length > 0, own);
  });
}

test("the page remembers a login until it ends, and no key", async () => {
  const { host } = hostOf();
  const tab = new Tab();
  staySignedIn(host, tab as unknown as Storage, { hash: () => "#c=x", moved: () => undefined });
  await host.connect("ragflow-key");
  assert.deepEqual([...tab.values], []);
  await host.connect("");
  assert.deepEqual([...tab.values], [["easel.signed-in", "1"]]);
  await host.signOut();
  assert.deepEqual([...tab.values], []);
});

test("a run may use the models of the host and nothing else", async () => {
  const { host, sent } = hostOf();
  await host.models("/api/llm/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  const [path, { headers, credentials }] = sent.at(-1)!;
  assert.deepEqual(
    [path, headers["x-easel-page"], headers["x-csrf-token"], credentials],
    [page + "/api/llm/chat/completions", "run", "proof", "same-origin"],
  );
  const count = sent.length;
  for (const address of [
    "/api/v2/me",
    "/api/llm/models",
    "/api/llm/chat/completions/../../v2/me",
    "/api/llm/chat/completions?x",
    "https://attacker.example/api/llm/chat/completions",
    "//attacker.example/api/llm/chat/completions",
  ]) {
    await assert.rejects(host.models(address), /a run may use the models of the host only/, address);
  }
  assert.equal(sent.length, count);
});
