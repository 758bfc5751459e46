// Answers of tools in a page: by their services, tools of the host, or stand-ins; and that the
// user sees which.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Host } from "../run/host.ts";
import { watched, type Local, type Relay, type Substitutes, type Ways } from "../run/substitutes.ts";

const standIns = {
  TavilySearch: () => Promise.resolve({ outputs: { formalized_content: "made up" }, invented: true }),
  WenCai: () => Promise.resolve({ outputs: { report: "made up" }, invented: true }),
};

async function answered(
  relay?: Relay, more: Partial<Ways> = {},
): Promise<{ outputs: unknown; noted: Substitutes | undefined }> {
  let noted: Substitutes | undefined;
  const ports = watched({}, {
    standIns, invents: true, here: new Set(), noted: (substitutes) => { noted = substitutes; }, relay, ...more,
  });
  const { signal } = new AbortController();
  const context = { params: { api_key: "{{secret:TAVILY}}" }, signal, node: "Agent:A-->Search" };
  const outputs = await ports.tools?.["TavilySearch"]?.run({ query: "q" }, context as never);
  return { outputs, noted };
}

test("without a host the stand-in answers", async () => {
  const { outputs, noted } = await answered(undefined);
  assert.deepEqual(outputs, { formalized_content: "made up" });
  assert.deepEqual(noted, {
    tools: ["TavilySearch"], relayed: [], datasets: [],
    routes: { "Agent:A": [{ component: "TavilySearch", by: "stand_in" }] },
  });
});

test("a tool of the host is preferred to the stand-in", async () => {
  const { outputs, noted } = await answered((component, args, params) => Promise.resolve({ component, args, params }));
  const params = { api_key: "{{secret:TAVILY}}" };
  assert.deepEqual(outputs, { component: "TavilySearch", args: { query: "q" }, params });
  assert.deepEqual(noted, {
    tools: [], relayed: ["TavilySearch"], datasets: [],
    routes: { "Agent:A": [{ component: "TavilySearch", by: "host" }] },
  });
});

test("a service that the page can call is preferred to the host", async () => {
  const asked: unknown[] = [];
  const local: Local = (component, args, params, { origins }) => {
    asked.push([component, args, params, origins]);
    return Promise.resolve({ outputs: { formalized_content: "real" } });
  };
  const relay = (): Promise<never> => assert.fail("the host was asked");
  const { outputs, noted } = await answered(relay, { local, origins: ["http://127.0.0.1:1"] });
  assert.deepEqual(outputs, { formalized_content: "real" });
  assert.deepEqual(asked, [["TavilySearch", { query: "q" }, { api_key: "{{secret:TAVILY}}" }, ["http://127.0.0.1:1"]]]);
  assert.deepEqual(noted?.routes, { "Agent:A": [{ component: "TavilySearch", by: "page" }] });
});

test("a service that the page cannot call is left to the host, and then to the stand-in", async () => {
  const local: Local = () => Promise.resolve({ blocked: "service" });
  const route = { component: "TavilySearch", blocked: "service" };
  const hosted = await answered(() => Promise.resolve({ a: 1 }), { local });
  assert.deepEqual(hosted.noted?.routes, { "Agent:A": [{ ...route, by: "host" }] });
  const alone = await answered(undefined, { local });
  assert.deepEqual(alone.noted?.routes, { "Agent:A": [{ ...route, by: "stand_in" }] });
  const failing = answered(undefined, { local, invents: false });
  await assert.rejects(failing, /TavilySearch: its service does not accept requests/);
});

test("an error of a service is not replaced by a stand-in", async () => {
  const local: Local = () => Promise.reject(new Error("rate_limited: slow"));
  await assert.rejects(answered(() => Promise.resolve({ a: 1 }), { local }), /rate_limited/);
});

test("a failed tool of the host is not replaced by a stand-in", async () => {
  await assert.rejects(answered(() => Promise.reject(new Error("tool_failed: 429"))), /429/);
});

// hosted returns a host with a signed-in user, and its requests.
async function hosted(
  answer: (path: string) => Response,
): Promise<{ host: Host; sent: [path: string, init: RequestInit][] }> {
  Object.assign(globalThis, { location: { origin: "https://easel.example" } });
  const sent: [string, RequestInit][] = [];
  const host = new Host((input, init) => {
    const path = new URL(String(input)).pathname;
    sent.push([path, init ?? {}]);
    if (path === "/api/v2/me") return Promise.resolve(Response.json({ nickname: "Ann", csrf: "c" }));
    if (path === "/api/v2/canvases") return Promise.resolve(Response.json({ items: [], total: 0 }));
    return Promise.resolve(answer(path));
  });
  return { host, sent };
}

test("a host runs tools for signed-in users", async () => {
  const { host, sent } = await hosted((path) => (
    Response.json(path.endsWith("/call") ? { outputs: { report: "real" } } : { data: [] })));
  assert.equal(await host.tool("WenCai", {}, {}), undefined, "not signed in");
  assert.equal(sent.length, 0);
  await host.connect();
  assert.deepEqual(await host.tool("WenCai", { query: "q" }, { top_n: 3 }), { report: "real" });
  const [path, init] = sent.at(-1) ?? ["", {}];
  assert.equal(path, "/api/v2/tools/WenCai/call");
  assert.equal(init.body, `{"params":{"top_n":3},"arguments":{"query":"q"}}`);
  assert.equal((init.headers as Record<string, string>)["x-csrf-token"], "c");
});

test("the stand-in answers if the host lacks the tool, and an error of the tool is the node's", async () => {
  const failed = { error: { code: "tool_failed", message: "rate_limited: slow" } };
  const { host } = await hosted((path) => (
    path.includes("Email") ? Response.json({ outputs: null }) : Response.json(failed, { status: 502 })));
  await host.connect();
  assert.equal(await host.tool("Email", {}, {}), undefined);
  await assert.rejects(Promise.resolve(host.tool("TavilySearch", {}, {})), /rate_limited: slow/);
});
