// The addresses to which a canvas may send requests from a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Guard, placeOf, type Place } from "../src/address.ts";
import { answer } from "../src/fetch.ts";
import { EngineError } from "../src/errors.ts";
import { readRequest, Web, type Proxy as PluginProxy } from "../src/plugin/http.ts";

const pages: [page: string, places: Record<Place, string[]>][] = [
  ["https://easel.example", {
    own: ["https://easel.example/v1/user/info", "http://easel.example/", "https://easel.example:8443/",
      "https://EASEL.example./", "https://user:pass@easel.example/", "https://%65asel.example/",
      "https://ｅasel.example/"],
    private: [
      "http://localhost:3000/", "http://LOCALHOST./", "http://a.localhost/", "http://127.0.0.1/", "http://127.1/",
        "http://2130706433/", "http://0x7f.1/", "http://0/", "http://[::1]/", "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
      "http://[::127.0.0.1]/", "http://[::ffff:0:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://10.1.2.3/",
        "http://172.16.0.1/", "http://192.168.0.1/", "http://169.254.169.254/", "http://100.64.0.1/",
        "http://[fd00::1]/",
      "http://[fe80::1]/", "http://router/", "http://v1/user/info", "http://printer.local/", "http://vault.internal/",
        "http://nas.home.arpa./",
    ],
    public: ["https://api.example/", "https://sub.easel.example/", "https://easel.example.org/",
      "http://93.184.216.34/", "http://[2606:4700::1111]/", "https://local.example/", "https://internal.example/"],
  }],
  ["http://127.0.0.1:8080", {
    own: ["http://127.0.0.1:8080/api/v2/me", "http://127.0.0.1:9999/", "https://127.0.0.1/", "http://2130706433:8080/",
      "http://127.1:8080/"],
    private: ["http://localhost:8080/", "http://[::1]:8080/", "http://[::ffff:127.0.0.1]:8080/", "http://127.0.0.2/",
      "http://0.0.0.0:8080/", "http://192.168.0.1/"],
    public: ["https://api.example/"],
  }],
  ["http://192.168.1.5", { own: ["http://192.168.1.5:8080/"], private: ["http://192.168.1.1/", "http://localhost/"],
    public: ["https://api.example/"] }],
  // a page from a file, or a sandboxed frame
  ["null", { own: [], private: ["http://localhost/"], public: ["https://easel.example/"] }],
];

for (const [page, places] of pages) {
  for (const place of Object.keys(places) as Place[]) {
    test(`addresses that are ${place} to a page at ${page}`, () => {
      for (const address of places[place]) assert.equal(placeOf(new URL(address), page), place, address);
    });
  }
}

test("addresses out of reach are refused with the reason, unless the caller allows them", () => {
  const page = "https://easel.example";
  const denied = (address: string, reach = {}) => {
    try {
      new Guard(reach, page).check(address);
    } catch (err) {
      assert.ok(err instanceof EngineError && err.code === "denied", String(err));
      return err.message;
    }
  };
  assert.match(
    denied("https://easel.example/v1/user/info?token=x") ?? "",
    /^fetch: https:\/\/easel\.example\/v1\/user\/info: a canvas in a page may not reach the page's own host \(easel\.example\); run/,
  );
  assert.match(denied("http://localhost:1/") ?? "", /private or local address \(localhost\)/);
  for (const address of [
    "/v1/user/info",
    "//easel.example/x",
    "data:text/plain,x",
    "blob:https://easel.example/1",
    "javascript:1",
    "file:///etc/passwd",
    "ftp://x.example/",
    "",
  ]) {
    assert.match(denied(address) ?? "", /absolute http and https addresses only/, address);
  }
  assert.equal(denied("https://api.example/"), undefined);
  assert.equal(denied("https://easel.example/", { own: true }), undefined);
  assert.match(denied("http://localhost/", { own: true }) ?? "", /localhost/);
  assert.equal(denied("http://localhost/", { private: true }), undefined);
  assert.match(denied("https://easel.example/", { private: true }) ?? "", /own host/);
  new Guard().check("http://localhost/"); // Node is not a page
});

test("only a named local origin is allowed, never the page's own server", () => {
  const origins = [
    "http://127.0.0.1:3000",
    "http://localhost:8080",
    "http://127.0.0.1:8080",
    "http://[::1]:8080",
    "http://192.168.0.7:8080",
    "http://nas.local",
    "null",
    "",
  ];
  const denied = (address: string, page: string): boolean => {
    try {
      new Guard({ origins }, page).check(address);
      return false;
    } catch (err) {
      assert.ok(err instanceof EngineError && err.code === "denied", String(err));
      return true;
    }
  };
  const onLoopback = (address: string): boolean => denied(address, "http://127.0.0.1:8080");
  for (const address of [
    "http://127.0.0.1:3000/x?y",
    "http://2130706433:3000/",
    "http://nas.local/",
    "https://api.example/",
  ])
    assert.equal(onLoopback(address), false, address);
  for (const address of [
    "http://127.0.0.1:3001/",
    "https://127.0.0.1:3000/",
    "http://localhost:3000/",
    "http://127.0.0.1:8080/api/v2/me",
    "http://localhost:8080/",
    "http://[::1]:8080/",
    "http://192.168.0.7:8080/",
    "http://nas.local:81/",
  ]) {
    assert.equal(onLoopback(address), true, address);
  }
  assert.equal(denied("http://localhost:8080/", "https://easel.example"), false, "a page from elsewhere");
  assert.equal(denied("https://easel.example/", "https://easel.example"), true);
});

test("requests have no credentials of the user, and a redirect out of reach returns nothing", async () => {
  const guard = new Guard({}, "https://easel.example");
  const sent: [string, RequestInit][] = [];
  const server = (response: Partial<Response>): typeof fetch => (url, init) => {
    sent.push([String(url), init ?? {}]);
    return Promise.resolve(
      Object.defineProperties(
        new Response("secret"),
        Object.fromEntries(Object.entries(response).map(([name, value]) => [name, { value }])),
      ),
    );
  };
  const ask = (payload: object, response: Partial<Response> = {}, guarded = guard) =>
    answer(server(response), { url: "https://api.example/", ...payload }, new AbortController().signal, guarded);
  for (const method of ["get", "POST"]) {
    assert.equal((await ask({ method })).body, "secret");
    const { credentials, referrerPolicy, cache, redirect } = sent.at(-1)?.[1] ?? {};
    assert.deepEqual(
      [credentials, referrerPolicy, cache, redirect],
      ["omit", "no-referrer", "no-store", method === "get" ? undefined : "manual"],
    );
  }
  await assert.rejects(ask({}, { redirected: true, url: "https://easel.example/v1/user/info" }), {
    code: "denied",
    message: /redirect to https:\/\/easel\.example.*own host/,
  });
  await assert.rejects(ask({}, { redirected: true, url: "http://127.0.0.1:9000/" }), {
    code: "denied",
    message: /redirect to .*private/,
  });
  assert.equal((await ask({}, { redirected: true, url: "https://www.api.example/" })).body, "secret");
  await assert.rejects(ask({ method: "put" }, { type: "opaqueredirect" }), { code: "denied", message: /redirects/ });
  await ask({ method: "post" }, {}, new Guard());
  assert.equal(sent.at(-1)?.[1].redirect, undefined, "outside of a page redirects are followed as before");
  const count = sent.length;
  await assert.rejects(ask({ url: "https://easel.example/api/v2/me" }), { code: "denied" });
  assert.equal(sent.length, count, "nothing was sent");
});

test("a plugin reaches the page's own host only when its grant names that host", async () => {
  const before = Object.getOwnPropertyDescriptor(globalThis, "location");
  Object.defineProperty(globalThis, "location", { value: { origin: "https://easel.example" }, configurable: true });
  try {
    const ask = (hosts: string[], url: string, proxy?: PluginProxy) => {
      const web = new Web(
        { name: "p", version: "1" },
        { http: { hosts } },
        { fetch: () => Promise.resolve(new Response("ok")), proxy },
        new AbortController().signal,
      );
      return web.fetch(readRequest({ url }));
    };
    for (const hosts of [["*"], ["*.example"]]) {
      await assert.rejects(ask(hosts, "https://easel.example/v1/user/info"), {
        code: "denied",
        message: /the page's own/,
      });
      assert.equal((await ask(hosts, "https://api.example/")).status, 200);
    }
    await assert.rejects(ask(["easel.example:443"], "https://easel.example:8443/"), {
      code: "denied",
      message: /not granted/,
    });
    assert.equal((await ask(["easel.example"], "https://easel.example/")).status, 200);
    assert.equal(
      (await ask(["*"], "https://easel.example/", () => Promise.resolve(new Response("of the server")))).status,
      200,
      "a proxy has its own rules",
    );
  } finally {
    if (before) Object.defineProperty(globalThis, "location", before);
    else Reflect.deleteProperty(globalThis, "location");
  }
});
