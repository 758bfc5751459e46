// A model server for tests and pictures.

import { createServer, type Server } from "node:http";

// tone is a WAV file with a second of silence.
function tone(rate = 8000): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + rate, 4);
  head.write("WAVEfmt ", 8);
  for (const [value, at] of [[16, 16], [rate, 24], [rate, 28], [rate, 40]] as const) head.writeUInt32LE(value, at);
  for (const [value, at] of [[1, 20], [1, 22], [1, 32], [8, 34]] as const) head.writeUInt16LE(value, at);
  head.write("data", 36);
  return Buffer.concat([head, Buffer.alloc(rate, 128)]);
}

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
    if (request.url?.includes("/audio/")) {
      const heard: Buffer[] = [];
      request.on("data", (part: Buffer) => heard.push(part));
      request.on("end", () => {
        if (request.url?.endsWith("/speech")) return response.end(tone());
        const sent = Buffer.concat(heard).includes("recording.webm") ? "what was said" : "no recording";
        return response.end(JSON.stringify({ text: sent }));
      });
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
