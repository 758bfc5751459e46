// The rules for addresses and headers equal those of the server (host/internal/egress/reach).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Guard } from "../src/address.ts";
import { answer } from "../src/fetch.ts";
import { openai } from "../src/model/openai.ts";
import { isCredential } from "../src/origin.ts";
import { special } from "../src/plugin/special.ts";

function golden<T>(name: string): T {
  return JSON.parse(
    readFileSync(new URL(`../../../host/internal/egress/reach/testdata/${name}`, import.meta.url), "utf8"),
  ) as T;
}

test("addresses are public here when they are on the server", () => {
  const rows = golden<{ address: string; public: boolean; why?: string }[]>("addresses.json");
  assert.ok(rows.length > 0);
  for (const row of rows) {
    assert.equal(!special(row.address), row.public, `${row.address} ${row.why ?? ""}`);
    if (row.address.includes(":")) {
      assert.equal(
        !special(new URL(`http://[${row.address}]/`).hostname),
        row.public,
        `[${row.address}] ${row.why ?? ""}`,
      );
    }
  }
});

test("headers are credentials here when they are on the server", () => {
  const { credential, plain } = golden<{ credential: string[]; plain: string[] }>("headers.json");
  for (const name of credential) assert.ok(isCredential(name), name);
  for (const name of plain) assert.ok(!isCredential(name), name);
});

async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; [Symbol.dispose](): void }> {
  const server = createServer(handle);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("credentials do not follow a redirect to another origin", async () => {
  const seen: string[] = [];
  using other = await serve((request, response) => {
    seen.push(`other ${request.method} ${request.headers["x-api-key"] ?? "-"} ${request.headers["x-plain"] ?? "-"}`);
    response.end("{}");
  });
  using server = await serve((request, response) => {
    seen.push(`${request.url} ${request.headers["x-api-key"] ?? "-"}`);
    if (request.url === "/near") response.writeHead(307, { location: "/end" });
    if (request.url !== "/near" && request.url !== "/end") response.writeHead(307, { location: other.url });
    response.end("end");
  });
  const ask = (path: string, method: string) =>
    answer(
      fetch,
      {
        url: server.url + path,
        method,
        headers: { "X-Api-Key": "k", "X-Plain": "p" },
        body: method === "GET" ? undefined : "b",
      },
      new AbortController().signal,
      new Guard(),
    );
  assert.equal((await ask("/near", "GET")).body, "end");
  assert.equal((await ask("/far", "POST")).body, "{}");
  assert.deepEqual(seen.splice(0), ["/near k", "/end k", "/far k", "other POST - p"]);

  const model = openai({ url: server.url, key: "k", headers: { "x-api-key": "k" } });
  const request = { model: "m", messages: [{ role: "user", content: "q" }], stream: true } as unknown as Parameters<
    typeof model.chat
  >[0];
  await assert.rejects(async () => {
    for await (const piece of await model.chat(request, { signal: new AbortController().signal } as Parameters<
      typeof model.chat
    >[1]))
      assert.fail(JSON.stringify(piece));
  }, /redirects; use the final address/);
  assert.deepEqual(seen, ["/chat/completions k"], "the other server is not asked");
});
