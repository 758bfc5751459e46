// A model server for tests and pictures.

import { createServer, type Server } from "node:http";

/** modelVendor starts a server with the API of OpenAI: it lists 80 models, and answers a word. */
export function modelVendor(port = 0): Promise<Server> {
  const answer = {
    choices: [{ message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
  };
  const listed = [
    { id: "small", context_length: 8192, capabilities: { function_calling: true } },
    { id: "vectors", type: "embedding" },
    ...Array.from({ length: 78 }, (_, i) => ({ id: `other-${i}` })),
  ];
  const chunk = { choices: [{ delta: { content: "Hello" }, finish_reason: "stop" }], usage: answer.usage };
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.end(JSON.stringify({ data: listed }));
      return;
    }
    let body = "";
    request.on("data", (part: Buffer) => { body += part.toString(); });
    request.on("end", () => {
      const asked = JSON.parse(body || "{}") as { stream?: boolean; model?: string; temperature?: number };
      if (asked.model === "picky" && asked.temperature !== undefined) {
        response.statusCode = 400;
        response.end(JSON.stringify({
          error: { message: "Unsupported parameter", param: "temperature", code: "unsupported_parameter" },
        }));
        return;
      }
      const streams = asked.stream === true;
      response.setHeader("content-type", streams ? "text/event-stream" : "application/json");
      response.end(streams ? `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n` : JSON.stringify(answer));
    });
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", () => resolve(server));
  });
}
