// A site on another origin that embeds chats of the host, under a Content-Security-Policy as
// strict as embedding allows.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Site is a running server; `body` is the content of its page, and may change. */
export interface Site {
  address: string;
  body: string;
  close(): Promise<void>;
}

/** foreignSite serves one page that allows scripts of and requests to `host` only. */
export async function foreignSite(host: string): Promise<Site> {
  const policy = [
    "default-src 'none'",
    `script-src ${host}`,
    `connect-src ${host}`,
    `frame-src ${host}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "base-uri 'none'",
  ].join("; ");
  const server = createServer((request, response) => {
    if (request.url === "/favicon.ico") {
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy });
    response.end(
      `<!doctype html><html lang="en"><head><title>Shop</title></head>` +
        `<body><main><h1>Shop</h1></main>${site.body}</body></html>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const site: Site = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    body: "",
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return site;
}
