// Starts the reference MCP server (sse or streamableHttp) on a free loopback port, which it does
// not support itself. Prints one line with the port and one line per request.
import { Server } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const listen = Server.prototype.listen;
Server.prototype.listen = function (_port, ready) {
  this.on("request", (request) => {
    const { "mcp-session-id": session = "", "x-token": token = "" } = request.headers;
    console.log("request " + JSON.stringify({ method: request.method, url: request.url, session, token }));
  });
  return listen.call(this, 0, "127.0.0.1", () => {
    console.log("port " + this.address().port);
    ready?.();
  });
};
const require = createRequire(import.meta.url);
const index = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
process.argv.splice(1, process.argv.length, index, process.argv[2]);
await import(pathToFileURL(index).href);
